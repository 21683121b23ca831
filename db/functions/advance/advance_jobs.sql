-- Opens whatever of these jobs may open now; where that ended one, what follows from its end is done too. The caller holds the jobs' rows.
create or replace function app.advance_jobs(tenants text[], job_ids text[])
returns void
language plpgsql
as $$
begin
  select e.tenants, e.job_ids into tenants, job_ids from app.open_or_end(tenants, job_ids) e;
  perform app.jobs_ended(tenants, job_ids);
end $$;
