-- Why nothing of a type is taken although something waits, in the words of app.why; null when it is.
create or replace function app.queue_problem(
  type text, queued bigint, paused_by text, pause_reason text, workers bigint, live_workers bigint, needed_mb numeric, most_mb integer)
returns json
language plpgsql stable
as $$
begin
  if paused_by is not null then
    return json_build_object('code', 'QUEUE_PAUSED', 'reason', 'tasks of this type are paused by ' || paused_by || coalesce(': ' || pause_reason, ''),
      'action', app.action('continue_type', task_type => type));
  end if;
  if queued = 0 or workers > 0 then
    return null;
  end if;
  return json_build_object('code', 'NO_WORKER_FOR_TYPE', 'reason', case
      when needed_mb is not null then format('it needs %s MB of memory, more than any live worker that has its handler may use (the largest: %s MB)', needed_mb, most_mb)
      when live_workers = 0 then 'no worker is live'
      else format('no live worker registers it; live workers that serve this tenant: %s', live_workers)
    end,
    'action', app.action('up', memory => needed_mb));
end $$;
