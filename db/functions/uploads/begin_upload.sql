-- Announces a file for bronze. request: {tenant?, key, bytes, part_bytes, media_type?, sha256?, overwrite?, expires_s, tenant_bytes?, actor?};
-- tenant_bytes is what all uploads of a tenant may have together, the finished ones among them; null: any number.
create or replace function app.begin_upload(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_most constant integer := 1000;
  v_bytes bigint := (request ->> 'bytes')::bigint;
  v_quota bigint := (request ->> 'tenant_bytes')::bigint;
  v_used bigint;
  v_open bigint;
  v_replaced bigint := 0;
  v_upload app.uploads;
begin
  -- Those that come together must not each find the room that is left for one.
  perform app.lock_named(v_tenant || ' uploads');
  select coalesce(sum(u.bytes), 0), count(*) filter (where u.state = 'open') into v_used, v_open
    from app.uploads u where u.tenant_id = v_tenant;
  if v_open >= v_most then
    raise exception 'there are % uploads under way, and a tenant may have % at a time', v_open, v_most
      using errcode = 'FF009', hint = 'finish some of them, or give them up: DELETE /api/files/{upload_id}';
  end if;
  if coalesce((request ->> 'overwrite')::boolean, false) then
    select u.bytes into v_replaced from app.uploads u where u.tenant_id = v_tenant and u.key = request ->> 'key' and u.state = 'completed';
  end if;
  if v_used - coalesce(v_replaced, 0) + v_bytes > v_quota then
    raise exception 'this file has % bytes, and of the % bytes that uploads may have together % are taken', v_bytes, v_quota, v_used
      using errcode = 'FF009', hint = 'remove what is no longer needed: GET /api/files lists it, DELETE /api/files/{upload_id} removes it';
  end if;
  insert into app.uploads (tenant_id, key, bytes, part_bytes, media_type, sha256, overwrite, actor, expires_at)
  values (
    v_tenant, request ->> 'key', v_bytes, (request ->> 'part_bytes')::bigint, coalesce(request ->> 'media_type', 'application/octet-stream'),
    request ->> 'sha256', coalesce((request ->> 'overwrite')::boolean, false), coalesce(left(request ->> 'actor', 200), session_user),
    now() + make_interval(secs => (request ->> 'expires_s')::double precision))
  returning * into v_upload;
  return app.upload_record(v_upload);
end $$;
grant execute on function app.begin_upload(json) to fanfold_api, fanfold_admin;
