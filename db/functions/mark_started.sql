-- The first claim of a job makes it 'processing'. A job row that is locked is left: whoever holds it is about to change it.
create or replace function app.mark_started(stage_ids bigint[])
returns void
language plpgsql
as $$
begin
  if stage_ids = '{}' then
    return;
  end if;
  update app.jobs j
     set status = 'processing', started_at = now()
   where (j.tenant_id, j.job_id) in (
     select q.tenant_id, q.job_id
       from app.jobs q
       join app.stages s on s.tenant_id = q.tenant_id and s.job_id = q.job_id
      where s.stage_id = any (stage_ids) and q.status = 'queued'
      for no key update of q skip locked);
end $$;
