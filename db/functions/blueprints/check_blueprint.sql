-- What would be wrong with saving this blueprint, and which of its task types no live worker serves: {problems, unserved}.
create or replace function app.check_blueprint(blueprint jsonb, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return json_build_object(
    'problems', app.blueprint_problems(blueprint),
    'unserved', coalesce((
      select json_agg(distinct t.task)
        from (
          select s ->> 'task' as task
            from jsonb_array_elements(case jsonb_typeof(blueprint -> 'stages') when 'array' then blueprint -> 'stages' else '[]' end) s) t
       where t.task is not null and not exists (select from app.serving_workers(v_tenant, t.task))), '[]'));
end $$;
grant execute on function app.check_blueprint(jsonb, text) to fanfold_api, fanfold_admin;
