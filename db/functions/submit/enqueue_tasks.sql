-- Enqueues lone tasks of one type. request: {tenant?, task_type, traceparent?, tasks: [{parameters, key?, run_at?, delay_s?, priority?,
-- max_attempts?, retry?, metadata?}]}; parameters are canonical JSON text. Tasks that may run alike share one ready range.
-- The caller's trace context is kept in the metadata of each, and is no part of the body.
-- Same key and same body: the same task. Same key, another body: a conflict, and nothing of the call is written.
create or replace function app.enqueue_tasks(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_type text := request ->> 'task_type';
  v_tasks json := request -> 'tasks';
  v_stage bigint;
  v_reply json;
  v_ids bigint[];
  v_keyed boolean;
  v_trace jsonb := case when request ->> 'traceparent' is not null then jsonb_build_object('traceparent', left(request ->> 'traceparent', 60)) end;
  v_limits app.limits;
begin
  perform app.check_enqueued(v_tasks);
  select * into v_limits from app.limits l where l.tenant_id = v_tenant;
  if v_limits.tenant_id is not null then
    -- What has a key may be there already, and then brings nothing.
    perform app.admit(v_limits, count(*), count(*) filter (where t.key is null), sum(octet_length(t.parameters)))
       from json_to_recordset(v_tasks) as t(parameters text, key text);
  end if;
  v_stage := app.standing_stage(v_tenant, v_type);
  v_keyed := exists (select from json_to_recordset(v_tasks) as t(key text) where t.key is not null);
  v_ids := app.new_ordinals(json_array_length(v_tasks));
  if v_keyed then
    v_ids := app.claim_keys(v_tenant, v_type, v_stage, v_tasks, v_ids);
  end if;
  with given as (
    select t.*, abs(v_ids[t.position]) as ordinal, v_ids[t.position] >= 0 as fresh,
      coalesce(t.run_at, now() + make_interval(secs => t.delay_s), now()) as starts_at, coalesce(t.priority, 0)::smallint as urgency
    from rows from (json_to_recordset(v_tasks) as (
        parameters text, run_at timestamptz, delay_s double precision, priority numeric, max_attempts numeric, metadata jsonb, retry jsonb))
      with ordinality as t(parameters, run_at, delay_s, priority, max_attempts, metadata, retry, position)
  ),
  stored as (
    insert into app.tasks (stage_id, ordinal, tenant_id, parameters, metadata, max_attempts, retry)
    select v_stage, g.ordinal, v_tenant, g.parameters::jsonb, case when v_trace is null then g.metadata else coalesce(g.metadata, '{}') || v_trace end,
        coalesce(g.max_attempts, (g.retry ->> 'attempts')::numeric)::smallint, nullif(jsonb_strip_nulls(g.retry) - 'attempts', '{}')
      from given g where g.fresh
  ),
  alike as (
    select g.starts_at, g.urgency, max(octet_length(g.parameters)) as bytes, range_agg(int8range(g.ordinal, g.ordinal + 1)) as ordinals
      from given g
     where g.fresh
     group by g.starts_at, g.urgency
  ),
  queued as (
    insert into app.ready (stage_id, lo, hi, tenant_id, task_type, priority, run_at, task_bytes, turn)
    select v_stage, lower(r), upper(r), v_tenant, v_type, a.urgency, a.starts_at, a.bytes,
      case when a.starts_at > now() then -1 else app.ring_turn(null, v_stage) end
      from alike a, unnest(a.ordinals) r
  )
  select json_build_object(
      'created', count(*) filter (where g.fresh), 'task_ids', json_agg(v_stage || '-' || g.ordinal order by g.position),
      'fresh', json_agg(g.fresh order by g.position))
    into v_reply
    from given g;
  perform app.wake(array[v_type]);
  if v_limits.tenant_id is not null then
    perform app.charge_limits(v_limits, json_array_length(v_tasks), (v_reply ->> 'created')::bigint);
  end if;
  return v_reply;
end $$;
grant execute on function app.enqueue_tasks(json) to fanfold_api, fanfold_admin;
