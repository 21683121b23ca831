-- Ends the uploads of a tenant that nobody has gone on with in time, and tells which of `known` (ids whose parts lie in the store) are still under
-- way: the parts of all others may go.
create or replace function app.expire_uploads(tenant text, known json, dry_run boolean default false)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  if not dry_run then
    perform app.wait_briefly();
    delete from app.uploads u where u.tenant_id = v_tenant and u.state <> 'completed' and u.expires_at < now();
  end if;
  return (
    select coalesce(json_agg(k.id), '[]')
      from json_array_elements_text(known) as k(id)
      join app.uploads u on u.tenant_id = v_tenant and u.upload_id = k.id::uuid and u.state <> 'completed' and u.expires_at >= now());
end $$;
grant execute on function app.expire_uploads(text, json, boolean) to fanfold_worker, fanfold_admin;
