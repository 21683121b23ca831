-- What blueprints and recipes have in common: an object of bounded size with a name and a list of stages or of jobs. Without `usable` there is
-- no list to look at any further.
create or replace function app.declared_list_problems(
  declared jsonb, whole text, named text, name_key text, list_key text, one text, most integer, most_kb integer, out problems jsonb, out usable boolean)
language plpgsql stable
as $$
begin
  usable := false;
  if jsonb_typeof(declared) is distinct from 'object' then
    problems := jsonb_build_array(jsonb_build_object(
      'path', '$', 'problem', 'the ' || whole || ' is not an object', 'fix', format('send {%s, %s: [...]}', name_key, list_key)));
    return;
  end if;
  if pg_column_size(declared) > most_kb * 1024 then
    problems := jsonb_build_array(jsonb_build_object('path', '$', 'problem',
      'larger than ' || case when most_kb >= 1024 then most_kb / 1024 || ' MB' else most_kb || ' KB' end,
      'fix', 'declare less, or put it into parameters and storage'));
    return;
  end if;
  problems := '[]'::jsonb;
  if coalesce(declared ->> name_key, '') !~ '^[a-z][a-z0-9_]{0,62}$' then
    problems := problems || jsonb_build_object(
      'path', '$.' || name_key, 'problem', 'malformed ' || named, 'fix', 'lower-case letters, digits and _, starting with a letter');
  end if;
  usable := jsonb_typeof(declared -> list_key) = 'array' and jsonb_array_length(declared -> list_key) between 1 and most;
  if usable is not true then
    usable := false;
    problems := problems || jsonb_build_object('path', '$.' || list_key,
      'problem', format('%s must be a list of 1 to %s %1$s', list_key, most), 'fix', 'declare at least one ' || one);
  end if;
end $$;
