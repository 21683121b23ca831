// 10,000 requests of three jobs of one task each, by two workers: none is stuck, none is lost, nothing runs twice. FANFOLD_TEST_REQUESTS says
// another number.
import { expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { defineRecipe } from "../../src/core/declare/recipe.js";
import { openService } from "../server/service.js";

const count = Number(process.env.FANFOLD_TEST_REQUESTS || 10_000);
const names = ["validate", "process", "publish"];

test(`${count} requests of three jobs`, { timeout: 3_600_000 }, async () => {
  const runs = new Map<string, number>();
  const service = await openService({
    jobs: names.map((name) => defineJob({ type: `soak_${name}`, stages: [{ name: "only", task: "t.soak" }] })),
    handlers: [
      defineHandler("t.soak", {}, (_, ctx) => {
        const name = `${ctx.job!.parameters.dataset} ${ctx.job!.job_type}`;
        runs.set(name, (runs.get(name) ?? 0) + 1);
        return { name };
      }),
    ],
    recipes: [
      defineRecipe({
        data_type: "soak",
        jobs: names.map((name) => ({ name, job: `soak_${name}`, parameters: { dataset: "{request.dataset_id}" } })),
      }),
    ],
  });
  try {
    for (let n = 0; n < 2; n++) await service.worker({ slots: 8 });
    const began = performance.now();
    let next = 0;
    const caller = async () => {
      while (next < count)
        await service.engine.requests.submit({
          dataset_id: `d${next++}`,
          resource_id: "r",
          version_id: "1",
          data_type: "soak",
        });
    };
    await Promise.all([caller(), caller(), caller(), caller()]);
    const ended = async () =>
      (
        await service.db.sql<{ status: string; n: number }>`
          select status, count(*)::int as n from platform.requests group by 1 order by 1`
      ).map(({ status, n }) => [status, n]);
    await expect.poll(ended, { timeout: 3_000_000, interval: 250 }).toEqual([["completed", count]]);
    const seconds = (performance.now() - began) / 1000;
    process.stdout.write(`[requests] ${count} in ${seconds.toFixed(1)} s, ${(count / seconds).toFixed(0)}/s\n`);
    expect(runs.size).toBe(3 * count);
    expect([...runs.values()].filter((times) => times !== 1)).toEqual([]);
    const [rows] = await service.db.sql<Record<string, number>>`
      select (select count(*)::int from app.jobs where request_id is not null and status = 'completed') as jobs,
        (select count(*)::int from app.results) as results, (select count(*)::int from app.ready) as ready,
        (select count(*)::int from app.claims) as claims,
        (select count(*)::int from app.events where kind = 'request.completed') as told`;
    expect(rows).toEqual({ jobs: 3 * count, results: 3 * count, ready: 0, claims: 0, told: count });
  } finally {
    await service.close();
  }
});
