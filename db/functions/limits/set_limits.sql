-- For psql: sets how many tasks of a tenant may be in hand at once, null: any number; and what else `more` names.
--   select app.set_limits('acme', 100, '{"queued_tasks": 1000000, "submits_per_s": null}');
create or replace function app.set_limits(tenant text, concurrent_tasks integer, more jsonb default '{}')
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  return app.change_limits(json_build_object('tenant', tenant,
    'limits', coalesce(more, '{}') || jsonb_build_object('concurrent_tasks', set_limits.concurrent_tasks)));
end $$;
grant execute on function app.set_limits(text, integer, jsonb) to fanfold_admin;
