-- The server takes away everything of a tenant, a piece at a time, until `more` is false. Before anything goes, the operator says the
-- tenant's id twice, and nothing of it may run. Its keys and schedules go first, so that nothing comes in meanwhile. What was removed is told
-- in the audit of the default tenant. Files are the caller's to remove.
-- request: {tenant_id, confirm, actor?, reason?, dry_run?, files_gone?: false: the tenant's own row stays,
-- move_id?: it lives in another cell by this move, with all that was at work}
create or replace function app.remove_tenant(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = on
set jit = off
as $$
declare
  -- The schema is there only where PostGIS is.
  v_geo constant text := 'geo';
  v_name text;
  v_tenant text := request ->> 'tenant_id';
  v_move uuid;
  v_open bigint;
  v_held bigint;
  v_jobs text[];
  v_table record;
  v_removed bigint := 0;
begin
  perform app.assert_server('remove tenants');
  perform app.get_tenant(v_tenant);
  if v_tenant = 'default' then
    raise exception 'the default tenant stays' using errcode = 'FF006', hint = 'its history goes by retention, or job by job with purge';
  end if;
  select m.move_id into v_move from app.moving_tenants m where m.tenant = v_tenant;
  if v_move::text is distinct from request ->> 'move_id' then
    raise exception 'tenant "%" is being moved to another cell', v_tenant
      using errcode = 'FF006', hint = 'finish that move, or cancel it', detail = app.action('cells.status');
  end if;
  select count(*) into v_open from app.jobs j where j.tenant_id = v_tenant and j.finished_at is null;
  select count(*) into v_held from app.claims c where c.tenant_id = v_tenant;
  if v_open + v_held > 0 and v_move is null then
    raise exception 'tenant "%" is at work: % open jobs, % claims', v_tenant, v_open, v_held
      using errcode = 'FF006', hint = 'cancel its jobs and wait until its workers have stopped';
  end if;
  if coalesce((request ->> 'dry_run')::boolean, false) then
    return json_build_object('tenant_id', v_tenant, 'removed', 0, 'more', true,
      'jobs', (select count(*) from app.jobs j where j.tenant_id = v_tenant),
      'files', (select count(*) from app.assets a where a.tenant_id = v_tenant));
  end if;
  if request ->> 'confirm' is distinct from v_tenant then
    raise exception 'the removal of tenant "%" is not confirmed', v_tenant
      using errcode = 'FF002', hint = 'everything of it goes for good: export it first, and say its id again as `confirm`';
  end if;
  if exists (select from app.tenant_roles r where r.tenant_id = v_tenant)
    or exists (select from app.api_keys k where k.tenant_id = v_tenant)
    or exists (select from app.schedules s where s.tenant_id = v_tenant) then
    delete from app.sessions s where s.tenant_id = v_tenant;
    delete from app.api_keys k where k.tenant_id = v_tenant;
    delete from app.schedules s where s.tenant_id = v_tenant;
    delete from app.tenant_roles r where r.tenant_id = v_tenant;
    perform app.note('default', 'tenant.closed', null, null, request ->> 'reason', jsonb_build_object('tenant', v_tenant), request ->> 'actor');
    return json_build_object('tenant_id', v_tenant, 'removed', 1, 'more', true);
  end if;
  v_jobs := array(select j.job_id from app.jobs j where j.tenant_id = v_tenant limit 200);
  if v_jobs <> '{}' then
    perform app.remove_jobs(v_tenant, v_jobs);
    return json_build_object('tenant_id', v_tenant, 'removed', cardinality(v_jobs), 'more', true);
  end if;
  -- Lone tasks live in standing stages of their own.
  delete from app.ready r where r.tenant_id = v_tenant;
  insert into app.removed_stages (stage_id, tenant_id, hi)
  select s.stage_id, s.tenant_id, greatest(s.total, (select max(t.ordinal) + 1 from app.tasks t where t.stage_id = s.stage_id), 0)
    from app.stages s where s.tenant_id = v_tenant
  on conflict do nothing;
  delete from app.stage_progress p where p.tenant_id = v_tenant;
  delete from app.stages s where s.tenant_id = v_tenant;
  if exists (select from app.removed_stages s where s.tenant_id = v_tenant) then
    v_removed := coalesce(app.remove_rows(5000), 0);
    return json_build_object('tenant_id', v_tenant, 'removed', v_removed, 'more', true);
  end if;
  if to_regclass('geo.tables') is not null then
    for v_name in execute format('select t.table_name from %I.tables t where t.tenant_id = $1 limit 20', v_geo) using v_tenant loop
      execute format('drop table if exists %I.%I', v_geo, v_name);
      execute format('update %I.layer_versions set table_name = null where table_name = $1', v_geo) using v_name;
      execute format('delete from %I.tables where table_name = $1', v_geo) using v_name;
      v_removed := v_removed + 1;
    end loop;
    if v_removed > 0 then
      return json_build_object('tenant_id', v_tenant, 'removed', v_removed, 'more', true);
    end if;
  end if;
  for v_table in select t.name, t.key_columns from app.tables_of_tenants() t where t.name <> 'app.tenants' loop
    execute format('delete from %1$s d where d.ctid = any (array(select k.ctid from %1$s k where k.tenant_id = $1 limit 5000))', v_table.name)
      using v_tenant;
    get diagnostics v_removed = row_count;
    if v_removed > 0 then
      return json_build_object('tenant_id', v_tenant, 'removed', v_removed, 'more', true);
    end if;
  end loop;
  -- As long as files are left, the operator who goes on finds the tenant.
  if not coalesce((request ->> 'files_gone')::boolean, true) then
    return json_build_object('tenant_id', v_tenant, 'removed', 0, 'more', false);
  end if;
  delete from app.tenants t where t.tenant_id = v_tenant;
  perform app.note('default', 'tenant.removed', null, null, request ->> 'reason', jsonb_build_object('tenant', v_tenant), request ->> 'actor');
  return json_build_object('tenant_id', v_tenant, 'removed', 1, 'more', false);
end $$;
grant execute on function app.remove_tenant(json) to fanfold_api, fanfold_admin;
