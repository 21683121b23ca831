-- What new jobs of a limited tenant bring, now that their stages are known: refuses a stage whose width their parameters tell and that
-- is too wide, also one that opens later; then charges for them.
create or replace function app.admit_jobs(limits app.limits, submits bigint, job_ids text[])
returns void
language plpgsql
as $$
declare
  v_stage app.stages;
  v_job app.jobs;
  v_count bigint;
begin
  if limits.fan_out is not null then
    for v_stage in
      select s.*
        from app.stages s
       where s.tenant_id = limits.tenant_id and s.job_id = any (job_ids) and s.total is null and s.plan ? 'count'
       order by s.stage_id
    loop
      select * into v_job from app.jobs j where j.tenant_id = limits.tenant_id and j.job_id = v_stage.job_id;
      begin
        v_count := app.plan_count(v_stage, v_job);
      exception
        -- No number at all: planning will say so.
        when sqlstate 'FF002' then v_count := null;
      end;
      perform app.assert_fan_out(v_stage, v_count);
    end loop;
  end if;
  perform app.charge_limits(limits, submits, greatest(cardinality(job_ids), coalesce((
    select sum(s.total)
      from app.stages s
     where s.tenant_id = limits.tenant_id and s.job_id = any (job_ids) and s.status = 'processing'), 0)::bigint));
end $$;
