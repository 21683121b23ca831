-- One time of a schedule, and what became of it.
create or replace function app.tick_record(tick app.schedule_ticks)
returns json
language plpgsql stable
as $$
begin
  return json_build_object('tick_at', tick.tick_at, 'outcome', tick.outcome, 'job_id', tick.job_id, 'missed', tick.missed,
    'by_hand', tick.by_hand, 'actor', tick.actor, 'reason', tick.reason, 'at', tick.at);
end $$;
