-- A next step as data: a verb with what it is about. src/core/shown/action.ts words it for the command line, for HTTP and for a page, so no
-- function writes a command into a sentence. Given as the `detail` of an error, it is what the hint leads to.
create or replace function app.action(
  verb text, job_id text default null, stage text default null, task_id text default null, task_type text default null,
  signature text default null, group_id text default null, name text default null, endpoint_id text default null,
  run_at text default null, reason text default null, memory numeric default null, request_id text default null)
returns jsonb
language sql stable
as $$
  select jsonb_strip_nulls(jsonb_build_object('verb', verb, 'job_id', job_id, 'stage', stage, 'task_id', task_id, 'task_type', task_type,
    'signature', signature, 'group_id', group_id, 'name', name, 'endpoint_id', endpoint_id, 'run_at', run_at, 'reason', reason,
    'memory', memory, 'request_id', request_id))
$$;
