-- Settles idempotency keys. Returns the ordinal of each task, negative when the key's task exists already (a repeat).
-- The rows go in by ascending key, so that two calls with the same keys wait for each other in one direction.
create or replace function app.claim_keys(tenant text, type text, stage bigint, tasks json, ordinals bigint[])
returns bigint[]
language plpgsql
as $$
declare
  v_conflict text;
  v_ids bigint[];
begin
  insert into app.idempotency_keys (tenant_id, task_type, key_hash, body_hash, stage_id, ordinal)
  select distinct on (k.key_hash) tenant, type, k.key_hash, k.body_hash, stage, k.ordinal
    from (
      select sha256(convert_to(t.key, 'UTF8')) as key_hash, app.body_hash(t.parameters, t.run_at, t.priority, t.max_attempts, t.metadata, t.retry) as body_hash,
        ordinals[t.position] as ordinal, t.position
        from rows from (json_to_recordset(tasks) as (parameters text, key text, run_at timestamptz, priority text, max_attempts text, metadata jsonb, retry jsonb))
          with ordinality as t(parameters, key, run_at, priority, max_attempts, metadata, retry, position)
       where t.key is not null
    ) k
   order by k.key_hash, k.position
  on conflict do nothing;

  select array_agg(case when k.ordinal is null or (k.stage_id = stage and k.ordinal = g.ordinal) then g.ordinal else -k.ordinal end order by g.position),
      min(g.key) filter (where k.body_hash <> g.body_hash)
    into v_ids, v_conflict
    from (
      select t.key, t.position, ordinals[t.position] as ordinal, sha256(convert_to(t.key, 'UTF8')) as key_hash,
        app.body_hash(t.parameters, t.run_at, t.priority, t.max_attempts, t.metadata, t.retry) as body_hash
        from rows from (json_to_recordset(tasks) as (parameters text, key text, run_at timestamptz, priority text, max_attempts text, metadata jsonb, retry jsonb))
          with ordinality as t(parameters, key, run_at, priority, max_attempts, metadata, retry, position)
    ) g
    left join app.idempotency_keys k on k.tenant_id = tenant and k.task_type = type and k.key_hash = g.key_hash;
  if v_conflict is not null then
    raise exception 'the idempotency key "%" was used for another body', left(v_conflict, 80)
      using errcode = 'FF003', hint = 'use a new key for new content, or repeat the call exactly';
  end if;
  return v_ids;
end $$;
