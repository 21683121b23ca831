-- Returns the upload of this tenant, or an error that says that it is not there.
create or replace function app.find_upload(tenant text, upload uuid, for_change boolean default false)
returns app.uploads
language plpgsql
as $$
declare
  v_upload app.uploads;
begin
  if for_change then
    select * into v_upload from app.uploads u where u.tenant_id = tenant and u.upload_id = upload for update;
  else
    select * into v_upload from app.uploads u where u.tenant_id = tenant and u.upload_id = upload;
  end if;
  if v_upload.upload_id is null then
    raise exception 'there is no upload %', upload
      using errcode = 'FF001', hint = 'it may have been given up or have expired: begin again with POST /api/files';
  end if;
  return v_upload;
end $$;
