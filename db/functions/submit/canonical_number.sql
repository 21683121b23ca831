-- A number as ECMAScript prints it: shortest digits that round-trip, exponents only below 1e-6 and from 1e21.
create or replace function app.canonical_number(value numeric)
returns text
language plpgsql immutable strict
set extra_float_digits = 1
as $$
declare
  v_double double precision;
  v_part text[];
  v_digits text;
  v_point integer;
  v_shorter numeric;
begin
  begin
    v_double := value::double precision;
  exception
    when numeric_value_out_of_range then
      raise exception 'the number % is beyond the range of a double', left(value::text, 40)
        using errcode = 'FF002', hint = 'send it as a string';
  end;
  -- Judged after rounding: 9007199254740993.5 is an even longer integer as a double.
  if v_double = trunc(v_double) and abs(v_double) > 9007199254740991 and abs(v_double) < 1e21 then
    raise exception 'the number % cannot be kept exactly', left(value::text, 40)
      using errcode = 'FF002', hint = 'send it as a string';
  end if;
  -- [-]d[.ddd][e±dd], as Postgres prints a double
  v_part := regexp_match(v_double::text, '^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$');
  v_digits := v_part[2] || coalesce(v_part[3], '');
  v_point := length(v_part[2]) + coalesce(v_part[4]::integer, 0);
  v_point := v_point - (length(v_digits) - length(ltrim(v_digits, '0')));
  v_digits := rtrim(ltrim(v_digits, '0'), '0');
  if v_digits = '' then
    return '0';
  end if;
  -- Postgres never prints a decimal that lies exactly between two doubles (1e23); ECMAScript does, where it is shorter.
  if length(v_digits) > 15 and abs(v_double) < 1.797693134862315e308 then
    v_shorter := round(('0.' || v_digits)::numeric, length(v_digits) - 1);
    if (v_shorter::text || 'e' || v_point)::double precision = abs(v_double) then
      v_point := v_point + case when v_shorter >= 1 then 1 else 0 end;
      v_digits := rtrim(ltrim(replace(v_shorter::text, '.', ''), '0'), '0');
    end if;
  end if;
  return v_part[1] || case
    when v_point between length(v_digits) and 21 then rpad(v_digits, v_point, '0')
    when v_point between 1 and 21 then left(v_digits, v_point) || '.' || substr(v_digits, v_point + 1)
    when v_point between -5 and 0 then '0.' || repeat('0', -v_point) || v_digits
    else left(v_digits, 1)
      || case when length(v_digits) > 1 then '.' || substr(v_digits, 2) else '' end
      || 'e' || case when v_point > 0 then '+' else '' end || (v_point - 1)
  end;
end $$;
