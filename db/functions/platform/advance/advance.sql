-- Opens whatever of one request may open now, and does what follows from jobs that ended by that. Called where no job ended.
create or replace function platform.advance(tenant text, request text)
returns void
language plpgsql
as $$
declare
  v_tenants text[];
  v_jobs text[];
begin
  select a.tenants, a.ids into v_tenants, v_jobs from platform.advance_requests(array[tenant], array[request]) a;
  perform app.jobs_ended(v_tenants, v_jobs);
end $$;
