-- A connector's configuration as it is told.
create or replace function app.connector_record(config app.connector_configs)
returns json
language sql immutable
as $$
  select json_build_object('connector', config.connector, 'name', config.name, 'config', config.config,
    'created_at', config.created_at, 'updated_at', config.updated_at, 'updated_by', config.updated_by)
$$;
