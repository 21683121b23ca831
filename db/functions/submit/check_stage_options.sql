-- Refuses jobs that say of their stages what the blueprint does not allow, all problems at once. Jobs that say nothing of them cost a look at
-- their text.
create or replace function app.check_stage_options(blueprint jsonb, jobs json)
returns void
language plpgsql stable
as $$
declare
  v_problems jsonb;
begin
  if strpos(jobs::text, '"stage_options"') = 0 and (strpos(jobs::text, '"retry"') = 0 or not blueprint @? '$.stages[*].overrides.max_attempts') then
    return;
  end if;
  select jsonb_agg(jsonb_build_object('path', '$.jobs[' || p.position - 1 || '].' || p.field, 'problem', p.problem, 'fix', p.fix))
    into v_problems
    from (
      select j.position, o.*
        from rows from (json_to_recordset(jobs) as (stage_options jsonb, retry jsonb)) with ordinality as j(stage_options, retry, position)
        cross join lateral app.stage_option_problems(blueprint, j.stage_options, j.retry) o
       order by j.position limit 20) p;
  perform app.refuse_problems('the submit', v_problems);
end $$;
