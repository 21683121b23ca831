-- Does a stage of the job wait for a person?
create or replace function app.waits_for_approval(tenant text, job text)
returns boolean
language plpgsql stable
as $$
begin
  return exists (select from app.stages s where s.tenant_id = tenant and s.job_id = job and s.status = 'waiting_approval');
end $$;
