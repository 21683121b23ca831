-- What is to run again, as it is kept: nulls left out. What is malformed is refused, all at once.
create or replace function app.redrive_wanted(filter json, run_at timestamptz)
returns jsonb
language plpgsql stable
as $$
declare
  v_wanted constant jsonb := jsonb_strip_nulls(coalesce(filter::jsonb, '{}'));
  v_problems jsonb;
begin
  if jsonb_typeof(v_wanted) <> 'object' then
    raise exception 'a filter is an object' using errcode = 'FF002', hint = '{"task_type": "raster.cog_tile"}';
  end if;
  select jsonb_agg(jsonb_build_object('path', '$.filter.' || p.field, 'problem', p.problem, 'fix', p.fix)) into v_problems
    from (
      select left(w.key, 63) as field, case
          when w.key not in ('task_type', 'job_type', 'signature', 'failed_after', 'failed_before') then 'is no filter'
          when jsonb_typeof(w.value) <> 'string' then 'not a text'
          when w.key like 'failed%' and not app.is_time(w.value #>> '{}') then 'not a time' end as problem,
          'task_type, job_type, signature, failed_after and failed_before are known' as fix
        from jsonb_each(v_wanted) w) p
   where p.problem is not null;
  perform app.refuse_problems('the filter', v_problems);
  if not isfinite(run_at) then
    raise exception 'run_at is not a time' using errcode = 'FF002', hint = 'a time such as 2030-01-31T08:00:00Z';
  end if;
  return v_wanted;
end $$;
