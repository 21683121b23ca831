-- For a tenant that is not in this database: it may have moved to another cell, and then the call belongs there.
create or replace function app.refuse_if_moved(tenant text)
returns void
language plpgsql stable
as $$
declare
  v_cell text := (select m.cell from app.moved_tenants m where m.tenant = refuse_if_moved.tenant);
begin
  if v_cell is not null then
    raise exception 'tenant "%" has moved to cell "%"', left(tenant, 80), v_cell using errcode = 'FF010', hint = 'try again, by way of the router';
  end if;
end $$;
