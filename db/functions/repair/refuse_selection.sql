-- Nothing of a selection can be done: says why, reason by reason.
create or replace function app.refuse_selection(what text, selected bigint, lefts json, hint text, action jsonb default null)
returns void
language plpgsql
as $$
begin
  raise exception 'none of the % selected tasks can be %: %', selected, what,
      (select string_agg((l ->> 'tasks') || ' ' || (l ->> 'text'), '; ') from json_array_elements(lefts) l)
    using errcode = 'FF006', hint = refuse_selection.hint, detail = coalesce(action::text, '');
end $$;
