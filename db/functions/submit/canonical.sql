-- RFC 8785 text of a jsonb value, the same bytes as src/core/values/canonical.ts makes (test/vectors/canonical.json binds both).
create or replace function app.canonical(value jsonb, depth integer default 0)
returns text
language plpgsql immutable strict
as $$
declare
  v_text text;
begin
  if depth > 100 then
    raise exception 'the value is nested deeper than 100 levels' using errcode = 'FF002', hint = 'flatten it';
  end if;
  case jsonb_typeof(value)
    when 'object' then
      select '{' || coalesce(string_agg(to_json(e.key)::text || ':' || app.canonical(e.value, depth + 1), ',' order by app.utf16_order(e.key)), '') || '}'
        into v_text
        from jsonb_each(value) e;
    when 'array' then
      select '[' || coalesce(string_agg(app.canonical(e.value, depth + 1), ',' order by e.position), '') || ']'
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
grant execute on function app.canonical(jsonb, integer) to fanfold_api, fanfold_worker, fanfold_admin;
