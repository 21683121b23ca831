-- The parts of an upload are all there: from now on its key is its own, and the file is put in its place next.
-- A caller that is interrupted in between, or asks twice, goes on. What another upload has put there goes only where this one may write over it.
create or replace function app.take_upload_key(upload_id uuid, tenant text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_upload app.uploads;
  v_other app.uploads;
begin
  v_upload := app.find_upload(v_tenant, upload_id);
  perform app.lock_named(v_tenant || ' file ' || v_upload.key);
  v_upload := app.find_upload(v_tenant, upload_id, true);
  if v_upload.state <> 'open' then
    return app.upload_record(v_upload);
  end if;
  select * into v_other from app.uploads u where u.tenant_id = v_tenant and u.key = v_upload.key and u.state <> 'open';
  if v_other.state = 'publishing' then
    raise exception 'another upload is being put in the place of bronze:%', v_upload.key
      using errcode = 'FF006', hint = 'finish that one or give it up: ' || v_other.upload_id;
  elsif v_other.upload_id is not null and not v_upload.overwrite then
    raise exception 'bronze:% is there already', v_upload.key
      using errcode = 'FF003', hint = 'choose another key, or upload it with "overwrite": true';
  end if;
  delete from app.uploads u where u.tenant_id = v_tenant and u.upload_id = v_other.upload_id;
  update app.uploads u
     set state = 'publishing'
   where u.tenant_id = v_tenant and u.upload_id = take_upload_key.upload_id
  returning u.* into v_upload;
  return app.upload_record(v_upload);
end $$;
grant execute on function app.take_upload_key(uuid, text) to fanfold_api, fanfold_admin;
