-- Everything that jobs have published, by kind, and the job type that takes it down again. This is the register of what can be published: a new
-- kind joins with a branch here, and with a job that takes {job_ids, dry_run, reason}. docs/platform.md says how.
create or replace function platform.published_things(tenant text, jobs text[])
returns table (kind text, unpublish_job text, job_id text, ref text, bytes bigint, media_type text, adopted boolean)
language sql stable
as $$
  -- Files in zones, and with them the items of the catalogue that name them.
  select 'file', 'unpublish_raster', coalesce(a.job_id, app.job_of(tenant, a.stage_id)), a.zone || ':' || a.key, a.bytes, a.media_type, a.adopted
    from app.assets_of_jobs(tenant, jobs) a
$$;
