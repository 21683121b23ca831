-- The jobs of a release, of every run of it.
create or replace function platform.release_jobs(release platform.releases)
returns text[]
language sql stable
as $$
  select array(
    select j.job_id
      from platform.requests q
      join app.jobs j on j.tenant_id = q.tenant_id and j.request_id = q.request_id
     where q.tenant_id = release.tenant_id and q.dataset_id = release.dataset_id and q.resource_id = release.resource_id and q.version_id = release.version_id
     order by 1)
$$;
