-- The tokens of the places of a tenant's files, by place.
create or replace function app.file_tokens(tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return (
    select coalesce(json_object_agg(p.place, json_build_object(
        'token', p.token, 'seen_as', p.seen_as, 'written_by', p.written_by, 'written_at', p.written_at)), '{}')
      from app.file_places p
     where p.tenant_id = v_tenant);
end $$;
grant execute on function app.file_tokens(text) to fanfold_api, fanfold_worker, fanfold_admin;
