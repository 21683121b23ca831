-- A sort key that orders text by UTF-16 code units, as RFC 8785 asks. UTF-8 bytes do that too, except that characters
-- beyond U+FFFF must come before U+E000…U+FFFF; those two blocks start with bytes F0–F4 and EE–EF.
create or replace function app.utf16_order(value text)
returns bytea
language plpgsql immutable strict
as $$
declare
  v_bytes bytea := convert_to(value, 'UTF8');
begin
  if value ~ '[\uE000-\uFFFF]' then
    for i in 0 .. length(v_bytes) - 1 loop
      if get_byte(v_bytes, i) in (238, 239) then
        v_bytes := set_byte(v_bytes, i, get_byte(v_bytes, i) + 7);
      end if;
    end loop;
  end if;
  return v_bytes;
end $$;
