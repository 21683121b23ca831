-- The caller gives files of large results and gets those that no row names and no held task may still name, and whether a worker of this
-- database wrote them: [{k, known}]. What an unknown worker wrote may be another database's, or made after the backup that this one was restored from.
-- request: {tenant?, keys: [{k: key, g: stage, o: ordinal, w: worker}]}
create or replace function app.unnamed_results(request json)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(request ->> 'tenant');
begin
  return (
    select coalesce(json_agg(json_build_object(
        'k', x.k, 'known', exists (select from app.workers w where w.worker_id = x.w)) order by x.k), '[]')
      from json_to_recordset(request -> 'keys') as x(k text, g bigint, o bigint, w uuid)
     where not exists (
         select from app.results r
          where r.stage_id = x.g and r.ordinal = x.o and r.tenant_id = v_tenant and r.spill ->> 'key' = x.k)
       and not exists (select from app.claims c where c.tenant_id = v_tenant and c.stage_id = x.g and c.held @> x.o));
end $$;
grant execute on function app.unnamed_results(json) to fanfold_api, fanfold_worker, fanfold_admin;
