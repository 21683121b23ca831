-- A saved view as callers see it.
create or replace function app.view_record(saved app.saved_views)
returns json
language plpgsql immutable
as $$
begin
  return json_build_object('name', saved.name, 'query', saved.query, 'created_at', saved.created_at, 'created_by', saved.created_by,
    'updated_at', saved.updated_at, 'updated_by', saved.updated_by);
end $$;
