-- The tenant a verb acts for. The credential decides; a request may only repeat it, unless it comes from the server's role (is_server,
-- asked here in the same look, because every submit pays for it). A statement of an isolated handler has its task's tenant.
create or replace function app.acting_tenant(requested text)
returns text
language plpgsql stable
as $$
declare
  v_tenant text;
  v_names boolean;
begin
  select m.tenant_id, m.tenant_id is null into v_tenant, v_names from app.tenant_roles m where m.role_name = session_user;
  if v_tenant is null and pg_my_temp_schema() <> 0 then
    v_tenant := app.handler_tenant();
  end if;
  if v_tenant is null then
    -- The setting is the server's own, and tells of a superuser without a look into the catalogue. One question after the other: asked in one
    -- expression, each would be made ready for every call.
    if v_names is null and current_setting('is_superuser') <> 'on' then
      if not (select r.rolsuper from pg_roles r where r.rolname = session_user) then
        raise exception 'role "%" belongs to no tenant', session_user
          using errcode = 'FF005', hint = 'an administrator maps it: select app.map_role(''' || session_user || ''', ''<tenant>'')';
      end if;
    end if;
    v_tenant := coalesce(requested, nullif(current_setting('fanfold.tenant', true), ''), 'default');
    if exists (select from app.moving_tenants) then
      perform app.refuse_while_moving(v_tenant);
    end if;
    if not exists (select from app.tenants where tenant_id = v_tenant) then
      perform app.refuse_if_moved(v_tenant);
      raise exception 'there is no tenant "%"', left(v_tenant, 80)
        using errcode = 'FF001', hint = 'create it', detail = app.action('tenants.create');
    end if;
  elsif requested is distinct from v_tenant and requested is not null then
    raise exception 'this role acts for tenant "%" and no other', v_tenant using errcode = 'FF005';
  end if;
  return v_tenant;
end $$;
