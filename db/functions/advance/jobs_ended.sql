-- What follows from the end of jobs, in the transaction that ends them. Called by everything that ends a job, with the jobs' rows
-- held and already updated; jobs may be of several tenants, as pairs. Round by round: jobs that end because of these come next, so
-- that whatever is done here is done for them too.
create or replace function app.jobs_ended(tenants text[], job_ids text[])
returns void
language plpgsql
as $$
declare
  v_tenants text[] := tenants;
  v_jobs text[] := job_ids;
  v_waiting text[];
begin
  while v_jobs <> '{}' loop
    perform app.count_ended_jobs(v_tenants, v_jobs);
    perform app.count_in_groups(v_tenants, v_jobs);
    if app.have_receivers(v_tenants, v_jobs) then
      perform app.write_webhooks(v_tenants, v_jobs);
    end if;
    v_waiting := app.tenants_with_dependents(v_tenants, v_jobs);
    exit when v_waiting = '{}';
    perform app.lock_dependents(v_waiting);
    select t.tenants, t.job_ids into v_tenants, v_jobs from app.tell_dependents(v_tenants, v_jobs) t;
  end loop;
end $$;
