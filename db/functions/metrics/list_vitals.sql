-- How the database was in the last minutes, for the server's role: [minute, figures] of each minute in which somebody looked.
create or replace function app.list_vitals(minutes integer default 60)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  perform app.assert_server('read vitals');
  return (
    select coalesce(json_agg(json_build_object('at', s.minute, 'vitals', s.vitals) order by s.minute), '[]')
      from app.rate_samples s
     where s.vitals is not null and s.minute >= date_trunc('minute', now()) - make_interval(mins => least(greatest(coalesce(minutes, 60), 1), 1440)));
end $$;
grant execute on function app.list_vitals(integer) to fanfold_api, fanfold_admin;
