-- Ends tasks a worker holds: stores results, decides retries, and with the last one out closes the stage and opens the next.
-- claims: [{c, g: stage, a: attempt}] of everything named. Completed tasks come as columns, because that is read twice as fast
-- as rows: done_claims, done_ordinals, done_ms, and results as one JSON array of the same length; what few tasks have besides
-- comes in extras: [{i: position from 1, n: next_stage_params, s: spill, v: deliverables}]. failed: [{c, o, d, category, code, message,
-- retry_after_s, detail, retry: what its handler says of another attempt}]; logs: the last lines of these tasks. What the worker no longer holds, or holds under a claim it did
-- not name, is refused and recorded, never an error.
-- Lock order: claims, stage_progress, jobs, each ascending; the progress row is the last thing written before a stage closes.
create or replace function app.finish(
  worker uuid, claims json, done_claims bigint[], done_ordinals bigint[], done_ms integer[], results jsonb,
  extras json default '[]', failed json default '[]', logs json default '[]')
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_ids bigint[] := array(select x.c from json_to_recordset(claims) as x(c bigint) order by x.c);
  v_given integer := cardinality(done_ordinals);
  v_claims bigint[];
  v_stages bigint[];
  v_counts bigint[];
  v_ranges int8multirange[];
  v_stored bigint := 0;
  v_failed_stages bigint[] := '{}'::bigint[];
  v_plans bigint[] := '{}'::bigint[];
  v_retries bigint[] := '{}'::bigint[];
  v_refused jsonb := '[]'::jsonb;
  v_repeated jsonb := '[]'::jsonb;
  v_advanced boolean := false;
begin
  if v_given <> cardinality(done_claims) or v_given <> cardinality(done_ms) or v_given <> jsonb_array_length(results) then
    raise exception 'the columns of finished tasks differ in length' using errcode = 'FF002';
  end if;
  perform app.assert_my_worker(worker);
  if not app.is_server() then
    perform app.refuse_wild_numbers(results), app.refuse_wild_numbers(extras::jsonb), app.refuse_wild_numbers(failed::jsonb),
      app.refuse_wild_numbers(logs::jsonb);
  end if;
  -- "is not distinct from", because the index on worker_id must never be the way in: it leads past all the worker holds. And of
  -- the stage it names: after a crash of the server a number it forgot can come again, for other tasks.
  v_ids := array(
    select k.claim_id from app.claims k
     where k.claim_id = any (v_ids) and k.worker_id is not distinct from worker
       and k.stage_id = any (array(select x.g from json_to_recordset(claims) as x(g bigint)))
     order by k.claim_id for update);
  if json_array_length(logs) > 0 then
    perform app.store_logs(worker, logs);
  end if;

  if v_given > 0 then
    if json_array_length(extras) > 0 then
      perform app.refuse_foreign_spills(done_claims, extras);
    end if;
    if cardinality(v_ids) = 1 and v_ids[1] = all (done_claims) then
      select t.claims, t.stages, t.counts, t.ranges, t.stored into v_claims, v_stages, v_counts, v_ranges, v_stored
        from app.store_of_one_claim(worker, v_ids[1], done_ordinals, done_ms, results, extras) t;
    else
      select t.claims, t.stages, t.counts, t.ranges, t.stored into v_claims, v_stages, v_counts, v_ranges, v_stored
        from app.store_of_many_claims(worker, v_ids, done_claims, done_ordinals, done_ms, results, extras) t;
    end if;
    if v_given > v_stored then
      v_refused := app.refuse_late(worker, claims, (
        select json_agg(json_build_object('c', i.c, 'o', i.o, 'd', i.d)) from unnest(done_claims, done_ordinals, done_ms) as i(c, o, d)));
    end if;
    if v_claims is not null then
      perform app.let_go(v_claims, v_ranges);
    end if;
  end if;

  if json_array_length(failed) > 0 then
    v_refused := v_refused || app.refuse_late(worker, claims, failed);
    select t.stages, t.plans, t.retries into v_failed_stages, v_plans, v_retries from app.fail_tasks(worker, v_ids, failed) t;
  end if;

  v_advanced := app.settle(v_stages, v_counts, v_failed_stages, v_plans, worker);
  if v_refused <> '[]' then
    v_repeated := jsonb_path_query_array(v_refused, 'strict $[*] ? (@[2] == "repeated")');
    v_refused := jsonb_path_query_array(v_refused, 'strict $[*] ? (@[2] != "repeated")');
  end if;
  return json_build_object(
    'accepted', v_stored + cardinality(v_retries) / 2 + cardinality(v_failed_stages) + cardinality(v_plans),
    'refused', v_refused, 'repeated', v_repeated, 'retried', cardinality(v_retries) / 2, 'retries', array_to_json(v_retries), 'advanced', v_advanced);
end $$;
grant execute on function app.finish(uuid, json, bigint[], bigint[], integer[], jsonb, json, json, json) to fanfold_worker, fanfold_admin;
