-- A schedule as it is told, with its last time.
create or replace function app.schedule_record(schedule app.schedules)
returns json
language plpgsql stable
as $$
begin
  return json_build_object(
    'name', schedule.name, 'description', schedule.description, 'cron', schedule.cron, 'time_zone', schedule.time_zone,
    'job_type', schedule.job_type, 'parameters', schedule.parameters, 'options', schedule.options, 'missed', schedule.missed,
    'version', schedule.version, 'paused_at', schedule.paused_at, 'paused_by', schedule.paused_by, 'pause_reason', schedule.pause_reason,
    'next_at', case when schedule.paused_at is null then schedule.next_at end, 'last_at', schedule.last_at,
    'last', (select app.tick_record(t) from app.schedule_ticks t where t.schedule_id = schedule.schedule_id order by t.tick_at desc limit 1),
    'created_at', schedule.created_at, 'created_by', schedule.created_by, 'updated_at', schedule.updated_at,
    'updated_by', schedule.updated_by);
end $$;
