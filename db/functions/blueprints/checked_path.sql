-- A path of a stage, fit to be evaluated. Jobs keep what they were submitted with, also what was taken before there were bounds.
create or replace function app.checked_path(path text, is_condition boolean)
returns jsonpath
language plpgsql immutable
as $$
declare
  v_problem jsonb := app.path_problem(path, is_condition);
begin
  if v_problem is not null then
    raise exception 'the path %: % %', left(path, 100), v_problem ->> 'problem', v_problem ->> 'fix'
      using errcode = 'FF002', hint = 'submit the job again with a path that is taken';
  end if;
  return path::jsonpath;
end $$;
