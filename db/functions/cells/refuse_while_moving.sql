-- A tenant on its way to another cell takes no calls from the moment it is closed here until all of it is there. Nothing was begun.
create or replace function app.refuse_while_moving(tenant text)
returns void
language plpgsql stable
as $$
declare
  v_move app.moving_tenants;
begin
  select * into v_move from app.moving_tenants m where m.tenant = refuse_while_moving.tenant and m.state <> 'draining';
  if found then
    raise exception 'tenant "%" is being moved % cell "%"', v_move.tenant, case when v_move.state = 'arriving' then 'here from' else 'to' end, v_move.other_cell
      using errcode = 'FF010', hint = 'try again: it takes seconds';
  end if;
end $$;
