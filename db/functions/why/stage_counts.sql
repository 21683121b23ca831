-- Where the tasks of a stage are: counted in the rows that hold them, and told apart as held (claimed) and running (named in a
-- heartbeat).
create or replace function app.stage_counts(stage app.stages)
returns json
language plpgsql stable
as $$
begin
  return (
    select json_build_object(
        'stage', stage.name, 'status', stage.status, 'total', coalesce(p.total, stage.total), 'completed', p.completed,
        'failed', nullif(p.failed, 0), 'skipped', nullif(p.skipped, 0), 'held', h.n, 'running', (select count(*) from app.running_tasks(stage)),
        'queued', q.n, 'due_later', nullif(q.later, 0))
      from (select coalesce(sum(app.held_count(k.held)), 0) as n from app.claims k where k.stage_id = stage.stage_id) h
      cross join (
        select coalesce(sum(r.hi - r.lo), 0) as n, coalesce(sum(r.hi - r.lo) filter (where r.run_at > now()), 0) as later
          from app.ready r where r.stage_id = stage.stage_id) q
      left join app.stage_progress p on p.stage_id = stage.stage_id);
end $$;
