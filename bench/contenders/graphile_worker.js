// @ts-check
// graphile-worker at its best: bulk through its SQL function, a large local queue and batched completions for drains, and
// neither for latency. It keeps no record and no result of a job that is done.
import { assertCount, inChunks, untilDone } from "./index.js";

/** @typedef {import("pg").PoolClient} PoolClient */

process.env.NO_LOG_SUCCESS = "1";

/** @param {string} url */
export async function prepare(url) {
  const { makeWorkerUtils } = await import("graphile-worker");
  const worker = await makeWorkerUtils({ connectionString: url, logger: await silentLogger() });
  await worker.migrate();
  await worker.withPgClient((/** @type {PoolClient} */ client) =>
    client.query("create table fold_counters (fold_id bigint primary key, remaining int not null)"),
  );
  await worker.release();
}

async function silentLogger() {
  const { Logger } = await import("graphile-worker");
  return new Logger(() => () => {});
}

/** @type {import("./index.js").Contender["open"]} */
export async function open(url, notes) {
  const { run } = await import("graphile-worker");
  const { default: pg } = await import("pg");
  const logger = await silentLogger();
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on("error", () => {});
  /** @type {import("graphile-worker").Runner | null} */
  let runner = null;
  /** @type {import("pg").Pool | null} */
  let worker_pool = null;
  let fold_id = 0;

  // Not async: the library takes a plain return, and that is its fastest path.
  /** @type {import("graphile-worker").TaskList} */
  const tasks = {
    noop: () => notes.ran(),
    idle: (payload) => notes.started(/** @type {{ at: string }} */ (payload).at),
    // There is no fan-in: a counter row kept by hand, and whoever brings it to zero adds the fold.
    leaf: async (payload, helpers) => {
      const { fold } = /** @type {{ fold: number }} */ (payload);
      await helpers.query(
        `with counted as (
           update fold_counters set remaining = remaining - 1 where fold_id = $1 returning remaining
         )
         select graphile_worker.add_job('fold', '{}') from counted where remaining = 0`,
        [fold],
      );
      notes.ran();
    },
    fold: () => notes.ran(),
  };

  // The payloads come from the client, as they would in life; the rows are counted there and not sent back.
  /** @param {string} task @param {number} n @param {object} common */
  const addJobs = (task, n, common) =>
    inChunks(n, 1000, 2, (from, to) =>
      pool.query({
        name: "add_jobs",
        text: `select count(*) from graphile_worker.add_jobs(array(
                 select ($1::text, payload, null, null, null, null, null, null)::graphile_worker.job_spec
                 from json_array_elements($2::json) as payload))`,
        values: [task, JSON.stringify(Array.from({ length: to - from }, (_, i) => ({ i: from + i, ...common })))],
      }),
    );

  return {
    async create({ kind, n }) {
      if (kind !== "fold") return addJobs("noop", n, {});
      fold_id += 1;
      await pool.query("insert into fold_counters values ($1, $2)", [fold_id, n]);
      await addJobs("leaf", n, { fold: fold_id });
    },
    async start({ kind, connections }) {
      const low_latency = kind === "idle_task";
      // Kept from the warm-up to the run, so that no contender pays for connecting while the clock runs.
      worker_pool ??= new pg.Pool({ connectionString: url, max: connections ?? 5, idleTimeoutMillis: 0 });
      worker_pool.on("error", () => {});
      runner = await run({
        taskList: tasks,
        logger,
        noHandleSignals: true,
        pgPool: worker_pool,
        preset: {
          worker: {
            ...(low_latency
              ? { concurrentJobs: 1 }
              : {
                  concurrentJobs: 100,
                  localQueue: { size: 5000, refetchDelay: { durationMs: 10 } },
                  completeJobBatchDelay: 0,
                  failJobBatchDelay: 0,
                }),
          },
        },
      });
      runner.promise.catch((error) => process.stderr.write(`${error}\n`));
    },
    async stop() {
      await runner?.stop();
      runner = null;
    },
    // Its table is empty between runs, and the statistics of an empty table would mislead the planner: none are better.
    analyze: async () => {},
    settle: () =>
      untilDone(async () => {
        const { rows } = await pool.query("select exists (select from graphile_worker._private_jobs) as some");
        return !rows[0].some;
      }),
    async verify() {
      const { rows } = await pool.query("select count(*)::int as count from graphile_worker._private_jobs");
      assertCount(rows[0].count, 0, "jobs left in graphile-worker");
    },
    async send() {
      const at = String(process.hrtime.bigint());
      await pool.query("select graphile_worker.add_job('idle', $1::json)", [JSON.stringify({ at })]);
    },
    async close() {
      await runner?.stop();
      await worker_pool?.end();
      await pool.end();
    },
  };
}
