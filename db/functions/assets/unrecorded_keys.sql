-- Lists the keys that attempts have written and that no finish will ever record: they have no row, and the task is held by no worker that
-- could still finish. The caller has made sure that the files are old.
-- request: {tenant?, zone, keys: [{k: key, g: stage, o: ordinal}]}
create or replace function app.unrecorded_keys(request json)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(request ->> 'tenant');
begin
  return (
    select coalesce(json_agg(x.k order by x.k), '[]')
      from json_to_recordset(request -> 'keys') as x(k text, g bigint, o bigint)
     where not exists (
         select from app.assets a where a.tenant_id = v_tenant and a.zone = request ->> 'zone' and a.key = x.k)
       and not exists (
         select from app.claims c where c.tenant_id = v_tenant and c.stage_id = x.g and c.held @> x.o));
end $$;
grant execute on function app.unrecorded_keys(json) to fanfold_worker, fanfold_admin;
