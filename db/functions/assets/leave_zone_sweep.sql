-- Notes where the sweep of a zone stands (null: at its end), and as an event what it has removed.
-- request: {tenant, zone, after, removed?, bytes?, keys?: the first few}
create or replace function app.leave_zone_sweep(request json)
returns void
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(request ->> 'tenant');
begin
  perform app.wait_briefly();
  update app.zone_sweeps s
     set after_key = request ->> 'after', taken_at = now()
   where s.tenant_id = v_tenant and s.zone = request ->> 'zone';
  if coalesce((request ->> 'removed')::bigint, 0) > 0 then
    perform app.note(v_tenant, 'janitor.removed_files', null, null, 'left behind by attempts that did not finish',
      jsonb_build_object('zone', request ->> 'zone', 'files', (request ->> 'removed')::bigint, 'bytes', (request ->> 'bytes')::bigint,
        'keys', (request -> 'keys')::jsonb));
  end if;
end $$;
grant execute on function app.leave_zone_sweep(json) to fanfold_worker, fanfold_admin;
