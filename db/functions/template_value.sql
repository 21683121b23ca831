-- The value of one template name: item, item.a.b, ordinal, parameters.a, or plain a.b = a field of the item.
create or replace function app.template_value(name text, scope jsonb)
returns jsonb
language plpgsql immutable
as $$
declare
  v_path text[] := string_to_array(btrim(name), '.');
  v_value jsonb;
begin
  if v_path[1] not in ('item', 'ordinal', 'parameters') then
    v_path := array['item'] || v_path;
  end if;
  v_value := scope #> v_path;
  if v_value is null then
    raise exception 'the template names {%}, which is not there', left(name, 100)
      using errcode = 'FF002', hint = 'known: item, item.<field>, <field>, ordinal, parameters.<name>';
  end if;
  return v_value;
end $$;
