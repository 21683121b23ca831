-- The five tasks of a stage that have run longest.
create or replace function app.slowest_running(stage app.stages)
returns json
language plpgsql stable
as $$
begin
  return (
    select json_agg(json_build_object('task_id', stage.stage_id || '-' || t.ordinal, 'index', k.index, 'elapsed_s', t.elapsed_s,
        'worker_id', t.worker_id) order by t.elapsed_s desc, t.ordinal)
      from (select * from app.running_tasks(stage) r where r.ordinal >= 0 order by r.elapsed_s desc, r.ordinal limit 5) t
      left join app.tasks k on k.stage_id = stage.stage_id and k.ordinal = t.ordinal);
end $$;
