-- The move that the server speaks of, locked, or an error: another one may have taken its place, or it was cancelled.
create or replace function app.the_move(request json, states text[])
returns app.moving_tenants
language plpgsql
as $$
declare
  v_move app.moving_tenants;
begin
  perform app.assert_server('move tenants');
  select * into v_move
    from app.moving_tenants m
   where m.tenant = request ->> 'tenant_id' and m.move_id::text = request ->> 'move_id'
     for update;
  if not found or v_move.state <> all (states) then
    raise exception 'tenant "%" is not % here by this move', request ->> 'tenant_id', array_to_string(states, ' or ')
      using errcode = 'FF006', hint = 'look where it is', detail = app.action('cells.status');
  end if;
  return v_move;
end $$;
