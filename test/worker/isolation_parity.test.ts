// The same handler in the worker's process and in its own comes to the same, to the word.
import { expect, test } from "vitest";
import { defineJob, type Handler } from "../../src/core/declare/declare.js";
import { type IsolatedShop, openIsolated } from "./isolation_shop.js";
import * as twins from "./isolation_twins.js";
import { eventually } from "./shop.js";

/** Everything the database knows about a lone task's first attempt, without what differs by nature. */
async function fateOf({ db }: IsolatedShop, task_id: string): Promise<Record<string, unknown> | undefined> {
  const [stage_id, ordinal] = task_id.split("-");
  // One statement, so one moment: a finish writes to both.
  const [seen] = await db.sql<{
    done: Record<string, unknown> | null;
    failed: { detail: Record<string, unknown> | null } | null;
  }>`
    select (
        select to_json(d) from (
          select status, result, next_stage_params, error - 'signature' as error, spill ->> 'bytes' as bytes, spill ->> 'sha256' as sha256
            from app.results where stage_id = ${stage_id!}::bigint and ordinal = ${ordinal!}::bigint) d) as done,
      (
        select to_json(f) from (
          select outcome, category, code, message, detail, retry_at > now() + interval '1 minute' as waits
            from app.attempts where stage_id = ${stage_id!}::bigint and ordinal = ${ordinal!}::bigint) f) as failed`;
  const { done, failed } = seen!;
  if (done === null && failed === null) return undefined;
  const { stack, ...detail } = failed?.detail ?? {};
  const fate = { ...done, failed: failed && { ...failed, detail, has_stack: typeof stack } };
  return JSON.parse(JSON.stringify(fate).replaceAll(/\.(inside|outside)\b/g, ""));
}

async function compare(shop: IsolatedShop, inside: Handler, outside: Handler, cases: Record<string, object>) {
  const names = Object.keys(cases);
  const items = names.map((name) => ({ parameters: { ...cases[name] }, max_attempts: 1 }));
  // What the schema refuses at once would not get so far.
  const loose = await shop.otherEngine({});
  const here = await loose.enqueueMany(inside.name, items);
  const there = await loose.enqueueMany(outside.name, items);
  const fates: Record<string, unknown>[] = [];
  for (const { task_ids } of [here, there]) {
    const found: Record<string, unknown> = {};
    for (const [at, name] of names.entries()) {
      await eventually(async () => {
        found[name] = await fateOf(shop, task_ids[at]!);
        return found[name] !== undefined;
      });
    }
    fates.push(found);
  }
  expect(fates[1]).toEqual(fates[0]);
  return fates[0]!;
}

test("what a handler returns, throws or does with ctx comes to the same in its own process", async () => {
  const shop = await openIsolated([twins.inside, twins.outside]);
  await shop.db.script("create table public.once (n int primary key); grant all on public.once to public");
  await shop.start({ slots: 4 });
  const cases = Object.fromEntries(Object.keys(twins.bodies).map((body) => [body, { body }]));
  const fates = await compare(shop, twins.inside, twins.outside, cases);
  expect(fates).toMatchObject({
    returns_nan: { failed: { category: "contract", message: expect.stringContaining("$.a[1]") } },
    returns_spilled: { status: "completed", sha256: expect.any(String) },
    throws_throttled: { failed: { category: "throttled", code: "quota", waits: true } },
    throws_permanent: { failed: { category: "permanent", code: "bad_tile" } },
    db: { result: [{ n: 7, t: "a", b: true }] },
    db_tenant: { result: [{ tenant: "default" }] },
    db_unique: { failed: { code: "sqlstate_23505" } },
    storage: { status: "completed" },
    settings: { result: { raster: { engine: "auto", source_cache: { dir: expect.stringMatching(/sources$/) } } } },
  });
});

test("parameters are checked by the handler's schema in its own process as in the worker's", async () => {
  const shop = await openIsolated([
    twins.strict_inside,
    twins.strict_outside,
    twins.patient_inside,
    twins.patient_outside,
  ]);
  await shop.start({ slots: 2 });
  const strict = await compare(shop, twins.strict_inside, twins.strict_outside, {
    good: { n: 1, at: "2024-01-01T00:00:00Z" },
    bad: { n: 1.5 },
    none: {},
  });
  expect(strict).toMatchObject({
    good: { result: { n: 1, is_date: true } },
    bad: { failed: { category: "contract", message: expect.stringContaining("$.n") } },
  });
  await compare(shop, twins.patient_inside, twins.patient_outside, { good: { n: 1 }, bad: { n: 0 } });
});

test("results of the stages before are read through the worker, spilled ones too", async () => {
  const jobs = ["inside", "outside"].map((where) =>
    defineJob({
      type: `walk_${where}`,
      stages: [
        { name: "tiles", task: `maketile.${where}`, tasks: { count: 3, index: "t{ordinal}" } },
        { name: "read", task: `readtile.${where}`, parallelism: "match_previous" },
        { name: "fold", task: `foldtiles.${where}`, parallelism: "fan_in", after: ["tiles", "read"], of: "read" },
      ],
    }),
  );
  const shop = await openIsolated(twins.stages, jobs);
  await shop.start({ slots: 3 });
  const [inside, outside] = await Promise.all(
    jobs.map(async ({ type }) => shop.engine.wait((await shop.engine.submit(type, {})).job_id)),
  );
  expect(inside!.status).toBe("completed");
  expect(outside!.result).toEqual(inside!.result);
  expect(outside!.result).toMatchObject({ count: 3, tiles: [7, 1_100_011, 7] });
});
