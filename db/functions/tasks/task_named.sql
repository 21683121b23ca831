-- The ordinal of the task with this index in a stage; of one without an index the ordinal is its name. Null: there is none.
create or replace function app.task_named(stage bigint, name text)
returns bigint
language plpgsql stable
as $$
declare
  v_ordinal bigint;
begin
  select t.ordinal into v_ordinal from app.tasks t where t.stage_id = stage and t.index = name;
  if not found and name ~ '^\d{1,18}$' then
    select t.ordinal into v_ordinal from app.tasks t where t.stage_id = stage and t.ordinal = name::bigint and t.index is null;
  end if;
  return v_ordinal;
end $$;
