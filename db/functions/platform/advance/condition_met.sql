-- `when` as data: a JSONPath predicate over {request, jobs}. More than may be looked at here is an error.
create or replace function platform.condition_met(request platform.requests, path text)
returns boolean
language plpgsql stable
as $$
declare
  c_bytes constant bigint := 16000000;
  v_path jsonpath := app.checked_path(path, true);
  v_scope jsonb := platform.request_scope(request, strpos(path, 'jobs') > 0);
begin
  if pg_column_size(v_scope)::bigint * length(path) > c_bytes then
    raise exception 'it would look at more than it may' using errcode = 'FF002', hint = 'let the jobs return less';
  end if;
  return coalesce(jsonb_path_match(v_scope, v_path, silent => true), false);
end $$;
