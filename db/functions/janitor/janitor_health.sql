-- When somebody last looked after dead workers, deadlines and stuck states, and whether that is too long ago.
create or replace function app.janitor_health()
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  return (
    select json_build_object('last_run_at', j.last_run_at, 'last_success_at', j.last_success_at, 'last_error', j.last_error,
      'age_s', round(extract(epoch from now() - j.last_success_at)), 'late', coalesce(j.last_success_at < now() - interval '2 minutes', true))
      from app.janitor j);
end $$;
grant execute on function app.janitor_health() to fanfold_api, fanfold_worker, fanfold_admin;
