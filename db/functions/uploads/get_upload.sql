-- One upload. One that is under way is kept for as long again: its owner is at work on it.
create or replace function app.get_upload(upload_id uuid, expires_s double precision default null, tenant text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_upload app.uploads := app.find_upload(v_tenant, upload_id);
begin
  -- Not at each look: a row for a minute more is not worth a write.
  if v_upload.state <> 'completed' and v_upload.expires_at < now() + make_interval(secs => expires_s * 0.9) then
    update app.uploads u
       set expires_at = now() + make_interval(secs => expires_s)
     where u.tenant_id = v_tenant and u.upload_id = get_upload.upload_id and u.state <> 'completed'
    returning u.* into v_upload;
    if not found then
      v_upload := app.find_upload(v_tenant, upload_id);
    end if;
  end if;
  return app.upload_record(v_upload);
end $$;
grant execute on function app.get_upload(uuid, double precision, text) to fanfold_api, fanfold_admin;
