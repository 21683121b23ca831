-- As submit_jobs, of a blueprint that is kept already and is named by its hash; null when there is none of that hash. One job without
-- options, as most are, goes the shortest way.
create or replace function app.submit_kept(blueprint_hash text, request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_job json := request -> 'jobs' -> 0;
  v_kept app.blueprints;
  v_reply json;
begin
  select * into v_kept from app.blueprints b where b.tenant_id = v_tenant and b.blueprint_hash = submit_kept.blueprint_hash;
  if not found then
    return null;
  end if;
  if request ->> 'mode' = 'reuse' and json_array_length(request -> 'jobs') = 1
     and not exists (select from json_object_keys(v_job) k where k not in ('parameters', 'identity', 'traceparent', 'actor'))
     and not exists (select from app.limits l where l.tenant_id = v_tenant) then
    v_reply := app.submit_plain(v_kept, v_job);
  end if;
  return case when v_reply is null then app.submit_jobs(v_kept.blueprint, request) else json_build_array(v_reply) end;
end $$;
grant execute on function app.submit_kept(text, json) to fanfold_api, fanfold_admin;
