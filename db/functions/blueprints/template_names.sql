-- The names in a template, as often as they stand there.
create or replace function app.template_names(template jsonb)
returns text[]
language sql immutable
as $$
  select coalesce(array_agg(m.piece[2]), '{}')
    from jsonb_path_query(template, 'strict $.** ? (@.type() == "string")') t(text)
    cross join lateral regexp_matches(t.text #>> '{}', '(\{\{|\}\})|\{([^{}]+)\}|([^{}]+|.)', 'g') m(piece)
   where m.piece[2] is not null
$$;
