-- What a worker has counted since it started, as [[task_type, [counts]], …]. Sent twice, or late, it changes nothing. What is not as
-- it should be is left out: a heartbeat must not fail for it. The caller holds the worker's row.
create or replace function app.store_counts(worker uuid, counts json)
returns void
language plpgsql
as $$
declare
  c_usable constant jsonpath := jsonpath 'strict $[*] ? (@.type() == "array" && @.size() == 2
    && @[0].type() == "string" && @[0] like_regex "^#?[a-z][a-z0-9_.]{0,62}$"
    && @[1].type() == "array" && @[1].size() <= 100 && !exists (@[1][*] ? (@.type() != "number" || @ < 0 || @ > 1e18)))';
  c_own constant text[] := '{#plan}'::text[];
  v_types text[];
begin
  -- Only types that the worker registered for count, so the rows are bounded.
  select (k.types)[1:200] || c_own into v_types from app.workers k where k.worker_id = worker;
  insert into app.work_counts as w (worker_id, task_type, counts)
  select distinct on (c.item ->> 0) worker, c.item ->> 0, array(select n::double precision from jsonb_array_elements_text(c.item -> 1) n)
    from jsonb_path_query(store_counts.counts::jsonb, c_usable, '{}', true) with ordinality as c(item, position)
   where c.item ->> 0 = any (v_types)
   order by c.item ->> 0, c.position
  on conflict (worker_id, task_type) do update
    set counts = array(
      select greatest(n.old, n.new) from unnest(w.counts, excluded.counts) with ordinality as n(old, new, position) order by n.position);
end $$;
