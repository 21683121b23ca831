// @ts-check
// pg-boss at its best, in its two ways of finishing: one result for a whole batch, or one per job. Fan-in through flow().
import { assertCount, inChunks, untilDone } from "./index.js";

/** @typedef {{ batchSize: number, localConcurrency: number, perJobResults: boolean }} Setting */

/** @type {Setting} */
const BATCHES = { batchSize: 5000, localConcurrency: 8, perJobResults: false };
/** @type {Setting} */
const RESULTS = { batchSize: 2000, localConcurrency: 4, perJobResults: true };

/** @type {import("./index.js").Contender} */
export const with_batches = { prepare, open: (url, notes) => openWith(BATCHES, url, notes) };
/** @type {import("./index.js").Contender} */
export const with_results = { prepare, open: (url, notes) => openWith(RESULTS, url, notes) };

/** @param {string} url */
async function prepare(url) {
  const { PgBoss } = await import("pg-boss");
  const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false });
  await boss.start();
  await boss.createQueue("noop");
  for (const name of ["idle", "leaf", "fold"]) await boss.createQueue(name, { notify: true });
  await boss.stop({ graceful: false });
}

/** @param {Setting} setting @param {string} url @param {import("./index.js").Notes} notes
 * @returns {Promise<import("./index.js").Session>} */
async function openWith(setting, url, notes) {
  const { PgBoss } = await import("pg-boss");
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  pool.on("error", () => {});
  /** @type {import("pg-boss").PgBoss | null} */
  let boss = null;
  /** @type {string[]} */
  let queues = [];
  /** @type {string} */
  let created = "noop";
  let fold_id = "";
  let expected = 0;

  // Maintenance is off where a run does not need it; flows are resolved by it, once a second at the fastest.
  /** @param {{ connections: number | null, flows: boolean, notify: boolean }} wanted */
  async function connect({ connections, flows, notify }) {
    const opened = new PgBoss({
      connectionString: url,
      max: connections ?? 10,
      migrate: false,
      schedule: false,
      supervise: flows,
      flowIntervalSeconds: 1,
      useListenNotify: notify,
    });
    opened.on("error", (error) => process.stderr.write(`${error.message ?? error}\n`));
    await opened.start();
    return opened;
  }

  /** @param {{ id: string }[]} jobs */
  const finished = async (jobs) => {
    notes.ran(jobs.length);
    if (setting.perJobResults) return jobs.map(({ id }) => ({ id, status: "completed", output: { ok: true } }));
    return { ok: true };
  };

  /** @param {import("pg-boss").PgBoss} on @param {string} queue @param {object} options @param {(jobs: any[]) => Promise<any>} handler */
  function work(on, queue, options, handler) {
    queues.push(queue);
    return on.work(queue, /** @type {any} */ (options), /** @type {any} */ (handler));
  }

  const producer = () => connect({ connections: 2, flows: false, notify: false });

  return {
    async create({ kind, n }) {
      boss ??= await producer();
      const to_create = boss;
      expected += n;
      if (kind !== "fold") {
        created = "noop";
        await inChunks(n, 1000, 2, (from, to) =>
          to_create.insert(
            "noop",
            Array.from({ length: to - from }, (_, i) => ({ data: { i: from + i } })),
          ),
        );
        return;
      }
      created = "fold";
      const leaves = Array.from({ length: n }, (_, i) => ({ ref: `leaf-${i}`, name: "leaf", data: { i } }));
      const fold = { ref: "fold", name: "fold", data: {}, dependsOn: leaves.map(({ ref }) => ref) };
      const ids = await to_create.flow([...leaves, fold]);
      fold_id = ids.fold ?? "";
    },
    async start({ kind, connections }) {
      queues = [];
      const is_idle = kind === "idle_task";
      const is_fold = kind === "fold";
      // Kept from the warm-up to the run, so that no contender pays for connecting while the clock runs.
      boss ??= await connect({ connections, flows: is_fold, notify: is_idle || is_fold });
      const bulk = {
        ...setting,
        burstWhenBatchFull: true,
        pollingIntervalSeconds: 0.5,
        notifyPollingIntervalSeconds: 0.5,
      };
      if (is_idle) {
        await work(boss, "idle", { batchSize: 1, pollingIntervalSeconds: 0.5 }, async ([job]) =>
          notes.started(job.data.at),
        );
      } else if (is_fold) {
        await work(boss, "leaf", bulk, finished);
        const polling = { pollingIntervalSeconds: 0.5, notifyPollingIntervalSeconds: 0.5 };
        const folder = await work(boss, "fold", polling, async () => notes.ran());
        const waker = boss;
        // The resolver unblocks without a notification: its own event saves the fold the half second of a poll.
        boss.on("flow", () => waker.notifyWorker(folder));
      } else {
        await work(boss, "noop", bulk, finished);
      }
    },
    async stop() {
      for (const queue of queues) await boss?.offWork(queue, { wait: true });
    },
    analyze: async () => {
      await pool.query("analyze");
    },
    settle: () =>
      untilDone(async () => {
        const { rows } = await (created === "fold"
          ? pool.query("select state = 'completed' as done from pgboss.job where name = 'fold' and id = $1", [fold_id])
          : pool.query("select not exists (select from pgboss.job where name = $1 and state < 'completed') as done", [
              created,
            ]));
        return rows[0].done;
      }),
    async verify({ kind }) {
      const name = kind === "fold" ? "leaf" : "noop";
      const { rows } = await pool.query(
        "select count(*)::int as count from pgboss.job where name = $1 and state = 'completed'",
        [name],
      );
      assertCount(rows[0].count, expected, "completed jobs of pg-boss");
    },
    async send() {
      boss ??= await producer();
      await boss.send("idle", { at: String(process.hrtime.bigint()) });
    },
    async close() {
      await boss?.stop({ graceful: false });
      await pool.end();
    },
  };
}
