-- Which of these keys are retracted: those whose files may be removed now. A finish that was refused has retracted none.
create or replace function app.are_retracted(zone text, keys json, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return (
    select coalesce(json_agg(a.key order by a.key), '[]')
      from app.assets a
     where a.tenant_id = v_tenant and a.zone = are_retracted.zone and a.retracted_at is not null
       and a.key in (select k.key from json_array_elements_text(are_retracted.keys) as k(key)));
end $$;
grant execute on function app.are_retracted(text, json, text) to fanfold_api, fanfold_worker, fanfold_admin;
