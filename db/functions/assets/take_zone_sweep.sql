-- The zone whose leftovers are to be looked for next, if any is due: {tenant_id, zone, after}. Taken by one, and by another when that
-- one has not come back with where it stands after ten minutes.
create or replace function app.take_zone_sweep(every_s double precision)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_own text := app.worker_tenant();
  v_sweep app.zone_sweeps;
  v_new record;
begin
  perform app.wait_briefly();
  for v_new in
    select t.tenant_id, z.zone
      from app.tenants t cross join (values ('bronze'), ('silver'), ('gold')) as z(zone)
     where t.tenant_id = coalesce(v_own, t.tenant_id)
       and not exists (select from app.zone_sweeps s where s.tenant_id = t.tenant_id and s.zone = z.zone)
     order by t.tenant_id, z.zone
  loop
    begin
      insert into app.zone_sweeps (tenant_id, zone) values (v_new.tenant_id, v_new.zone) on conflict do nothing;
    exception
      -- Its own transaction makes it and does not end.
      when lock_not_available then null;
    end;
  end loop;
  update app.zone_sweeps s
     set taken_at = now()
   where (s.tenant_id, s.zone) = (
     select d.tenant_id, d.zone
       from app.zone_sweeps d
      where d.tenant_id = coalesce(v_own, d.tenant_id)
        and d.taken_at < now() - make_interval(secs => case when d.after_key is null then every_s else least(every_s, 600) end)
      order by d.taken_at
      limit 1
        for update skip locked)
  returning s.* into v_sweep;
  if not found then
    return null;
  end if;
  return json_build_object('tenant_id', v_sweep.tenant_id, 'zone', v_sweep.zone, 'after', v_sweep.after_key);
end $$;
grant execute on function app.take_zone_sweep(double precision) to fanfold_worker, fanfold_admin;
