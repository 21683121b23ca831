-- Writes a configuration of a connector, new or in place of the one of that name. The engine has checked it.
-- request: {tenant?, connector, name, config, actor?}
create or replace function app.set_connector(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_actor text := coalesce(left(request ->> 'actor', 200), session_user);
  v_config app.connector_configs;
begin
  if app.may_hold_wild_numbers(request::text) then
    perform app.refuse_wild_numbers(request::jsonb);
  end if;
  if pg_column_size((request -> 'config')::jsonb) > 65536 then
    raise exception 'the configuration is larger than 64 KB' using errcode = 'FF004';
  end if;
  if (select count(*) from app.connector_configs c where c.tenant_id = v_tenant) >= 1000
      and not exists (select from app.connector_configs c
        where c.tenant_id = v_tenant and c.connector = request ->> 'connector' and c.name = request ->> 'name') then
    raise exception 'a tenant may have 1000 configurations of connectors' using errcode = 'FF009', hint = 'remove those nobody uses';
  end if;
  insert into app.connector_configs as c (tenant_id, connector, name, config, updated_by)
  values (v_tenant, request ->> 'connector', request ->> 'name', (request -> 'config')::jsonb, v_actor)
  on conflict (tenant_id, connector, name) do update
    set config = excluded.config, updated_at = now(), updated_by = excluded.updated_by
  returning c.* into v_config;
  perform app.note(v_tenant, 'connector.configured', null, null, null,
    jsonb_build_object('connector', v_config.connector, 'name', v_config.name), v_actor);
  return app.connector_record(v_config);
end $$;
grant execute on function app.set_connector(json) to fanfold_api, fanfold_admin;
