-- The size of the largest parameters of a stage's tasks, which bounds its claims; refuses what is too large or no object.
create or replace function app.largest_parameters(stage app.stages)
returns integer
language plpgsql
as $$
declare
  c_limit constant integer := 262144;
  v_task record;
  v_bytes integer := 0;
begin
  for v_task in
    select coalesce(t.index, t.ordinal::text) as index, octet_length(t.parameters::text) as bytes, jsonb_typeof(t.parameters) as kind
      from app.tasks t
     where t.stage_id = stage.stage_id and t.parameters is not null
  loop
    if v_task.bytes > c_limit then
      raise exception 'task "%" of stage "%" has % bytes of parameters; the limit is %', v_task.index, stage.name, v_task.bytes, c_limit
        using errcode = 'FF004', hint = 'put the data into storage and pass a reference';
    elsif v_task.kind <> 'object' then
      raise exception 'the parameters of task "%" of stage "%" are %, not an object', v_task.index, stage.name, v_task.kind
        using errcode = 'FF002';
    end if;
    v_bytes := greatest(v_bytes, v_task.bytes);
  end loop;
  return v_bytes;
end $$;
