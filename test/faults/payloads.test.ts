// F19: parameters and results at their limits, a byte beyond, and far beyond.
import { expect } from "vitest";
import type { FanfoldError } from "../../src/core/errors/errors.js";
import { fault } from "./fault.js";
import type { Scene } from "./scene.js";
import { deep, loose_job, manyKeys, ofBytes, sized_job } from "./shapes.js";

const parameter_limit = 262_144;
const spill_from = 1_048_576;

async function rowCounts(scene: Scene): Promise<Record<string, unknown>> {
  const [row] = await scene.db.sql`
    select (select count(*) from app.jobs) as jobs, (select count(*) from app.stages) as stages,
      (select count(*) from app.tasks) as tasks, (select count(*) from app.ready) as ready,
      (select count(*) from app.idempotency_keys) as keys, (select count(*) from app.events) as events`;
  return row!;
}

async function refused(work: Promise<unknown>): Promise<FanfoldError> {
  return work.then(
    () => {
      throw new Error("it was accepted");
    },
    (error: unknown) => error as FanfoldError,
  );
}

fault(
  "F19 parameters of 256 KB, a byte more, 100 MB, a million keys, and 10,000 levels, at every door",
  async (scene) => {
    const { engine, db } = scene;
    const lone = () => engine.enqueue("loose.take", ofBytes(parameter_limit));
    const keyed = () => engine.enqueue("loose.take", ofBytes(parameter_limit), { idempotency_key: "at the limit" });
    // Once before, so that what follows can only add to what is there: the blueprint and the standing stage are kept.
    await engine.submit(loose_job, { first: true });
    await engine.enqueue("loose.take", {});
    const before = await rowCounts(scene);

    const doors: [string, (parameters: Record<string, unknown>) => Promise<unknown>][] = [
      ["submit", (parameters) => engine.submit(loose_job, parameters)],
      ["submit again with resume", (parameters) => engine.submit(loose_job, parameters, { mode: "resume" })],
      ["enqueue", (parameters) => engine.enqueue("loose.take", parameters)],
      ["enqueue with a key", (parameters) => engine.enqueue("loose.take", parameters, { idempotency_key: "k" })],
      [
        "enqueue among others",
        (given) => engine.enqueueMany("loose.take", [{ parameters: {} }, { parameters: given }]),
      ],
    ];
    const sizes: [string, Record<string, unknown>, RegExp][] = [
      ["a byte more", ofBytes(parameter_limit + 1), /262145 bytes of parameters; the limit is 262144/],
      ["100 MB", ofBytes(100 * 1024 * 1024), /104857600 bytes of parameters; the limit is 262144/],
      ["a million keys", manyKeys(1_000_000), /has more than 100000 keys/],
      ["10,000 levels", deep(10_000), /is nested deeper than 100 levels/],
    ];
    for (const [number, [door, knock]] of doors.entries()) {
      // To refuse what is far too large takes a moment, and these two have all there is of checks behind them.
      for (const [size, parameters, says] of number === 0 || number === 2 ? sizes : sizes.slice(0, 1)) {
        const error = await refused(knock(parameters));
        expect([door, size, error.message.slice(0, 2000)]).toEqual([door, size, expect.stringMatching(says)]);
        expect([413, 400]).toContain(error.http_status);
      }
    }
    // The database's own doors, for those who come without this library.
    const text = `{"text": "${"x".repeat(parameter_limit)}"}`;
    const sql_doors = [
      () =>
        db.sql`select app.submit('{"type": "raw", "stages": [{"name": "only", "task": "loose.take"}]}', ${text}::text::jsonb)`,
      () => db.sql`select app.enqueue('loose.take', ${text}::text::jsonb)`,
      () => db.sql`select app.enqueue_alike('loose.take', ${`[${text}]`}::text)`,
    ];
    for (const knock of sql_doors) {
      const { message, code, detail } = (await refused(knock())) as unknown as {
        message: string;
        code: string;
        detail?: string;
      };
      expect(code).toMatch(/^FF00[24]$/);
      expect(`${message} ${detail}`).toMatch(/2621\d\d bytes.* limit is 262144/);
    }
    // Nothing of all that was written, not even a row that waits for ever.
    expect(await rowCounts(scene)).toEqual(before);

    const at_limit = await engine.submit(loose_job, ofBytes(parameter_limit));
    const under = await engine.submit(loose_job, ofBytes(parameter_limit - 1));
    const tasks = [(await lone()).task_id, (await keyed()).task_id];
    // Many small keys: written out with blanks between them they would be beyond the limit.
    tasks.push((await engine.enqueue("loose.take", manyKeys(18_000))).task_id);
    await scene.fleet({ size: 1 });
    const ended = await scene.ended([at_limit.job_id, under.job_id]);
    expect(ended.map(({ status, result }) => [status, (result as { bytes: number }).bytes])).toEqual([
      ["completed", parameter_limit],
      ["completed", parameter_limit - 1],
    ]);
    for (const task_id of tasks) {
      await expect.poll(async () => (await engine.task(task_id)).status, { timeout: 30_000 }).toBe("completed");
    }
  },
);

fault("F19 planned parameters at the limit and a byte more", async (scene) => {
  await scene.fleet({ size: 1 });
  const { job_id } = await scene.engine.submit(sized_job, {
    results: [100],
    parameters: [parameter_limit - 1, parameter_limit],
  });
  const bad = await scene.engine.submit(sized_job, { results: [100], parameters: [100, parameter_limit + 1] });
  const [job, failed] = await scene.ended([job_id, bad.job_id]);
  expect(job!.status).toBe("completed");
  expect(job!.result).toMatchObject({ given: [parameter_limit - 1, parameter_limit] });
  // The plan fails, loudly and at once; nothing of it is left to wait.
  expect([failed!.status, failed!.stages[1]!.status]).toEqual(["failed", "failed"]);
  expect(JSON.stringify(failed!.stages[1]!.error)).toMatch(/p1.*262145 bytes; the limit is 262144/);
});

fault("F19 results of 1 MB, a byte less and a byte more, of 200,000 keys, and too deep", async (scene) => {
  // So many keys may keep the worker's process busy for longer than a short lease lasts, on a slow machine.
  await scene.fleet({ size: 2, options: { lease_s: 60 } });
  const sizes = [spill_from - 1, spill_from, spill_from + 1, 3 * spill_from];
  const { job_id } = await scene.engine.submit(sized_job, { results: sizes, parameters: [100] });
  const many = await scene.engine.submit(sized_job, { results: [0], parameters: [100], odd: "keys" });
  const bad = await scene.engine.submit(sized_job, { results: [100], parameters: [100], odd: "depth" });
  const [job, keys, depth] = await scene.ended([job_id, many.job_id, bad.job_id]);
  expect(job!.status).toBe("completed");
  expect(job!.result).toMatchObject({ bytes: sizes });
  const stored = await scene.db.sql<{ spilled: boolean; bytes: number }>`
    select spill is not null as spilled, (spill ->> 'bytes')::bigint as bytes
      from app.results r join app.stages s using (stage_id)
     where s.name = 'make' and s.job_id = ${job_id} order by r.ordinal`;
  expect(stored).toEqual([
    { spilled: false, bytes: null },
    ...sizes.slice(1).map((bytes) => ({ spilled: true, bytes })),
  ]);
  expect(keys!.status).toBe("completed");
  expect((keys!.result as { bytes: number[] }).bytes[0]).toBeGreaterThan(2 * spill_from);
  expect([depth!.status, depth!.stages[0]!.status]).toEqual(["failed", "failed"]);
  const [task] = (await scene.engine.tasks({ job_id: bad.job_id, stage: "make" })).tasks;
  expect(JSON.stringify(task)).toMatch(/nested deeper than 100 levels/);
  for (const id of [job_id, many.job_id]) expect(await scene.engine.operate.verify(id)).toMatchObject({ ok: true });
});
