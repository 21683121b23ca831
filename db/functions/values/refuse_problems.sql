-- Refuses a call with everything that is wrong with it: the first problem in the message, all of them in the detail. `too_large`: one of
-- them is that it carries too much.
create or replace function app.refuse_problems(what text, problems jsonb, too_large boolean default false)
returns void
language plpgsql
as $$
begin
  if problems is null or problems = '[]' then
    return;
  end if;
  raise exception '% has % problem(s), first % %', what, jsonb_array_length(problems), problems -> 0 ->> 'path', problems -> 0 ->> 'problem'
    using errcode = case when too_large then 'FF004' else 'FF002' end, detail = problems::text;
end $$;
