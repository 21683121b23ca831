-- Whether a stage's condition is met, for whoever took a claim to find out. One that cannot be told is an error of the stage's own.
create or replace function app.judge_condition(stage app.stages, job app.jobs)
returns boolean
language plpgsql
as $$
begin
  return app.stage_condition(stage, job);
exception
  when query_canceled or out_of_memory then
    raise exception 'its condition takes too long, or too much memory' using errcode = 'FF002', constraint = 'bad_condition';
  when others then
    if left(sqlstate, 2) in ('40', '53', '57', '58') then
      raise;
    end if;
    raise exception 'its condition cannot be evaluated: %', sqlerrm using errcode = 'FF002', constraint = 'bad_condition';
end $$;
