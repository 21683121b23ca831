-- Refuses to put what these jobs made, or the task that is writing just now, into the catalogue before its release is approved. The lock is held
-- until the writer commits: a decision is taken before what is published is written, or after it is there.
create or replace function platform.assert_may_publish(tenant text, jobs text[])
returns void
language plpgsql
as $$
declare
  v_stage constant text := nullif(current_setting('fanfold.stage', true), '');
  v_row record;
begin
  if v_stage is null and coalesce(cardinality(jobs), 0) = 0 then
    return;
  end if;
  for v_row in
    select l.version_id, l.dataset_id, l.resource_id, l.approval, l.request_id = q.request_id as is_this, q.run
      from (
        select distinct j.request_id
          from app.jobs j
         where j.tenant_id = tenant and j.request_id is not null and j.job_id = any (jobs || (
           select s.job_id from app.stages s where s.stage_id = v_stage::bigint and s.tenant_id = tenant))) j
      join platform.requests q on q.tenant_id = tenant and q.request_id = j.request_id
      join platform.releases l
        on l.tenant_id = tenant and l.dataset_id = q.dataset_id and l.resource_id = q.resource_id and l.version_id = q.version_id
     where l.wants_approval
     order by l.release_id
       for share of l
  loop
    if v_row.approval <> 'approved' then
      raise exception 'version % of %/% is %: nothing of it comes into the catalogue before it is approved', v_row.version_id,
          left(v_row.dataset_id, 80), left(v_row.resource_id, 80), v_row.approval
        using errcode = 'FF006', hint = 'in its recipe, put a gate before the job that publishes';
    elsif not v_row.is_this then
      raise exception 'run % of version % of %/% was overwritten by a later one: nothing of it comes into the catalogue', v_row.run, v_row.version_id,
          left(v_row.dataset_id, 80), left(v_row.resource_id, 80)
        using errcode = 'FF006', hint = 'cancel its request';
    end if;
  end loop;
end $$;
