-- A table for raw rows of one attempt: n, the geometry as text, values as text. The login that asks may copy into it and nobody may read
-- it. Row-level security would forbid COPY, so that the right is given to this one role instead, and own_stage is asked first for handlers
-- in processes of their own. Nothing of it survives a crash of the server, and nothing has to.
create or replace function geo.make_stage(of_candidate text, columns integer, tenant text default null)
returns text
language plpgsql security definer
set search_path = pg_catalog, geo, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_candidate geo.tables := geo.own_table(of_candidate, 'candidate', v_tenant);
  v_name text := 'stage_' || nextval('geo.table_numbers');
begin
  execute format('create unlogged table geo.%I (n bigint, g text%s) with (autovacuum_enabled = off)', v_name,
    (select string_agg(format(', c%s text', i), '' order by i) from generate_series(1, columns) i));
  -- The embedded database has one login, and roles by SET ROLE.
  execute format('grant insert on geo.%I to %I', v_name, coalesce(nullif(current_setting('role'), 'none'), session_user));
  insert into geo.tables (table_name, tenant_id, kind, job_id, facts)
  values (v_name, v_tenant, 'stage', v_candidate.job_id, jsonb_build_object('candidate', of_candidate, 'columns', columns));
  return v_name;
end $$;
grant execute on function geo.make_stage(text, integer, text) to fanfold_api, fanfold_worker, fanfold_admin, fanfold_handler;
