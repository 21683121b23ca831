// The worker's verbs over HTTP. Whatever a worker names, it acts for the tenant of its key.
import { performance } from "node:perf_hooks";
import { work_api } from "../../core/api/work.js";
import type { RemoteWork } from "../../engine/work/remote_work.js";
import { type Call, routes } from "../http/route.js";

/** A hint may be lost: whoever waits looks this often all the same. */
const LOOK_MS = 1_000;

export const workRoutes = () =>
  routes(work_api, {
    async register({ engine, body }) {
      const { worker_id, lease_s } = await engine.work.register(body);
      return { worker_id, lease_s, heartbeat_s: lease_s / 3 };
    },
    heartbeat: ({ engine, params, body }) => engine.work.heartbeat(params.worker_id, body),
    claim: (call) => claim(call),
    finish: ({ engine, params, body }) => engine.work.finish(params.worker_id, body.tasks, body.logs),
    release: ({ engine, params, body }) => engine.work.release(params.worker_id, body.tasks),
    logs: ({ engine, params, body }) => engine.work.writeLogs(params.worker_id, body.lines),
    results: ({ engine, params, query }) => engine.work.results(params.worker_id, query),
    async predecessor({ engine, params, query }) {
      return { predecessor: await engine.work.predecessor(params.worker_id, query.task_id) };
    },
    stop: ({ engine, params }) => engine.work.stop(params.worker_id),
  });

type Claimed = Awaited<ReturnType<RemoteWork["claim"]>>;

/** Finding nothing, the worker is written idle, so that hints are sent, and looks once more before it waits. */
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
  let types: ReadonlySet<string> | null = null;
  for (;;) {
    const before = service.work_signal.now();
    const found = await work.claim(worker_id, body);
    if (found.tasks.length > 0) {
      // Nobody is there any more to be told: they go to others now, and not after a third of a lease.
      const back = found.tasks.map(({ task_id, claim_id }) => ({ task_id, claim_id, started: false }));
      if (signal.aborted) await work.release(worker_id, back);
      else if (found.tasks.length >= body.limit && types === null) await work.setIdle(worker_id, false);
      return found;
    }
    const left_ms = until - performance.now();
    if (left_ms <= 0 || over.aborted) return found;
    if (types !== null) await service.work_signal.wait(types, before, Math.min(left_ms, LOOK_MS), over);
    else {
      await service.work_signal.listen();
      await work.setIdle(worker_id, true);
      types = await work.typesOf(worker_id);
    }
  }
}
