-- Returns those of these jobs that something alive refers to, and what that is. The caller holds their rows, so that nothing new does.
create or replace function app.job_keepers(tenant text, job_ids text[])
returns table (job_id text, keeper text)
language sql stable
as $$
  select j.job_id, k.keeper
    from app.jobs j
    cross join lateral (
      select case
        when j.finished_at is null then 'it has not ended'
        when exists (select from platform.requests r where r.tenant_id = j.tenant_id and r.request_id = j.request_id)
          then 'it belongs to request ' || j.request_id
        when exists (
          select from app.job_dependencies d
            join app.jobs w on w.tenant_id = d.tenant_id and w.job_id = d.job_id
           where d.tenant_id = j.tenant_id and d.depends_on = j.job_id and d.satisfied_at is null and w.finished_at is null)
          then 'another job waits for it'
        when exists (
          select from app.job_groups g where g.tenant_id = j.tenant_id and g.group_id = j.group_id and g.finished_at is null)
          then 'its group "' || j.group_id || '" has not ended'
        when exists (
          select from app.webhook_deliveries w where w.tenant_id = j.tenant_id and w.job_id = j.job_id and w.status = 'pending')
          then 'a webhook about it is still to be delivered'
      end as keeper
    ) k
   where j.tenant_id = tenant and j.job_id = any (job_ids) and k.keeper is not null
$$;
