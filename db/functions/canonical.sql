-- RFC 8785 text of a jsonb value, the same bytes as src/core/canonical.ts makes (test/vectors/canonical.json binds both).
create or replace function app.canonical(value jsonb)
returns text
language plpgsql immutable strict
as $$
declare
  v_text text;
begin
  case jsonb_typeof(value)
    when 'object' then
      select '{' || coalesce(string_agg(to_json(e.key)::text || ':' || app.canonical(e.value), ',' order by app.utf16_order(e.key)), '') || '}'
        into v_text
        from jsonb_each(value) e;
    when 'array' then
      select '[' || coalesce(string_agg(app.canonical(e.value), ',' order by e.position), '') || ']'
        into v_text
        from jsonb_array_elements(value) with ordinality e(value, position);
    when 'number' then
      v_text := app.canonical_number((value #>> '{}')::numeric);
    when 'string' then
      v_text := to_json(value #>> '{}')::text;
    else
      v_text := value::text;
  end case;
  return v_text;
end $$;
grant execute on function app.canonical(jsonb) to fanfold_api, fanfold_worker, fanfold_admin;
