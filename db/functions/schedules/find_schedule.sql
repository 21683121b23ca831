-- A schedule of the tenant by its name; another tenant's is "not found".
create or replace function app.find_schedule(tenant text, wanted text)
returns app.schedules
language plpgsql stable
as $$
declare
  v_schedule app.schedules;
begin
  select * into v_schedule from app.schedules s where s.tenant_id = tenant and s.name = wanted;
  if not found then
    raise exception 'there is no schedule "%"', left(coalesce(wanted, 'null'), 80)
      using errcode = 'FF001', hint = 'list them', detail = app.action('schedules.list');
  end if;
  return v_schedule;
end $$;
