-- The value of one template name: item, item.a.b, ordinal, parameters.a, or plain a.b = a field of the item.
create or replace function app.template_value(name text, item jsonb, ordinal bigint, parameters jsonb)
returns jsonb
language plpgsql immutable
as $$
declare
  v_path text[] := string_to_array(btrim(name), '.');
  v_value jsonb := case v_path[1]
    when 'parameters' then parameters #> v_path[2:]
    when 'ordinal' then to_jsonb(ordinal) #> v_path[2:]
    when 'item' then item #> v_path[2:]
    else item #> v_path end;
begin
  if v_value is null then
    raise exception 'the template names {%}, which is not there', left(name, 100)
      using errcode = 'FF002', hint = 'known: item, item.<field>, <field>, ordinal, parameters.<name>';
  end if;
  return v_value;
end $$;
