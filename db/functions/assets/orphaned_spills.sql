-- Lists the files that results were written to and that no result names or will name: a worker of this database, or
-- of one that the tenant came from, wrote them, the
-- task is not held, and its result is another. The caller has made sure that the files are old.
-- request: {tenant?, keys: [{k: key, g: stage, o: ordinal, w: worker}]}
create or replace function app.orphaned_spills(request json)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(request ->> 'tenant');
begin
  return (
    select coalesce(json_agg(x.k order by x.k), '[]')
      from json_to_recordset(request -> 'keys') as x(k text, g bigint, o bigint, w uuid)
     where (exists (select from app.workers w where w.worker_id = x.w)
         -- Workers stay behind when a tenant moves; what became of their attempts does not.
         or exists (
           select from app.attempts a
            where a.tenant_id = v_tenant and a.stage_id = x.g and a.ordinal = x.o and a.worker_id = x.w))
       and not exists (
         select from app.results r
          where r.stage_id = x.g and r.ordinal = x.o and r.tenant_id = v_tenant and r.spill ->> 'key' = x.k)
       and not exists (select from app.claims c where c.tenant_id = v_tenant and c.stage_id = x.g and c.held @> x.o));
end $$;
grant execute on function app.orphaned_spills(json) to fanfold_worker, fanfold_admin;
