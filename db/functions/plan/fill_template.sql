-- A template with its {names} replaced: item, ordinal, parameters. A string that is one name keeps the value's type; a name inside a
-- longer string becomes text; {{ and }} are braces. A name nobody has is an error.
create or replace function app.fill_template(template jsonb, item jsonb, ordinal bigint, parameters jsonb)
returns jsonb
language plpgsql immutable
as $$
declare
  v_filled jsonb;
  v_text text;
  v_out text := '';
  v_piece text[];
  v_value jsonb;
begin
  case jsonb_typeof(template)
    when 'object' then
      select coalesce(jsonb_object_agg(e.key, app.fill_template(e.value, item, ordinal, parameters)), '{}') into v_filled from jsonb_each(template) e;
      return v_filled;
    when 'array' then
      select coalesce(jsonb_agg(app.fill_template(e.value, item, ordinal, parameters) order by e.position), '[]')
        into v_filled
        from jsonb_array_elements(template) with ordinality e(value, position);
      return v_filled;
    when 'string' then
      v_text := template #>> '{}';
      if strpos(v_text, '{') = 0 and strpos(v_text, '}') = 0 then
        return template;
      end if;
      if v_text ~ '^\{[^{}]+\}$' then
        return app.template_value(substr(v_text, 2, length(v_text) - 2), item, ordinal, parameters);
      end if;
      for v_piece in select regexp_matches(v_text, '(\{\{|\}\})|\{([^{}]+)\}|([^{}]+|.)', 'g') loop
        if v_piece[1] is not null then
          v_out := v_out || left(v_piece[1], 1);
        elsif v_piece[2] is not null then
          v_value := app.template_value(v_piece[2], item, ordinal, parameters);
          v_out := v_out || case when jsonb_typeof(v_value) in ('object', 'array') then v_value::text else coalesce(v_value #>> '{}', 'null') end;
        else
          v_out := v_out || v_piece[3];
        end if;
      end loop;
      return to_jsonb(v_out);
    else
      return template;
  end case;
end $$;
