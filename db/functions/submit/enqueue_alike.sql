-- Enqueues lone tasks that differ in nothing but their parameters (a JSON array of objects, as text): one ready range, and no
-- row of options to read for each. The quick way for bulk; enqueue_tasks is the general one.
create or replace function app.enqueue_alike(task_type text, parameters text, tenant text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  c_limit constant integer := 262144;
  v_tenant text := app.acting_tenant(tenant);
  v_parameters jsonb := parameters::jsonb;
  v_count integer;
  v_stage bigint;
  v_ids bigint[];
  v_bytes integer := octet_length(parameters);
  v_limits app.limits;
begin
  if jsonb_typeof(v_parameters) <> 'array' or jsonb_array_length(v_parameters) not between 1 and 10000 then
    raise exception 'a call enqueues 1 to 10,000 tasks' using errcode = 'FF002', hint = 'split it into several';
  end if;
  v_count := jsonb_array_length(v_parameters);
  if app.may_hold_wild_numbers(parameters) then
    perform app.refuse_wild_numbers(v_parameters);
  end if;
  if jsonb_path_exists(v_parameters, '$[*] ? (@.type() != "object")') then
    raise exception 'the parameters of a task are an object' using errcode = 'FF002';
  end if;
  -- A text shorter than the limit cannot hold parameters longer than it.
  if v_bytes > c_limit then
    -- As it was given: jsonb is written with blanks, which are not part of it.
    select max(octet_length(p::text)) into v_bytes from json_array_elements(parameters::json) p;
    if v_bytes > c_limit then
      raise exception 'a task has % bytes of parameters; the limit is %', v_bytes, c_limit
        using errcode = 'FF004', hint = 'put the data into storage and pass a reference';
    end if;
  else
    v_bytes := least(v_bytes, 4 * v_bytes / v_count);
  end if;
  select * into v_limits from app.limits l where l.tenant_id = v_tenant;
  if v_limits.tenant_id is not null then
    perform app.admit(v_limits, v_count, v_count, octet_length(parameters));
  end if;
  v_stage := app.standing_stage(v_tenant, enqueue_alike.task_type);
  v_ids := app.new_ordinals(v_count);
  insert into app.tasks (stage_id, ordinal, tenant_id, parameters)
  select v_stage, t.ordinal, v_tenant, t.parameters
    from rows from (unnest(v_ids), jsonb_array_elements(v_parameters)) as t(ordinal, parameters);
  insert into app.ready (stage_id, lo, hi, tenant_id, task_type, task_bytes, turn)
  select v_stage, lower(r), upper(r), v_tenant, enqueue_alike.task_type, v_bytes, app.ring_turn(null, v_stage)
    from (select range_agg(int8range(i, i + 1)) as ordinals from unnest(v_ids) i) a, unnest(a.ordinals) r;
  perform app.wake(array[enqueue_alike.task_type]);
  if v_limits.tenant_id is not null then
    perform app.charge_limits(v_limits, v_count, v_count);
  end if;
  return json_build_object('created', v_count, 'stage_id', v_stage, 'ordinals', array_to_json(v_ids));
end $$;
grant execute on function app.enqueue_alike(text, text, text) to fanfold_api, fanfold_admin;
