-- What is wrong with what a submit says of single stages, {stage: {failure_budget?, max_parallel?, max_attempts?, retry?}}, by the blueprint: a
-- stage's `overrides` are the most that may be asked for, and where it declares none, what it says itself is. `retry` is what the submit says of
-- all stages.
create or replace function app.stage_option_problems(blueprint jsonb, options jsonb, retry jsonb)
returns table (field text, problem text, fix text)
language plpgsql stable
as $$
declare
  v_one record;
  v_stage jsonb;
  v_most jsonb;
  v_budget jsonb;
  v_attempts numeric;
  v_unit text;
begin
  if jsonb_typeof(retry -> 'attempts') = 'number' then
    for v_stage in select s from jsonb_array_elements(blueprint -> 'stages') s where (s #>> '{overrides,max_attempts}')::numeric < (retry ->> 'attempts')::numeric loop
      return query select 'retry.attempts', format('more than stage "%s" allows', v_stage ->> 'name'), 'at most ' || (v_stage #>> '{overrides,max_attempts}');
    end loop;
  end if;
  if options is null or options = 'null' then
    return;
  elsif jsonb_typeof(options) <> 'object' or octet_length(options::text) > 65536 then
    return query select 'stage_options', 'not an object of stages', '{"tiles": {"max_parallel": 8}}';
    return;
  end if;
  for v_one in select 'stage_options.' || left(o.key, 63) as path, o.key as name, o.value as said from jsonb_each(options) o loop
    select s into v_stage from jsonb_array_elements(blueprint -> 'stages') s where s ->> 'name' = v_one.name;
    if not found then
      return query select v_one.path, 'there is no such stage', 'its stages: ' || (
        select left(string_agg(s ->> 'name', ', ' order by n), 500) from jsonb_array_elements(blueprint -> 'stages') with ordinality e(s, n));
      continue;
    elsif jsonb_typeof(v_one.said) <> 'object' then
      return query select v_one.path, 'not an object', '{"max_parallel": 8}';
      continue;
    elsif v_stage -> 'overrides' = 'false' then
      return query select v_one.path, 'the blueprint lets nothing of this stage be changed at submit', 'leave it out';
      continue;
    end if;
    v_most := case jsonb_typeof(v_stage -> 'overrides') when 'object' then v_stage -> 'overrides' else '{}' end;
    return query select v_one.path || '.' || k, 'is no setting of a stage', 'failure_budget, max_parallel, max_attempts and retry are'
      from jsonb_object_keys(v_one.said) k where k not in ('failure_budget', 'max_parallel', 'max_attempts', 'retry');
    return query select v_one.path || '.' || r.field, r.problem, r.fix from app.retry_problems(v_one.said -> 'retry') r where v_one.said ? 'retry';

    if app.not_a_count(v_one.said -> 'max_parallel', 1, 1000000) then
      return query select v_one.path || '.max_parallel', 'not a whole number from 1', '8';
    elsif (v_one.said ->> 'max_parallel')::numeric > coalesce((v_most ->> 'max_parallel')::numeric, (v_stage ->> 'max_parallel')::numeric) then
      return query select v_one.path || '.max_parallel', 'more than the blueprint allows',
        'at most ' || coalesce(v_most ->> 'max_parallel', v_stage ->> 'max_parallel');
    end if;

    if app.not_a_count(v_one.said -> 'max_attempts', 1, 10000) then
      return query select v_one.path || '.max_attempts', 'not a whole number from 1 to 10000', '5';
    elsif jsonb_typeof(coalesce(v_one.said #> '{retry,attempts}', 'null')) in ('number', 'null') then
      v_attempts := greatest((v_one.said ->> 'max_attempts')::numeric, (v_one.said #>> '{retry,attempts}')::numeric);
      if v_attempts > (v_most ->> 'max_attempts')::numeric then
        return query select v_one.path || case when v_one.said ? 'max_attempts' then '.max_attempts' else '.retry.attempts' end,
          'more than the blueprint allows', 'at most ' || (v_most ->> 'max_attempts');
      end if;
    end if;

    v_budget := nullif(v_one.said -> 'failure_budget', 'null');
    continue when v_budget is null;
    v_unit := case when v_budget ? 'percent' then 'percent' else 'count' end;
    if jsonb_typeof(v_budget) <> 'object' or (select count(*) from jsonb_object_keys(v_budget)) <> 1 or not v_budget ? v_unit
        or (v_unit = 'count' and app.not_a_count(v_budget -> 'count', 0, 1000000000)) or (v_unit = 'percent' and app.not_a_number(v_budget -> 'percent', 0, 100)) then
      return query select v_one.path || '.failure_budget', 'neither {"count": …} nor {"percent": …} up to 100', '{"percent": 5}';
      continue;
    end if;
    v_most := coalesce(v_most -> 'failure_budget', nullif(v_stage -> 'failure_budget', 'null'), '{}');
    if (v_budget ->> v_unit)::numeric > 0 and (not v_most ? v_unit or (v_budget ->> v_unit)::numeric > (v_most ->> v_unit)::numeric) then
      return query select v_one.path || '.failure_budget', 'more than the blueprint allows', case
        when v_most = '{}' then 'none: each of its tasks counts'
        else 'at most ' || v_most::text end;
    end if;
  end loop;
end $$;
