-- A run of the janitor starts. Its own silence is an alert: told by the first run that comes after five minutes without a
-- successful one. `lately`: another run began within these two seconds, so that the long duties may be left to it. A run that
-- leaves them does not count as one: with many workers there would always have been one, and nobody would ever do them.
create or replace function app.janitor_begin(run uuid)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_before app.janitor;
  v_lately boolean;
  v_alerts jsonb := '[]'::jsonb;
begin
  select * into v_before from app.janitor;
  -- Not one in the future either: the clock was set back.
  v_lately := coalesce(v_before.last_run_at between now() - interval '2 seconds' and now(), false);
  if not app.is_server() then
    -- A worker of one tenant looks after its own only: it must not keep others from the long duties, nor speak for them.
    return json_build_object('last_success_at', v_before.last_success_at, 'lately', false, 'alerts', '[]'::json);
  end if;
  update app.janitor set run_id = run, last_run_at = case when v_lately then v_before.last_run_at else now() end;
  if v_before.last_success_at < now() - interval '5 minutes' then
    v_alerts := app.alert('default', 'janitor_silent', 'janitor',
      'nobody swept for ' || date_trunc('second', now() - v_before.last_success_at) || ': no worker was running, or its sweeps failed'
        || coalesce(' (' || v_before.last_error || ')', ''));
  end if;
  return json_build_object('last_success_at', v_before.last_success_at, 'lately', v_lately,
    'alerts', app.visible_alerts(v_alerts));
end $$;
grant execute on function app.janitor_begin(uuid) to fanfold_worker, fanfold_admin;
