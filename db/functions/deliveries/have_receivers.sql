-- May any of these jobs have a receiver of webhooks? Two looks into small indexes for the whole set.
create or replace function app.have_receivers(tenants text[], job_ids text[])
returns boolean
language plpgsql stable
as $$
begin
  return exists (select from app.webhook_endpoints e where e.tenant_id = any (tenants) and e.disabled_at is null)
    or exists (select from app.jobs j where j.webhooks is not null and j.job_id = any (job_ids));
end $$;
