-- `when` as data: a JSONPath predicate over what condition_scope tells. Null with `most` given: that would look at more than so many
-- bytes, once for each step, and is for whoever has the time.
create or replace function app.stage_condition(stage app.stages, job app.jobs, most bigint default null)
returns boolean
language plpgsql stable
as $$
declare
  v_path jsonpath := app.checked_path(stage.condition ->> 'path', true);
  v_scope jsonb := app.condition_scope(stage, job);
begin
  if pg_column_size(v_scope)::bigint * length(stage.condition ->> 'path') > 2 * most then
    return null;
  end if;
  return coalesce(jsonb_path_match(v_scope, v_path, silent => true), false);
end $$;
