-- Says that a token lies in a place of the tenant's files, and gives the one that holds: of several that came first at once, one wins. With
-- `instead_of` a token that was there gives way, if it is still that.
-- request: {tenant?, place, token, seen_as, written_by, instead_of?}
create or replace function app.leave_file_token(request json)
returns text
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_place text := request ->> 'place';
begin
  perform app.wait_briefly();
  insert into app.file_places as p (tenant_id, place, token, seen_as, written_by)
  values (v_tenant, v_place, request ->> 'token', left(request ->> 'seen_as', 1000), left(request ->> 'written_by', 300))
  on conflict (tenant_id, place) do update
    set token = excluded.token, seen_as = excluded.seen_as, written_by = excluded.written_by, written_at = now()
    where p.token = request ->> 'instead_of';
  return (select p.token from app.file_places p where p.tenant_id = v_tenant and p.place = v_place);
exception
  when check_violation or not_null_violation then
    raise exception 'this is not the token of a place of files: %', sqlerrm using errcode = 'FF002';
end $$;
grant execute on function app.leave_file_token(json) to fanfold_api, fanfold_worker, fanfold_admin;
