-- Jobs that take everything of a release out of the catalogue, with its files; one for each job that made something. Submitted with what decides
-- it, or not at all.
create or replace function platform.take_down(release platform.releases, reason text, actor text)
returns json
language plpgsql
as $$
declare
  v_job text;
  v_reply json;
  v_made text[] := '{}'::text[];
begin
  foreach v_job in array platform.release_jobs(release) loop
    v_reply := app.submit('unpublish_raster'::text, jsonb_strip_nulls(jsonb_build_object('job_id', v_job, 'dry_run', false, 'reason', reason)), 'force',
      jsonb_build_object('labels', jsonb_build_object('release_id', release.release_id), 'actor', actor), release.tenant_id);
    v_made := v_made || (v_reply ->> 'job_id');
  end loop;
  return to_json(v_made);
end $$;
