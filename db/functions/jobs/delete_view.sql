-- Deletes a view of the tenant.
create or replace function app.delete_view(name text, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_view app.saved_views;
begin
  delete from app.saved_views v where v.tenant_id = v_tenant and v.name = delete_view.name returning * into v_view;
  if v_view.name is null then
    raise exception 'there is no view "%"', left(delete_view.name, 80) using errcode = 'FF001', hint = 'list them: GET /api/views';
  end if;
  perform app.note(v_tenant, 'view.deleted', null, null, null, jsonb_build_object('name', v_view.name, 'query', v_view.query), actor);
  return app.view_record(v_view);
end $$;
grant execute on function app.delete_view(text, text, text) to fanfold_api, fanfold_admin;
