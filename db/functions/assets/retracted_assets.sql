-- Files of ours that nobody may see any more and that are to be removed, the oldest first; of the tenants that this session looks
-- after, or of one. `quiet_s`: only those retracted so long ago, because the process that retracted them removes them right after.
create or replace function app.retracted_assets(quiet_s double precision default 0, page_rows integer default 500, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_own text := case when tenant is null then app.worker_tenant() else app.acting_tenant(tenant) end;
begin
  return (
    select coalesce(json_agg(json_build_object('tenant_id', a.tenant_id, 'zone', a.zone, 'key', a.key) order by a.retracted_at), '[]')
      from (
        select * from app.assets a
         where a.retracted_at <= now() - make_interval(secs => quiet_s) and a.tenant_id = coalesce(v_own, a.tenant_id)
         order by a.retracted_at
         limit least(greatest(page_rows, 1), 1000)
      ) a);
end $$;
grant execute on function app.retracted_assets(double precision, integer, text) to fanfold_worker, fanfold_admin;
