-- Everything of a release goes out of the catalogue, with its files. A dry run unless told otherwise: then it lists what would go. What is approved
-- is revoked instead, which does this too.
create or replace function platform.unpublish_release(
  id text, dry_run boolean default true, reason text default null, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, platform, app, pg_temp
as $$
declare
  v_tenant constant text := app.acting_tenant(tenant);
  v_release platform.releases := platform.find_release(v_tenant, id);
  v_jobs text[];
  v_files json;
  v_tables json;
  v_count bigint;
  v_bytes bigint;
  v_removing json;
begin
  if not dry_run and v_release.approval = 'approved' and v_release.wants_approval then
    raise exception 'version % of %/% is approved', v_release.version_id, left(v_release.dataset_id, 80), left(v_release.resource_id, 80)
      using errcode = 'FF006', hint = 'revoke it: that takes it down, and says who and why';
  end if;
  select coalesce(array_agg(distinct t.job_id), '{}'), count(*) filter (where t.kind = 'file'), coalesce(sum(t.bytes), 0),
      coalesce(json_agg(json_build_object('ref', t.ref, 'bytes', t.bytes, 'media_type', t.media_type, 'adopted', t.adopted) order by t.place)
        filter (where t.kind = 'file' and t.place <= 10000), '[]'),
      coalesce(json_agg(json_build_object('kind', t.kind, 'ref', t.ref, 'bytes', t.bytes) order by t.place) filter (where t.kind <> 'file' and t.place <= 10000), '[]')
    into v_jobs, v_count, v_bytes, v_files, v_tables
    from (
      select p.*, row_number() over (partition by p.kind = 'file' order by p.kind, p.ref) as place
        from platform.published_things(v_tenant, platform.release_jobs(v_release)) p) t;
  if not dry_run then
    v_removing := platform.take_down(v_release, reason, coalesce(left(actor, 200), session_user));
    perform platform.note(q, 'release.unpublished', unpublish_release.reason, jsonb_build_object('release_id', v_release.release_id, 'files', v_count), actor)
       from platform.requests q where q.tenant_id = v_tenant and q.request_id = v_release.request_id;
  end if;
  return json_build_object('release', platform.release_record(v_release), 'dry_run', dry_run, 'changed', not dry_run and v_jobs <> '{}', 'made_by', to_json(v_jobs),
    'file_count', v_count, 'bytes', v_bytes, 'files', v_files, 'tables', v_tables, 'jobs', coalesce(v_removing, '[]'));
end $$;
grant execute on function platform.unpublish_release(text, boolean, text, text, text) to fanfold_api, fanfold_admin;
