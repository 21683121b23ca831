-- Why a JSONPath of a tenant's is not taken, as {problem, fix}; null when it is. What only Postgres can see has the code not_jsonpath. Only forms that look at each part of a value once
-- for each of a few steps are taken: written out, so that what a later Postgres adds is refused. A path is shortened step by step to
-- the simplest of its kind, a path to @ or $, a value to 0, a predicate to #, and what does not come down to one of them is not taken.
-- src/core/declare/json_path.ts says the same, by the same rules; test/vectors/json_paths.json holds the two together.
create or replace function app.path_problem(path text, is_condition boolean)
returns jsonb
language plpgsql immutable
as $$
declare
  c_value constant text := '(-?0|""|true|false|null)';
  c_compare constant text := '(==|!=|<>|<=|>=|<|>)';
  c_place constant text := '(0|last(-0)?)';
  v_text text := path;
  v_plain text;
  v_root text;
  v_before text;
  v_steps integer;
begin
  if path is null then
    return jsonb_build_object('problem', 'is not a text', 'fix', 'Write a JSONPath, e.g. "$.tiles[*]".');
  end if;
  if length(path) > 500 then
    return jsonb_build_object('problem', 'is ' || length(path) || ' characters long; at most 500',
      'fix', 'Select less here, and the rest in the handler or in a function that plans.');
  end if;
  if path ~ '[\u0001-\u001f\u007f-\u009f]' then
    return jsonb_build_object('problem', 'holds a control character', 'fix', 'Leave it out.');
  end if;
  if strpos(path, '$') = 0 then
    return jsonb_build_object('problem', 'does not look at anything: a JSONPath starts at $', 'fix', 'Write a JSONPath, e.g. "$.tiles[*]".');
  end if;
  if not app.is_jsonpath(path) then
    return jsonb_build_object('code', 'not_jsonpath', 'problem', 'is not a JSONPath as Postgres speaks it', 'fix', 'Write a JSONPath, e.g. "$.tiles[*]".');
  end if;

  v_text := regexp_replace(v_text, '"(\\.|[^"\\])*"', '""', 'g');
  v_text := btrim(regexp_replace(regexp_replace(v_text, ' +', ' ', 'g'), ' ?([^A-Za-z0-9_ ]) ?', '\1', 'g'));
  v_text := regexp_replace(v_text, '^(strict|lax)( |([$(!]))', '\3');
  if is_condition then
    -- Figures of the engine's own: one value each.
    v_text := regexp_replace(
      v_text, '\$\.stages\.[a-z][a-z0-9_]*\.(status|total|completed|failed|skipped|cancelled)(?![A-Za-z0-9_.?([])', '0', 'g');
  end if;
  v_text := regexp_replace(v_text, '\.(type|size|double|ceiling|floor|abs)\(\)', '.k', 'g');
  v_plain := v_text;
  v_text := regexp_replace(v_text, '\.(\*|""|[A-Za-z_][A-Za-z0-9_]*)', '.k', 'g');
  v_text := regexp_replace(v_text, '[0-9]{1,20}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?', '0', 'g');
  v_text := regexp_replace(v_text, '\[(\*|' || c_place || '( to ' || c_place || ')?)\]', '.k', 'g');
  v_steps := (length(v_text) - length(replace(v_text, '.k', ''))) / 2;
  if v_steps > 32 then
    return jsonb_build_object('problem', 'takes ' || v_steps || ' steps; at most 32', 'fix', 'Name fewer fields on the way.');
  end if;

  -- What stands inside filters first: there @ is all that may be looked at, so that a $ in there is left over.
  foreach v_root in array array['@', '\$'] loop
    v_text := regexp_replace(v_text, '(' || v_root || ')(\.k' || case v_root when '\$' then '|\?#' else '' end || ')+', '\1', 'g');
    loop
      v_before := v_text;
      v_text := regexp_replace(v_text, v_root || c_compare || c_value, '#', 'g');
      v_text := regexp_replace(v_text, c_value || c_compare || '(' || v_root || '|' || c_value || ')', '#', 'g');
      v_text := regexp_replace(v_text, v_root || ' ?starts with""', '#', 'g');
      v_text := regexp_replace(v_text, 'exists\(' || v_root || '\)', '#', 'g');
      v_text := regexp_replace(v_text, '\(#\) ?is unknown', '#', 'g');
      v_text := regexp_replace(v_text, '!#|\(#\)|#(&&|\|\|)#', '#', 'g');
      exit when v_text = v_before;
    end loop;
    exit when v_text ~ '[@]|\?\(';
  end loop;
  if v_text in ('$', '#') then
    return null;
  end if;
  return (
    select jsonb_build_object('problem', r.problem, 'fix', r.fix)
      from (values
        (1, v_plain ~ '\.\*\*', 'has .**, which looks at everything below everything', 'Name the fields on the way: $.a[*].b.'),
        (2, v_plain ~ '[^.]like_regex', 'has like_regex, which can be made to take for ever', 'Use ==, or starts with "…".'),
        (3, v_plain ~ ',', 'has a list of subscripts', 'Write one: [0], [*], [0 to 5] or [last].'),
        (4, v_text ~ '\.k\(|[@$]\(', 'calls a method that is not taken', 'Of methods there are type(), size(), double(), ceiling(), floor() and abs().'),
        (5, v_text ~ '\$[A-Za-z0-9_"]', 'names a variable, and there are none', 'Compare with a value.'),
        (6, v_text ~ '@\?#', 'has a filter inside a filter', 'Compare what lies below directly: ?(@.list[*].name == "a").'),
        (7, v_text ~ ('[@$](\.k)*' || c_compare || '[@$]'), 'compares two paths', 'Compare a path with a value'
          || case when is_condition then ', or with a figure of a stage: $.stages.<name>.completed.' else '.' end),
        (8, v_text ~ '\?\([^#]*\$', 'looks at $ inside a filter', 'Inside ?( ) look at @ only, and compare it with values.'),
        (9, v_plain ~ '[0-9]{21}|[0-9][eE][+-]?[0-9]{4}', 'has a number of more than 20 digits', 'Write it shorter.'),
        (10, v_text ~ '[-+*/%]', 'calculates', 'Compare a path with a value that is ready; names with - in them go into quotes: $."a-b".'),
        (11, true, 'is not of a form that is taken',
          'Write e.g. $.tiles[*], $.tiles[*] ? (@.size > 3 && exists(@.url)) or $.parameters.publish == true; other names go into quotes: $."é".')
      ) as r(place, applies, problem, fix)
     where r.applies
     order by r.place
     limit 1);
end $$;
