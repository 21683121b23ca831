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
  v_count bigint;
  v_bytes bigint;
  v_removing json;
begin
  if not dry_run and v_release.approval = 'approved' and v_release.wants_approval then
    raise exception 'version % of %/% is approved', v_release.version_id, left(v_release.dataset_id, 80), left(v_release.resource_id, 80)
      using errcode = 'FF006', hint = 'revoke it: that takes it down, and says who and why';
  end if;
  v_jobs := platform.release_jobs(v_release);
  select count(*), coalesce(sum(a.bytes), 0) into v_count, v_bytes
    from app.assets a where a.tenant_id = v_tenant and a.job_id = any (v_jobs) and a.retracted_at is null;
  select coalesce(json_agg(f.file order by f.place), '[]') into v_files
    from (
      select json_build_object('ref', a.zone || ':' || a.key, 'bytes', a.bytes, 'media_type', a.media_type, 'adopted', a.adopted) as file,
          row_number() over (order by a.zone, a.key) as place
        from app.assets a
       where a.tenant_id = v_tenant and a.job_id = any (v_jobs) and a.retracted_at is null
       order by a.zone, a.key limit 10000) f;
  if not dry_run then
    v_removing := platform.take_down(v_release, reason, coalesce(left(actor, 200), session_user));
    perform platform.note(q, 'release.unpublished', unpublish_release.reason, jsonb_build_object('release_id', v_release.release_id, 'files', v_count), actor)
       from platform.requests q where q.tenant_id = v_tenant and q.request_id = v_release.request_id;
  end if;
  return json_build_object('release', platform.release_record(v_release), 'dry_run', dry_run, 'changed', not dry_run and v_jobs <> '{}', 'made_by', to_json(v_jobs),
    'file_count', v_count, 'bytes', v_bytes, 'files', v_files, 'jobs', coalesce(v_removing, '[]'));
end $$;
grant execute on function platform.unpublish_release(text, boolean, text, text, text) to fanfold_api, fanfold_admin;
