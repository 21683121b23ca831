// Resume, retry-stage, retry of an error group, and how repair flows downstream: exactly what has another input runs again.
import { expect, test } from "vitest";
import type { Store } from "../../src/core/places/store.js";
import type { Database } from "../../src/engine/database/database.js";
import { Operator } from "../../src/engine/verbs/operator.js";
import { bothDatabases } from "../postgres.js";
import {
  claim,
  drain,
  expectSound,
  type Fate,
  finish,
  type Held,
  register,
  status,
  statuses,
  submit,
} from "./floor.js";

const fails = (code = "boom", message = "made to fail"): Fate => ({ category: "permanent", code, message });
const types = ["t.make", "t.next", "t.fold", "t.end", "t.other"];

/** Ten tasks, one each after them, folds of four, one fold of all. */
const chain = [
  { name: "make", task: "t.make", plan: { count: 10 }, failure_budget: { count: 3 } },
  { name: "next", task: "t.next", parallelism: "match_previous" },
  { name: "fold", task: "t.fold", parallelism: "fan_in", batch: 4 },
  { name: "end", task: "t.end", parallelism: "fan_in" },
];

const names = (ran: Held[]) => ran.map(({ stage, ordinal }) => `${stage} ${ordinal}`).sort();

bothDatabases("repair", (open) => {
  async function floor() {
    const db = (await open()) as Database;
    const worker = await register(db, [], 3600);
    const operate = new Operator(db, "default", {} as Store);
    const run = (fate?: (task: Held) => Fate) => drain(db, worker, types, fate);
    return { db, worker, operate, run };
  }

  test("a job that has not ended is not repaired, and is told why in whole sentences", async () => {
    const { db, operate, run } = await floor();
    const { job_id } = await submit(db, chain);
    const id = job_id.slice(0, 12);
    await expect(operate.retryStage(job_id, "make")).rejects.toMatchObject({
      message: `job ${id} is queued: what has not ended cannot be run again`,
      hint: `follow it: fanfold watch ${id}`,
    });
    await run(({ stage }) => (stage === "make" ? fails() : {}));
    await operate.resume(job_id, { actor: "mara" });
    await expect(operate.retryStage(job_id, "make")).rejects.toThrow(/: mara opened epoch 2 at \d{4}-/);
  });

  test("a partial success resumed runs the failed tasks and, downstream, exactly what covers them", async () => {
    const { db, operate, run } = await floor();
    const { job_id } = await submit(db, chain);
    await run(({ stage, ordinal }) =>
      stage === "make" && [1, 9].includes(ordinal) ? fails() : { result: { ordinal } },
    );
    expect(await statuses(db, job_id)).toEqual([
      "partial_success",
      "partial_success",
      "completed",
      "completed",
      "completed",
    ]);
    expect(await status(db, job_id)).toMatchObject({ resumable: true, resume_from_stage: 1 });
    const plan = await operate.resume(job_id, { dry_run: true });
    expect(plan).toMatchObject({ dry_run: true, changed: false, again: 2, from_stage: 1, epoch: 1 });
    expect(plan.stages.map(({ stage, at_most }) => [stage, at_most])).toEqual([
      ["make", 2],
      ["next", 2],
      ["fold", 2],
      ["end", 1],
    ]);
    expect(await operate.resume(job_id, { reason: "fixed", actor: "ada" })).toMatchObject({
      again: 2,
      kept: 8 + 8 + 3 + 1,
      epoch: 2,
    });
    await expectSound(db);
    expect(names(await run())).toEqual(["end 0", "fold 0", "fold 2", "make 1", "make 9", "next 1", "next 9"]);
    expect(await statuses(db, job_id)).toEqual(["completed", "completed", "completed", "completed", "completed"]);
    expect(await status(db, job_id)).toMatchObject({ epoch: 2, resume_count: 1, resumable: false });
    const told = await db.sql`
      select stage_id is not null as of_stage, ordinal, outcome, epoch from app.attempts where outcome = 'superseded' order by attempt_id`;
    expect(told.map(({ ordinal }) => ordinal)).toEqual([1, 9, 0, 2, 0]);
    const [event] = await db.sql<{ actor: string; reason: string; data: { again: number } }>`
      select actor, reason, data from app.events where kind = 'job.resumed'`;
    expect(event).toMatchObject({ actor: "ada", reason: "fixed", data: { again: 2, epoch: 2, from_stage: 1 } });
    await expectSound(db);
  });

  test("what fails again changes nobody's input", async () => {
    const { db, operate, run } = await floor();
    const { job_id } = await submit(db, chain);
    const stubborn = ({ stage, ordinal }: Held) => (stage === "make" && ordinal === 5 ? fails() : {});
    await run(stubborn);
    await operate.resume(job_id);
    expect(names(await run(stubborn))).toEqual(["make 5"]);
    expect(await statuses(db, job_id)).toEqual([
      "partial_success",
      "partial_success",
      "completed",
      "completed",
      "completed",
    ]);
    await expectSound(db);
  });

  test("a failed critical stage resumed goes on with what never ran", async () => {
    const { db, operate, run } = await floor();
    const { job_id } = await submit(db, chain);
    await run(({ stage, ordinal }) => (stage === "make" && ordinal < 5 ? fails() : {}));
    expect(await statuses(db, job_id)).toEqual(["failed", "failed", "cancelled", "cancelled", "cancelled"]);
    expect(await operate.resume(job_id)).toMatchObject({ again: 5, from_stage: 1, kept: 5 });
    expect((await run()).length).toBe(5 + 10 + 3 + 1);
    expect(await statuses(db, job_id)).toEqual(["completed", "completed", "completed", "completed", "completed"]);
    await expectSound(db);
  });

  test("a cancelled job resumed runs what had not run, and what was held", async () => {
    const { db, worker, operate, run } = await floor();
    const { job_id } = await submit(db, chain);
    const first = await claim(db, worker, types, 4);
    await finish(db, worker, first.slice(0, 2));
    await db.sql`select app.cancel_job(${job_id}, 'too early')`;
    await expectSound(db);
    await operate.resume(job_id);
    // The zombie's finish is refused: it held the task in another epoch.
    expect(await finish(db, worker, first.slice(2))).toMatchObject({ accepted: 0 });
    const ran = await run();
    expect(names(ran).filter((name) => name.startsWith("make"))).toEqual(
      [2, 3, 4, 5, 6, 7, 8, 9].map((o) => `make ${o}`),
    );
    expect(await statuses(db, job_id)).toEqual(["completed", "completed", "completed", "completed", "completed"]);
    await expectSound(db);
  });

  test("cancelled while a repair was half way, the next resume still knows whose input changed", async () => {
    const { db, worker, operate, run } = await floor();
    const { job_id } = await submit(db, chain);
    await run(({ stage, ordinal }) => (stage === "make" && [0, 8].includes(ordinal) ? fails() : {}));
    await operate.resume(job_id);
    await finish(db, worker, await claim(db, worker, types, 1));
    await db.sql`select app.cancel_job(${job_id})`;
    await expectSound(db);
    await operate.resume(job_id);
    expect(names(await run())).toEqual(["end 0", "fold 0", "fold 2", "make 8", "next 0", "next 8"]);
    expect((await status(db, job_id)).status).toBe("completed");
    await expectSound(db);
  });

  test("retry-stage runs the whole stage again, and what follows it", async () => {
    const { db, operate, run } = await floor();
    const { job_id } = await submit(db, chain);
    await run();
    expect((await status(db, job_id)).status).toBe("completed");
    expect(await operate.retryStage(job_id, "fold", { dry_run: true })).toMatchObject({ again: 3, from_stage: 3 });
    await operate.retryStage(job_id, 3);
    expect(names(await run())).toEqual(["end 0", "fold 0", "fold 1", "fold 2"]);
    expect((await status(db, job_id)).status).toBe("completed");
    await operate.retryStage(job_id, "make");
    expect((await run()).length).toBe(10 + 10 + 3 + 1);
    await expectSound(db);
    await expect(operate.retryStage(job_id, "nothing")).rejects.toMatchObject({
      code: "not_found",
      hint: expect.stringContaining("1 make"),
    });
  });

  test("only the tasks of one error group run again; numbers, ids and paths do not make a group of their own", async () => {
    const { db, operate, run } = await floor();
    const { job_id } = await submit(db, [
      { name: "make", task: "t.make", plan: { count: 6 }, importance: "important" },
      { name: "end", task: "t.end", parallelism: "fan_in" },
    ]);
    await run(({ ordinal }) => {
      if (ordinal < 3) return fails("bad_file", `cannot open /data/in/${ordinal}.tif: 404 after ${ordinal} s`);
      return ordinal === 3 ? fails("no_crs", "the file has no CRS") : {};
    });
    expect(await statuses(db, job_id)).toEqual(["partial_success", "failed", "skipped"]);
    const groups = await operate.errorGroups(job_id);
    expect(groups.map(({ code, tasks, stages, message }) => [code, tasks, stages, message])).toEqual([
      ["bad_file", 3, ["make"], "cannot open <path> <n> after <n> s"],
      ["no_crs", 1, ["make"], "the file has no CRS"],
    ]);
    await operate.retryGroup(job_id, groups[1]!.signature);
    expect(names(await run())).toEqual(["make 3"]);
    expect(await statuses(db, job_id)).toEqual(["partial_success", "failed", "skipped"]);
    await operate.retryGroup(job_id, groups[0]!.signature);
    expect(names(await run())).toEqual(["end 0", "make 0", "make 1", "make 2"]);
    expect(await statuses(db, job_id)).toEqual(["completed", "completed", "completed"]);
    await expect(operate.retryGroup(job_id, "ffffffffffff")).rejects.toMatchObject({ code: "not_allowed_now" });
    await expectSound(db);
  });

  test("a fan-out by data is planned again and merged by index: known kept, new appended, altered run, vanished skipped", async () => {
    const { db, operate, run } = await floor();
    const { job_id } = await submit(db, [
      { name: "make", task: "t.make", plan: { count: 2 }, failure_budget: { count: 1 } },
      { name: "next", task: "t.next", parallelism: "fan_out", plan: { each: "$.tiles[*]", index: "tile-{item.x}" } },
      { name: "fold", task: "t.fold", parallelism: "match_previous" },
      { name: "end", task: "t.end", parallelism: "fan_in" },
    ]);
    const tiles = (...list: [number, string?][]) => ({ result: { tiles: list.map(([x, v = "a"]) => ({ x, v })) } });
    await run(({ stage, ordinal }) => {
      if (stage !== "make") return {};
      return ordinal === 0 ? tiles([0], [1], [2]) : fails();
    });
    expect((await status(db, job_id)).stage("next")).toMatchObject({ total: 3, completed: 3 });
    await operate.resume(job_id);
    const ran = await run(({ stage }) => (stage === "make" ? tiles([7], [8]) : {}));
    expect(names(ran)).toEqual(["end 0", "fold 3", "fold 4", "make 1", "next 3", "next 4"]);
    expect((await status(db, job_id)).status).toBe("completed");
    await expectSound(db);

    await operate.retryStage(job_id, "make");
    const again = await run(({ stage, ordinal }) => {
      if (stage !== "make") return {};
      return ordinal === 0 ? tiles([0], [1, "b"], [9]) : tiles([7], [8]);
    });
    // 2 vanished, 1 is altered, 9 is new: the fold of a vanished task has no predecessor any more.
    expect(names(again)).toEqual(["end 0", "fold 1", "fold 5", "make 0", "make 1", "next 1", "next 5"]);
    const next = (await status(db, job_id)).stage("next");
    expect(next).toMatchObject({ total: 6, completed: 5, skipped: 1 });
    expect((await status(db, job_id)).stage("fold")).toMatchObject({ total: 6, completed: 5, skipped: 1 });
    await expectSound(db);
  });

  test("of a diamond, only the branch that was repaired and what joins it run again", async () => {
    const { db, operate, run } = await floor();
    const { job_id } = await submit(db, [
      { name: "make", task: "t.make" },
      { name: "next", task: "t.next", after: [1], plan: { count: 3 }, importance: "important" },
      { name: "other", task: "t.other", after: [1], plan: { count: 3 } },
      { name: "end", task: "t.end", after: [2, 3], parallelism: "fan_in", of: 3 },
    ]);
    await run(({ stage, ordinal }) => (stage === "next" && ordinal === 1 ? fails() : {}));
    expect(await statuses(db, job_id)).toEqual(["partial_success", "completed", "failed", "completed", "skipped"]);
    await operate.resume(job_id);
    expect(names(await run())).toEqual(["end 0", "next 1"]);
    expect((await status(db, job_id)).status).toBe("completed");
    await expectSound(db);
  });

  test("a stage does not open on a repaired branch while another before it has failed", async () => {
    const { db, operate, run } = await floor();
    const { job_id } = await submit(db, [
      { name: "make", task: "t.make", after: [] },
      { name: "other", task: "t.other", after: [] },
      { name: "end", task: "t.end", after: [1, 2] },
    ]);
    await run(({ stage }) => fails(stage));
    expect(await statuses(db, job_id)).toEqual(["failed", "failed", "failed", "cancelled"]);
    const group = (await operate.errorGroups(job_id)).find(({ code }) => code === "make")!;
    await operate.retryGroup(job_id, group.signature);
    expect(names(await run())).toEqual(["make 0"]);
    expect(await statuses(db, job_id)).toEqual(["failed", "completed", "failed", "skipped"]);
    await operate.resume(job_id);
    expect(names(await run())).toEqual(["end 0", "other 0"]);
    expect((await status(db, job_id)).status).toBe("completed");
  });

  test("what has vanished from a plan stays out, also when the whole stage runs again", async () => {
    const { db, operate, run } = await floor();
    const { job_id } = await submit(db, [
      { name: "make", task: "t.make" },
      { name: "next", task: "t.next", parallelism: "fan_out", plan: { each: "$.tiles[*]", index: "tile-{item.x}" } },
    ]);
    const tiles = (...list: number[]) => ({ result: { tiles: list.map((x) => ({ x })) } });
    await run(({ stage }) => (stage === "make" ? tiles(1, 2, 3) : {}));
    await operate.retryStage(job_id, "make");
    await run(({ stage }) => (stage === "make" ? tiles(1, 2) : {}));
    await operate.retryStage(job_id, "next");
    expect(names(await run())).toEqual(["next 0", "next 1"]);
    const [gone] = await db.sql<{ id: string }>`
      select stage_id || '-' || ordinal as id from app.results where error ->> 'code' = 'vanished'`;
    await expect(operate.retryTask(gone!.id)).rejects.toMatchObject({ code: "not_allowed_now" });
    expect((await status(db, job_id)).stage("next")).toMatchObject({ total: 3, completed: 2, skipped: 1 });
    await expectSound(db);
  });

  test("a partial success whose failed task is skipped becomes completed; a skip stands while its stage waits", async () => {
    const { db, operate, run } = await floor();
    const budget = { failure_budget: { count: 1 } };
    const { job_id } = await submit(db, [
      { name: "make", task: "t.make", plan: { count: 2 }, ...budget },
      { name: "next", task: "t.next", plan: { count: 2 }, ...budget },
    ]);
    await run(({ ordinal }) => (ordinal === 1 ? fails() : {}));
    const failed = await db.sql<{ id: string }>`
      select stage_id || '-' || ordinal as id from app.results where status = 'failed' order by stage_id`;
    await operate.skipTask(failed[0]!.id, { reason: "gone for good" });
    await operate.resume(job_id);
    // The first stage had nothing to do; the second runs its failed task again, because nobody has skipped that.
    expect(names(await run(() => fails()))).toEqual(["next 1"]);
    expect(await statuses(db, job_id)).toEqual(["partial_success", "completed", "partial_success"]);
    await operate.retryStage(job_id, "make");
    await operate.skipTask(failed[1]!.id, { reason: "gone too" });
    expect(names(await run())).toEqual(["make 0", "make 1", "next 0"]);
    expect((await status(db, job_id)).status).toBe("completed");
    expect((await status(db, job_id)).stage("next")).toMatchObject({ completed: 1, skipped: 1 });
    await expectSound(db);
  });

  test("resume says no to what runs or is done, and mode resume of a submit does what is left to do", async () => {
    const { db, operate, run } = await floor();
    const { job_id } = await submit(db, chain, {}, { mode: "resume" });
    await expect(operate.resume(job_id)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("queued"),
    });
    await run(({ stage, ordinal }) => (stage === "make" && ordinal === 0 ? fails() : {}));
    expect(await submit(db, chain)).toMatchObject({
      job_id,
      created: false,
      resumed: false,
      status: "partial_success",
    });
    expect(await submit(db, chain, {}, { mode: "resume" })).toMatchObject({
      job_id,
      created: false,
      resumed: true,
      epoch: 2,
    });
    await expect(operate.resume(job_id)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("epoch 2"),
    });
    await run();
    expect(await submit(db, chain, {}, { mode: "resume" })).toMatchObject({
      job_id,
      resumed: false,
      status: "completed",
    });
    await expect(operate.resume(job_id)).rejects.toMatchObject({ code: "not_allowed_now" });
  });

  test("attempts are counted anew in each epoch, and history keeps them apart", async () => {
    const { db, worker, operate, run } = await floor();
    const { job_id } = await submit(db, [{ name: "make", task: "t.make", max_attempts: 2 }]);
    const late = async () => {
      await db.sql`update app.ready set run_at = now()`;
      return finish(db, worker, await claim(db, worker, types), () => ({ category: "transient" }));
    };
    await late();
    await late();
    expect((await status(db, job_id)).status).toBe("failed");
    await operate.resume(job_id);
    await late();
    await late();
    expect((await status(db, job_id)).status).toBe("failed");
    const rows = await db.sql`select epoch, attempt, outcome from app.attempts order by attempt_id`;
    expect(rows).toEqual([
      { epoch: 1, attempt: 1, outcome: "failed" },
      { epoch: 1, attempt: 2, outcome: "failed" },
      { epoch: 2, attempt: 1, outcome: "failed" },
      { epoch: 2, attempt: 2, outcome: "failed" },
    ]);
    await operate.resume(job_id);
    await run();
    expect((await status(db, job_id)).status).toBe("completed");
  });

  test("a deadline is given anew to a resumed job; two hours without an own value, none when null", async () => {
    const { db, operate, run } = await floor();
    const { job_id } = await submit(db, [{ name: "make", task: "t.make" }], { n: 1 });
    await submit(db, [{ name: "make", task: "t.make" }], { n: 2 }, { options: { deadline_s: null } });
    await submit(db, [{ name: "make", task: "t.make" }], { n: 3 }, { options: { deadline_s: 60 } });
    const left = await db.sql<{ left: number | null }>`
      select deadline_left_s as left from app.jobs order by (parameters ->> 'n')::int`;
    expect(left.map((row) => row.left)).toEqual([7200, null, 60]);
    await run(() => fails());
    await db.sql`update app.jobs set deadline_at = now() - interval '1 hour'`;
    await operate.resume(job_id);
    const [again] = await db.sql<{ ahead: boolean }>`
      select deadline_at > now() + interval '1 hour' as ahead from app.jobs where job_id = ${job_id}`;
    expect(again!.ahead).toBe(true);
  });
});
