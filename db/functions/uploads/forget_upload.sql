-- Forgets an upload: its owner has given it up or has removed its file, or its parts were not what they should be. Tells what it was.
create or replace function app.forget_upload(upload_id uuid, actor text default null, reason text default null, tenant text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_upload app.uploads := app.find_upload(v_tenant, upload_id, true);
begin
  delete from app.uploads u where u.tenant_id = v_tenant and u.upload_id = forget_upload.upload_id;
  if v_upload.state = 'completed' then
    perform app.note(v_tenant, 'file.removed', null, null, reason, jsonb_build_object('ref', 'bronze:' || v_upload.key, 'bytes', v_upload.bytes), actor);
  end if;
  return app.upload_record(v_upload);
end $$;
grant execute on function app.forget_upload(uuid, text, text, text) to fanfold_api, fanfold_admin;
