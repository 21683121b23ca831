-- Jobs that take everything of a release out of the catalogue, with its files: one for each kind of thing that its jobs have published
-- (published_things). Submitted with what decides it, or not at all.
create or replace function platform.take_down(release platform.releases, reason text, actor text)
returns json
language plpgsql
as $$
declare
  v_kind record;
  v_reply json;
  v_made text[] := '{}'::text[];
begin
  for v_kind in
    select t.unpublish_job, jsonb_agg(distinct t.job_id) as job_ids
      from platform.published_things(release.tenant_id, platform.release_jobs(release)) t
     group by 1 order by 1
  loop
    v_reply := app.submit(v_kind.unpublish_job, jsonb_strip_nulls(jsonb_build_object('job_ids', v_kind.job_ids, 'dry_run', false, 'reason', reason)), 'force',
      jsonb_build_object('labels', jsonb_build_object('release_id', release.release_id), 'actor', actor), release.tenant_id);
    v_made := v_made || (v_reply ->> 'job_id');
  end loop;
  return to_json(v_made);
end $$;
