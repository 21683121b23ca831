-- Gives the first stages of new jobs that started as they were inserted their one task. Returns the jobs that need the long
-- way (advance_job). `offset 0`: job by job, by key. Planned while tables were small, `= any` would read every stage the tenant has.
create or replace function app.start_roots(tenant text, job_ids text[])
returns text[]
language plpgsql
as $$
begin
  perform app.fill_plain((
    select array_agg(s.stage_id)
      from unnest(job_ids) j
      cross join lateral (select q.stage_id, q.status from app.stages q where q.tenant_id = tenant and q.job_id = j offset 0) s
     where s.status = 'processing'));
  return array(
    select distinct j
      from unnest(job_ids) j
      cross join lateral (select q.status, q.waiting_for from app.stages q where q.tenant_id = tenant and q.job_id = j offset 0) s
     where s.status = 'waiting' and s.waiting_for = 0);
end $$;
