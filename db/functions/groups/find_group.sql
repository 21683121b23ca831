-- A group of the tenant; another tenant's is "not found".
create or replace function app.find_group(tenant text, wanted text)
returns app.job_groups
language plpgsql stable
as $$
declare
  v_group app.job_groups;
begin
  select * into v_group from app.job_groups g where g.tenant_id = tenant and g.group_id = wanted;
  if not found then
    raise exception 'there is no group "%"', left(coalesce(wanted, 'null'), 100)
      using errcode = 'FF001', hint = 'list them', detail = app.action('groups.list');
  end if;
  return v_group;
end $$;
