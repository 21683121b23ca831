// @ts-check
// What the service of the bench can do: nothing, and sleep.
import { setTimeout as sleep } from "node:timers/promises";
import { createRegistry, defineHandler, defineJob, defineRecipe } from "../../dist/index.js";

/** The jobs of a request of the bench, one after the other. */
export const request_jobs = /** @type {const} */ (["bench_validate", "bench_process", "bench_publish"]);

/** @param {(tenant: string, waited_ms: number) => void} [started] */
export function benchRegistry(started = () => {}) {
  return createRegistry({
    handlers: [
      defineHandler("bench.noop", {}, () => ({ ok: true })),
      defineHandler("bench.sleep", {}, async ({ at, ms }, ctx) => {
        // The monotonic clock is the machine's: a moment taken where it was sent can be subtracted here.
        if (at !== undefined) started(ctx.tenant_id, Number(process.hrtime.bigint() - BigInt(at)) / 1e6);
        await sleep(ms);
      }),
    ],
    jobs: [
      defineJob({ type: "bench_one", stages: [{ name: "only", task: "bench.noop" }] }),
      ...request_jobs.map((type) => defineJob({ type, stages: [{ name: "only", task: "bench.noop" }] })),
      defineJob({ type: "bench_hundred", stages: [{ name: "all", task: "bench.noop", tasks: { count: 100 } }] }),
    ],
    recipes: [defineRecipe({ data_type: "three", jobs: request_jobs.map((job) => ({ name: job.slice(6), job })) })],
  });
}
