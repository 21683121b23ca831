// @ts-check
// Fanfold through its public API: enqueueMany and submitMany in chunks, startWorker for everything that runs. Record and
// result of every task are kept. The few lines of SQL only ask whether all is done.
import { createRegistry, defineHandler, defineJob, openEngine, startWorker } from "../../dist/index.js";
import { assertCount, inChunks, untilDone } from "./index.js";

const RESULT = { ok: true };
/** As many as the engine puts into one call. */
const TASKS = { chunk: 5000, at_once: 2 };
const JOBS = { chunk: 1000, at_once: 2 };
const SINGLE_CALLERS = 16;
/** Beside those for claims and finishes a worker has one for its heartbeat and one for LISTEN. */
const OTHER_CONNECTIONS = 2;
/** As many as graphile-worker's best pool has; three of them carry claims and finishes, as in the hand-written loop. */
const BEST_CONNECTIONS = 5;

/** @param {import("./index.js").Notes} notes */
function registryFor(notes) {
  return createRegistry({
    handlers: [
      defineHandler("bench.noop", {}, () => {
        notes.ran();
        return RESULT;
      }),
      defineHandler("bench.idle", {}, ({ at }) => notes.started(at)),
      defineHandler("bench.plan", {}, ({ n }) => ({ n })),
      defineHandler("bench.leaf", {}, ({ i }) => {
        notes.ran();
        return { i };
      }),
      defineHandler("bench.fold", {}, async (_, { previous }) => {
        let sum = 0;
        for await (const page of previous.results()) for (const { result } of page) sum += result.i;
        notes.ran();
        return { sum };
      }),
    ],
    jobs: [
      defineJob({
        type: "bench_wide",
        stages: [{ name: "all", task: "bench.noop", tasks: { count: "{parameters.n}" } }],
      }),
      defineJob({
        type: "bench_tiny",
        stages: [
          { name: "first", task: "bench.noop" },
          { name: "second", task: "bench.noop" },
        ],
      }),
      defineJob({ type: "bench_idle", stages: [{ name: "only", task: "bench.idle" }] }),
      defineJob({
        type: "bench_fold",
        stages: [
          { name: "plan", task: "bench.plan" },
          {
            name: "leaves",
            task: "bench.leaf",
            parallelism: "fan_out",
            tasks: async ({ previous }) => {
              const { n } = await previous.one();
              return Array.from({ length: n }, (_, i) => ({ parameters: { i } }));
            },
          },
          { name: "fold", task: "bench.fold", parallelism: "fan_in" },
        ],
      }),
    ],
  });
}

/** @param {string} url */
export async function prepare(url) {
  const engine = await openEngine({
    database_url: url,
    registry: registryFor({ ran() {}, started() {} }),
    migrate: true,
  });
  await engine.close();
}

/** @type {import("./index.js").Contender["open"]} */
export async function open(url, notes) {
  const engine = await openEngine({ database_url: url, registry: registryFor(notes), connections: SINGLE_CALLERS });
  /** @type {import("../../dist/index.js").Worker | null} */
  let worker = null;
  let job_id = "";
  let last_n = 0;
  let created = 0;
  /** @type {number | null} */
  let stored_before = null;

  /** @param {number} from @param {number} to */
  const numbered = (from, to) => Array.from({ length: to - from }, (_, i) => ({ parameters: { i: from + i } }));

  /** @type {Record<string, (n: number) => Promise<unknown>>} */
  const creating = {
    lone: (n) =>
      inChunks(n, TASKS.chunk, TASKS.at_once, (from, to) => engine.enqueueMany("bench.noop", numbered(from, to))),
    lone_single: (n) => inChunks(n, 1, SINGLE_CALLERS, (from) => engine.enqueue("bench.noop", { i: from })),
    // A stage this wide is planned by a worker: here by one that does nothing else, so that the drain starts with it full.
    wide: async (n) => {
      worker ??= await startWorker(engine, { types: ["#plan", "#plan:bench_wide"] });
      ({ job_id } = await engine.submit("bench_wide", { n, at: String(process.hrtime.bigint()) }));
      await untilDone(async () => (await engine.status(job_id)).stages[0]?.total === n);
    },
    tiny: (n) =>
      inChunks(n, JOBS.chunk, JOBS.at_once, (from, to) =>
        engine.submitMany("bench_tiny", numbered(created + from, created + to)),
      ),
    fold: async (n) => {
      ({ job_id } = await engine.submit("bench_fold", { n, at: String(process.hrtime.bigint()) }));
    },
  };

  async function storedLoneResults() {
    // By key, so that asking does not show as a sequential scan where the absence of those is to be proven.
    return engine.db.transaction(async (tx) => {
      await tx.script("set local enable_seqscan = off");
      const [row] = await tx.sql`
        select count(*)::int as count from app.results
        where stage_id in (select stage_id from app.stages where job_id is null)`;
      return Number(row?.count);
    });
  }

  return {
    async create({ kind, n }) {
      if (kind.startsWith("lone")) stored_before ??= await storedLoneResults();
      await creating[kind]?.(n);
      last_n = n;
      created += n;
    },
    async start({ connections }) {
      const all = connections ?? BEST_CONNECTIONS;
      worker = await startWorker(engine, { connections: Math.max(1, all - OTHER_CONNECTIONS) });
    },
    async stop() {
      await worker?.stop();
      worker = null;
    },
    analyze: () => engine.db.script("analyze"),
    settle: ({ kind }) =>
      untilDone(async () => {
        const [row] =
          kind === "wide" || kind === "fold"
            ? await engine.db
                .sql`select finished_at is not null as done from app.jobs where tenant_id = ${engine.tenant} and job_id = ${job_id}`
            : await engine.db.sql`
                select not exists (select from app.ready) and not exists (select from app.claims) as done`;
        return row?.done === true;
      }),
    async verify({ kind }) {
      if (kind.startsWith("lone")) {
        assertCount((await storedLoneResults()) - (stored_before ?? 0), created, "results of lone tasks");
      } else if (kind === "tiny") {
        const [row] = await engine.db.sql`select count(*)::int as count from app.jobs where status = 'completed'`;
        assertCount(Number(row?.count), created, "completed jobs");
      } else {
        const { status, stages, result } = await engine.status(job_id);
        if (status !== "completed") throw new Error(`the job is ${status}`);
        const stage = stages.find(({ name }) => name === (kind === "wide" ? "all" : "leaves"));
        assertCount(Number(stage?.completed), last_n, "completed tasks");
        if (kind === "fold") assertCount(Number(Object(result).sum), (last_n * (last_n - 1)) / 2, "the fold");
      }
    },
    async send({ kind }) {
      const at = String(process.hrtime.bigint());
      await (kind === "idle_job" ? engine.submit("bench_idle", { at }) : engine.enqueue("bench.idle", { at }));
    },
    async close() {
      await worker?.stop();
      await engine.close();
    },
  };
}
