-- The jobs among those submitted that existed and did not end well are resumed, by ascending id. Returns their ids. One that
-- another resumed at this very moment is under way, or even done, which is what was asked for.
create or replace function app.resume_submitted(tenant text, hashes text[], created text[])
returns text[]
language plpgsql
as $$
declare
  v_job app.jobs;
  v_resumed text[] := '{}'::text[];
begin
  for v_job in
    select distinct on (j.job_id) j.*
      from unnest(hashes) h
      cross join lateral (
        select * from app.jobs e where e.tenant_id = tenant and e.content_hash = h order by e.run desc limit 1
      ) j
     where j.status in ('failed', 'cancelled', 'partial_success') and j.job_id <> all (coalesce(created, '{}'))
     order by j.job_id
  loop
    begin
      perform app.repair_job(v_job, 'resume', null, false, 'submitted again with mode resume', null);
      v_resumed := v_resumed || v_job.job_id;
    exception
      when sqlstate 'FF003' or sqlstate 'FF006' then null;
    end;
  end loop;
  return v_resumed;
end $$;
