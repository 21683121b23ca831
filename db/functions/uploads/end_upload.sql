-- The file of an upload is in its place, and this is its checksum.
create or replace function app.end_upload(upload_id uuid, sha256 text, actor text default null, tenant text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_upload app.uploads := app.find_upload(v_tenant, upload_id, true);
begin
  if v_upload.state = 'open' then
    raise exception 'upload % has no key yet', upload_id using errcode = 'FF006', hint = 'its parts are looked at first';
  end if;
  if v_upload.state = 'publishing' then
    update app.uploads u
       set state = 'completed', sha256 = end_upload.sha256, completed_at = now()
     where u.tenant_id = v_tenant and u.upload_id = end_upload.upload_id
    returning u.* into v_upload;
    perform app.note(v_tenant, 'file.uploaded', null, null, null,
      jsonb_build_object('ref', 'bronze:' || v_upload.key, 'bytes', v_upload.bytes, 'sha256', v_upload.sha256), coalesce(actor, v_upload.actor));
  end if;
  return app.upload_record(v_upload);
end $$;
grant execute on function app.end_upload(uuid, text, text, text) to fanfold_api, fanfold_admin;
