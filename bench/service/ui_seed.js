// @ts-check
// A database as years of use leave it: a million jobs, each with a stage, its ledger, a task and a result, and one job with a stage
// of a hundred thousand tasks that is under way. Rows go into the real tables, set by set and not through the verbs (which would take
// an hour), with foreign keys unchecked; what the verbs would have counted (job_tallies) is counted from the rows, and all is analyzed.

/** Shares of a thousand; the newest of all are the open ones. */
const STATUSES = [
  ["completed", 930],
  ["failed", 40],
  ["partial_success", 20],
  ["cancelled", 10],
];
const OPEN = 2_000;
const RUNNING = 300;
export const WIDE = 100_000;

/** @param {import("postgres").Sql} sql superuser, in the database @param {string} tenant @param {number} n
 * @param {(line: string) => void} say */
export async function seed(sql, tenant, n, say) {
  const began = performance.now();
  const step = async (/** @type {string} */ what, /** @type {string} */ text) => {
    const at = performance.now();
    await sql.unsafe(text.replaceAll("$tenant", `'${tenant}'`).replaceAll("$n", String(n)));
    say(`  ${what}: ${((performance.now() - at) / 1000).toFixed(1)} s`);
  };
  await sql.unsafe(
    "set session_replication_role = replica; set synchronous_commit = off; set maintenance_work_mem = '256MB'",
  );
  await step(
    "blueprint and worker",
    `
    insert into app.blueprints (tenant_id, blueprint_hash, job_type, blueprint) values ($tenant, 'seed', 'seed', '{"type": "seed", "stages": []}');
    insert into app.workers (worker_id, types, slots, lease_s, host, pid, version)
    select md5(w::text)::uuid, '{seed.task}', 100, 3600, 'seed-' || w, w, '0.0.0' from generate_series(1, 20) w`,
  );
  const status = STATUSES.reduceRight((rest, [name], i) => {
    const below = STATUSES.slice(0, i + 1).reduce((sum, [, share]) => sum + Number(share), 0);
    return `case when hashint4(n) & 1023 < ${Math.round((below * 1024) / 1000)} then '${name}' else ${rest} end`;
  }, "'completed'");
  await step(
    "jobs",
    `
    insert into app.jobs (tenant_id, job_id, content_hash, job_type, blueprint_hash, status, priority, parameters, labels, correlation_id,
      group_id, created_at, started_at, finished_at, error)
    select $tenant, encode(sha256(('job' || n)::bytea), 'hex'), encode(sha256(('content' || n)::bytea), 'hex'),
      'type_' || lpad((hashint4(n + 7) & 15)::text, 2, '0'), 'seed', s.status::app.job_status, 0, jsonb_build_object('n', n, 'region', 'r' || n % 97),
      jsonb_build_object('team', (array['hydro', 'forest', 'ocean', 'urban'])[1 + n % 4], 'region', 'r' || n % 97),
      case when n % 50 = 0 then 'order-' || n end, case when n % 100 = 0 then 'night-' || n / 10000 end, t.at, t.at + interval '2 s',
      case when s.status not in ('queued', 'processing') then t.at + (5 + n % 600) * interval '1 s' end,
      case when s.status in ('failed', 'partial_success') then jsonb_build_object('code', (array['timeout', 'unreadable', 'no_space'])[1 + n % 3],
        'message', (array['timed out after 30 s while reading tile ', 'cannot read header of scene ', 'no space left for '])[1 + n % 3] || n)
        when s.status = 'cancelled' then '{"code": "cancelled", "message": "cancelled on request"}' end
      from generate_series(1, $n) n
      cross join lateral (select now() - ($n - n) * interval '7.8 s' - interval '1 min' as at) t
      cross join lateral (select case when n > $n - ${RUNNING} then 'processing' when n > $n - ${OPEN} then 'queued' else ${status} end as status) s`,
  );
  await step(
    "stages",
    `
    insert into app.stages (tenant_id, job_id, number, name, task_type, status, total, opened_at, closed_at)
    select j.tenant_id, j.job_id, 1, 'process', 'seed.task', case j.status when 'queued' then 'processing' when 'processing' then 'processing' else j.status::text end::app.stage_status,
      1, j.created_at, j.finished_at
      from app.jobs j where j.tenant_id = $tenant order by j.created_at`,
  );
  await step(
    "ledgers",
    `
    insert into app.stage_progress (stage_id, tenant_id, total, completed, failed, remaining, is_open)
    select s.stage_id, s.tenant_id, 1, (s.status = 'completed')::int, (s.status in ('failed', 'partial_success'))::int,
      (s.status not in ('completed', 'failed', 'partial_success'))::int, s.closed_at is null
      from app.stages s where s.tenant_id = $tenant`,
  );
  await step(
    "tasks",
    `
    insert into app.tasks (stage_id, ordinal, created_at, tenant_id, parameters)
    select s.stage_id, 0, s.opened_at, s.tenant_id, '{"tile": 1}' from app.stages s where s.tenant_id = $tenant`,
  );
  await step(
    "results",
    `
    insert into app.results (stage_id, ordinal, finished_at, duration_ms, status, worker_id, tenant_id, result, error)
    select s.stage_id, 0, s.closed_at, 5000, case when s.status = 'completed' then 'completed' else 'failed' end::app.task_status,
      md5((1 + s.stage_id % 20)::text)::uuid, s.tenant_id, case when s.status = 'completed' then '{"ok": true}'::jsonb end,
      case when s.status <> 'completed' then '{"category": "transient", "code": "timeout", "message": "timed out"}'::jsonb end
      from app.stages s where s.tenant_id = $tenant and s.status in ('completed', 'failed', 'partial_success')`,
  );
  await step(
    "what waits and what runs",
    `
    insert into app.ready (stage_id, lo, hi, tenant_id, task_type)
    select s.stage_id, 0, 1, s.tenant_id, s.task_type from app.stages s join app.jobs j using (tenant_id, job_id)
     where s.tenant_id = $tenant and j.status = 'queued';
    insert into app.claims (stage_id, worker_id, attempt, tenant_id, task_type, held)
    select s.stage_id, md5((1 + s.stage_id % 20)::text)::uuid, 1 + (s.stage_id % 10 = 0)::int, s.tenant_id, s.task_type, '{[0,1)}'
      from app.stages s join app.jobs j using (tenant_id, job_id) where s.tenant_id = $tenant and j.status = 'processing'`,
  );
  await step(
    "events of the newest",
    `
    insert into app.events (at, tenant_id, kind, actor, job_id)
    select j.created_at, j.tenant_id, 'job.submitted', 'seed', j.job_id
      from app.jobs j where j.tenant_id = $tenant order by j.created_at desc limit 100000`,
  );
  await step("the wide stage", wide(tenant));
  await step(
    "tallies",
    `
    insert into app.job_tallies (tenant_id, job_type, status, amount)
    select j.tenant_id, j.job_type, j.status, count(*) from app.jobs j where j.finished_at is not null and j.tenant_id = $tenant group by 1, 2, 3`,
  );
  await step("vacuum and analyze", "vacuum analyze");
  await sql.unsafe("set session_replication_role = origin");
  const [row] = await sql.unsafe("select job_id, stage_id from app.stages where name = 'tiles'");
  const [size] = await sql.unsafe("select pg_size_pretty(pg_database_size(current_database())) as size");
  say(`seeded ${n.toLocaleString("en")} jobs in ${((performance.now() - began) / 1000).toFixed(0)} s, ${size?.size}`);
  return { wide_job_id: /** @type {string} */ (row?.job_id), stage_id: Number(row?.stage_id) };
}

/** Two stages; of the second 70 % are done, some failed and some are tried again, some run. Footprints over Europe. @param {string} tenant */
function wide(tenant) {
  return `
    with job as (
      insert into app.jobs (tenant_id, job_id, content_hash, job_type, blueprint_hash, status, parameters, labels, created_at, started_at)
      values ('${tenant}', encode(sha256('wide'::bytea), 'hex'), 'wide', 'process_raster', 'seed', 'processing',
        '{"region": "europe"}', '{"team": "hydro"}', now() - interval '30 s', now() - interval '29 s')
      returning *
    )
    insert into app.stages (tenant_id, job_id, number, name, task_type, parallelism, status, total, opened_at, closed_at, after, of_number)
    select j.tenant_id, j.job_id, s.number, s.name, 'seed.' || s.name, s.kind::app.parallelism, s.status::app.stage_status, s.total,
        now() - interval '29 s', case when s.status = 'completed' then now() - interval '20 s' end, s.after::integer[], null
      from job j, (values (1, 'header', 'single', 'completed', 1, '{}'), (2, 'tiles', 'fan_out', 'processing', ${WIDE}, '{1}'),
        (3, 'publish', 'fan_in', 'waiting', null, '{2}')) as s(number, name, kind, status, total, after);
    insert into app.stage_progress (stage_id, tenant_id, total, completed, failed, remaining)
    select s.stage_id, s.tenant_id, s.total, case s.number when 1 then 1 else ${WIDE * 0.7 - 500} end, case s.number when 1 then 0 else 500 end,
        case s.number when 1 then 0 else ${WIDE * 0.3} end
      from app.stages s where s.task_type in ('seed.header', 'seed.tiles');
    insert into app.tasks (stage_id, ordinal, tenant_id, index, parameters, bbox)
    select s.stage_id, i, s.tenant_id, 'tile-' || i, jsonb_build_object('x', i % 316, 'y', i / 316),
        array[-10 + (i % 316) * 0.12, 36 + (i / 316) * 0.09, -9.9 + (i % 316) * 0.12, 36.08 + (i / 316) * 0.09]
      from app.stages s, generate_series(0, ${WIDE - 1}) i where s.task_type = 'seed.tiles';
    insert into app.results (stage_id, ordinal, finished_at, duration_ms, attempt, status, worker_id, tenant_id, result, error)
    select s.stage_id, i, now() - interval '20 s' + i * interval '0.2 ms', 200 + (hashint4(i) & 4095), 1 + (i % 37 = 0)::int,
        case when i % 140 = 0 then 'failed' else 'completed' end::app.task_status, md5((1 + i % 20)::text)::uuid, s.tenant_id,
        case when i % 140 <> 0 then jsonb_build_object('bytes', i) end,
        case when i % 140 = 0 then '{"category": "transient", "code": "timeout", "message": "timed out", "signature": "s1"}'::jsonb end
      from app.stages s, generate_series(0, ${WIDE * 0.7 - 1}) i where s.task_type = 'seed.tiles';
    insert into app.attempts (tenant_id, stage_id, ordinal, attempt, outcome, category, code, message, signature, worker_id, duration_ms)
    select s.tenant_id, s.stage_id, i, 1, 'failed', 'transient', 'timeout', 'timed out after 30 s', 's1', md5((1 + i % 20)::text)::uuid, 30000
      from app.stages s, generate_series(0, ${WIDE * 0.7 - 1}) i where s.task_type = 'seed.tiles' and (i % 140 = 0 or i % 37 = 0);
    insert into app.claims (stage_id, worker_id, attempt, tenant_id, task_type, held)
    select s.stage_id, md5(w::text)::uuid, 1, s.tenant_id, s.task_type, int8multirange(int8range(${WIDE * 0.7} + (w - 1) * 100, ${WIDE * 0.7} + w * 100))
      from app.stages s, generate_series(1, 20) w where s.task_type = 'seed.tiles';
    insert into app.ready (stage_id, lo, hi, tenant_id, task_type, attempt, run_at)
    select s.stage_id, ${WIDE * 0.7} + 2000 + i * 10, ${WIDE * 0.7} + 2001 + i * 10, s.tenant_id, s.task_type, 2, now() + interval '1 min'
      from app.stages s, generate_series(0, 99) i where s.task_type = 'seed.tiles';
    insert into app.ready (stage_id, lo, hi, tenant_id, task_type)
    select s.stage_id, ${WIDE * 0.7} + 3000, ${WIDE}, s.tenant_id, s.task_type from app.stages s where s.task_type = 'seed.tiles';
    insert into app.ready (stage_id, lo, hi, tenant_id, task_type)
    select s.stage_id, ${WIDE * 0.7} + 2001 + i * 10, ${WIDE * 0.7} + 2010 + i * 10, s.tenant_id, s.task_type
      from app.stages s, generate_series(0, 99) i where s.task_type = 'seed.tiles'`;
}
