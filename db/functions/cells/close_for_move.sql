-- For the server: once nothing of a draining tenant is held, its calls are refused here. The caller has waited for the transactions that may not have
-- seen that it drains, and now waits for those that may not have seen that it is closed. `take_back`: what workers hold goes back to the queue, and
-- what they deliver of it is refused. What it takes along says that it was here. request: {tenant_id, move_id, take_back?}. Returns {state, held}.
create or replace function app.close_for_move(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_move constant app.moving_tenants := app.the_move(request, array['draining', 'closed']);
  v_claim app.claims;
  v_held bigint;
begin
  if coalesce((request ->> 'take_back')::boolean, false) then
    for v_claim in select * from app.claims c where c.tenant_id = v_move.tenant order by c.claim_id for update loop
      delete from app.claims c where c.claim_id = v_claim.claim_id;
      perform app.put_back(v_claim, v_claim.held, 0);
    end loop;
  end if;
  select coalesce(sum(app.held_count(c.held)), 0) into v_held from app.claims c where c.tenant_id = v_move.tenant;
  if v_held > 0 then
    return json_build_object('state', v_move.state, 'held', v_held);
  end if;
  insert into app.tenant_origins (tenant_id, deployment) values (v_move.tenant, app.deployment_id()) on conflict do nothing;
  update app.moving_tenants m set state = 'closed', changed_at = now() where m.tenant = v_move.tenant;
  return json_build_object('state', 'closed', 'held', 0);
end $$;
grant execute on function app.close_for_move(json) to fanfold_api, fanfold_admin;
