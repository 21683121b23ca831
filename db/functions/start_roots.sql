-- Gives the first stages of new jobs that started as they were inserted their one task. Returns the jobs that need the long
-- way (advance_job).
create or replace function app.start_roots(tenant text, job_ids text[])
returns text[]
language plpgsql
as $$
begin
  perform app.fill_plain((
    select array_agg(s.stage_id)
      from app.stages s
     where s.tenant_id = tenant and s.job_id = any (job_ids) and s.status = 'processing'));
  return array(
    select distinct s.job_id
      from app.stages s
     where s.tenant_id = tenant and s.job_id = any (job_ids) and s.status = 'waiting' and s.waiting_for = 0);
end $$;
