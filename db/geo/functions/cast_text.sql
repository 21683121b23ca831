-- The SQL that makes a value of a column from its text in a stage. kind: how the source wrote it.
create or replace function geo.cast_text(expression text, pg_type text, kind text)
returns text
language sql immutable
return case
  when kind = 'list' then format('to_jsonb(%s::text[])', expression)
  when kind = 'integer_list' then format('to_jsonb(%s::bigint[])', expression)
  when kind = 'number_list' then format('to_jsonb(%s::double precision[])', expression)
  when pg_type = 'text' then expression
  else format('%s::%s', expression, pg_type)
end;
