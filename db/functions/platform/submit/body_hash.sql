-- The hash of what a request asks for: the same for the same data type, files and parameters.
create or replace function platform.body_hash(data_type text, asked jsonb)
returns bytea
language sql stable
as $$
  select sha256(convert_to(jsonb_build_object('data_type', data_type, 'files', coalesce(nullif(asked -> 'files', 'null'), '[]'),
    'parameters', coalesce(nullif(asked -> 'parameters', 'null'), '{}'))::text, 'UTF8'))
$$;
