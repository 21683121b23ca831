-- The statuses a verb on a selection is asked for; all of `usual` when none is named.
create or replace function app.asked_statuses(statuses json, usual text[], others text[])
returns text[]
language plpgsql stable
as $$
declare
  v_asked text[] := array(select s from json_array_elements_text(statuses) s);
begin
  if statuses is null then
    return usual;
  elsif v_asked = '{}' or not v_asked <@ (usual || others) then
    raise exception 'this is done to tasks that are %', array_to_string(usual || others, ', ') using errcode = 'FF002';
  end if;
  return v_asked;
end $$;
