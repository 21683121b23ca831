-- For psql: one lone task.
--   select app.enqueue('email.send', '{"to": "ada@example.org"}', idempotency_key => 'welcome-42');
create or replace function app.enqueue(
  task_type text, parameters jsonb default '{}', idempotency_key text default null, run_at timestamptz default null,
  priority integer default 0, max_attempts integer default null, metadata jsonb default null, tenant text default null,
  retry jsonb default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_reply json;
begin
  if not app.is_server() then
    perform app.refuse_wild_numbers(metadata);
  end if;
  if jsonb_typeof(parameters) is distinct from 'object' then
    raise exception 'parameters must be a JSON object, not %', coalesce(jsonb_typeof(parameters), 'null') using errcode = 'FF002';
  end if;
  v_reply := app.enqueue_tasks(json_build_object('tenant', tenant, 'task_type', task_type, 'tasks', json_build_array(json_build_object(
    'parameters', app.canonical(parameters), 'key', idempotency_key, 'run_at', run_at, 'priority', priority,
    'max_attempts', max_attempts, 'metadata', metadata, 'retry', retry))));
  return json_build_object('task_id', v_reply -> 'task_ids' ->> 0, 'created', (v_reply ->> 'created')::integer = 1);
end $$;
grant execute on function app.enqueue(text, jsonb, text, timestamptz, integer, integer, jsonb, text, jsonb) to fanfold_api, fanfold_admin;
