// The worker's verbs over HTTP. Whatever a worker names, it acts for the tenant of its key.
import { performance } from "node:perf_hooks";
import { protocol_document, protocol_version } from "../../core/api/work/protocol.js";
import { work_api } from "../../core/api/work.js";
import { Unavailable } from "../../core/errors/errors.js";
import type { RemoteLook, RemoteWork, Turn } from "../../engine/work/remote_work.js";
import { sendZoneFile } from "../files/worker_files.js";
import { type Call, routes } from "../http/route.js";
import { sendFile } from "./assets.js";

/** A hint may be lost: a caller who waits looks this often all the same. */
const LOOK_MS = 1_000;

export const workRoutes = () =>
  routes(work_api, {
    protocol: async ({ reply }) => {
      reply.header("cache-control", "public, max-age=60");
      return protocol_document;
    },
    async register({ engine, body }) {
      const { worker_id, lease_s } = await engine.work.register(body);
      return { worker_id, lease_s, heartbeat_s: lease_s / 3, protocol: protocol_version };
    },
    heartbeat: ({ engine, params, body }) => engine.work.heartbeat(params.worker_id, body),
    claim: (call) => claim(call),
    finish: (call) => finish(call),
    plan: ({ engine, params, body }) => engine.work.plans.page(params.worker_id, body),
    plan_done: ({ engine, params, body }) => engine.work.plans.done(params.worker_id, body),
    new_file: ({ engine, params, body }) => engine.work.files.begin(params.worker_id, body),
    arrived: ({ engine, params, query }) => engine.work.files.arrived(params.worker_id, query),
    list_files: ({ engine, params, query }) => engine.work.files.list(params.worker_id, query),
    async stat_file({ engine, params, query }) {
      return { stat: await engine.work.files.stat(params.worker_id, query) };
    },
    async read_file({ engine, params, query, request, reply }) {
      const store = await engine.work.files.opened(params.worker_id, query);
      await sendZoneFile(store, query, request, reply);
    },
    release: ({ engine, params, body }) => engine.work.release(params.worker_id, body.tasks),
    logs: ({ engine, params, body }) => engine.work.writeLogs(params.worker_id, body.lines),
    results: ({ engine, params, query }) => engine.work.results.page(params.worker_id, query),
    async spilled({ engine, params, query, request, reply }) {
      const ref = await engine.work.results.spilled(params.worker_id, query);
      await sendFile(engine, { name: "result.json", media_type: "application/json", ref }, request, reply);
    },
    async predecessor({ engine, params, query }) {
      return { predecessor: await engine.work.results.predecessor(params.worker_id, query.task_id) };
    },
    stop: ({ engine, params }) => engine.work.stop(params.worker_id),
  });

/** The tasks are finished whatever becomes of the claim: what goes wrong with that is told by the next. */
async function finish({ engine, params, body, signal, service }: Call<typeof work_api.finish>) {
  const { worker_id } = params;
  const { work, log } = engine;
  const told = await work.finish(worker_id, body.tasks, body.logs, () => service.catalogs.of(engine));
  if (body.claim === undefined || signal.aborted || service.stopping.aborted) return { ...told, claim: null };
  const claim = await work.claim(worker_id, body.claim).catch((error: unknown) => {
    log.warn({ err: error, worker_id }, "a finish was taken, and the claim it came with was not");
    return null;
  });
  if (claim !== null && signal.aborted) await giveBack(work, worker_id, claim);
  return { ...told, claim };
}

type Claimed = Awaited<ReturnType<RemoteWork["claim"]>>;

/**
 * Finding nothing, the worker is written idle, so that hints are sent, and looks once more before it waits. One that was idle waits at once,
 * and so does one of a server that hears no hints.
 */
async function claim(call: Call<typeof work_api.claim>): Promise<Claimed> {
  const { signal, service, place, body } = call;
  if (body.wait_s > 0) place.wait();
  const over = new AbortController();
  const end = () => over.abort();
  for (const one of [signal, service.stopping]) one.addEventListener("abort", end, { once: true });
  try {
    return await claimUntil(call, over.signal);
  } finally {
    for (const one of [signal, service.stopping]) one.removeEventListener("abort", end);
  }
}

async function claimUntil(call: Call<typeof work_api.claim>, over: AbortSignal): Promise<Claimed> {
  const { engine, service, params, body, signal } = call;
  const { worker_id } = params;
  const { work } = engine;
  const until = performance.now() + body.wait_s * 1000;
  const turn: Turn = (look) => service.claims.within(engine.tenant, over, look);
  let hint: string | null = null;
  let is_idle = false;
  for (;;) {
    const heard = service.work_signal.hears;
    const before = service.work_signal.now();
    const hinted = hint;
    const look = async (): Promise<RemoteLook> =>
      hinted === null
        ? await work.look(worker_id, body, turn)
        : { claim: await work.claimHinted(worker_id, hinted, body, turn), may_wait: false };
    // A server that stops lets no worker wait for its turn.
    const looked = await look().catch((error: unknown): RemoteLook => {
      if (!service.stopping.aborted || !(error instanceof Unavailable)) throw error;
      return { claim: { tasks: [], stages: [] }, may_wait: false };
    });
    const found = looked.claim;
    hint = null;
    if (found.tasks.length > 0) {
      if (signal.aborted) await giveBack(work, worker_id, found);
      return found;
    }
    const left_ms = until - performance.now();
    if (left_ms <= 0 || over.aborted) return found;
    // Another worker that was woken was quicker: a look at everything decides whether to wait.
    if (hinted !== null) continue;
    await service.work_signal.listen();
    // Where nothing is heard, nobody need be told: the signal looks by itself, and what it finds after `before` counts.
    if (is_idle || (heard && looked.may_wait) || !service.work_signal.hears) {
      const types = await work.typesOf(worker_id);
      hint = await service.work_signal.wait(types, before, Math.min(left_ms, LOOK_MS), over);
    } else {
      await work.setIdle(worker_id, true);
      is_idle = true;
    }
  }
}

/** Nobody is there any more to be told: the tasks go to others now, and not after a third of a lease. */
async function giveBack(work: RemoteWork, worker_id: string, { tasks }: Claimed): Promise<void> {
  if (tasks.length === 0) return;
  await work.release(
    worker_id,
    tasks.map(({ task_id, claim_id }) => ({ task_id, claim_id, started: false })),
  );
}
