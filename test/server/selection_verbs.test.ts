// Verbs on a selection of a stage's tasks: exactly those that can be are touched, all of them or none, the rest is told with its
// reason, and a dry run counts what would be done.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../../src/client/index.js";
import {
  claim,
  drain,
  expectSound,
  type Fate,
  finish,
  type Held,
  register,
  statuses,
  submit,
} from "../engine/floor.js";
import { type Answered, openService, type TestService } from "./service.js";

let service: TestService;
let worker: string;
beforeAll(async () => {
  service = await openService();
  worker = await register(service.db, [], 3600);
});
afterAll(() => service.close());

let count = 0;
/** Twelve tasks, one each after them, and a fold of all. */
const chain = () => {
  const n = ++count;
  return [
    { name: "make", task: `t.make${n}`, plan: { count: 12 }, failure_budget: { count: 6 } },
    { name: "next", task: `t.next${n}`, parallelism: "match_previous" },
    { name: "fold", task: `t.fold${n}`, parallelism: "fan_in" },
  ];
};
const types = () => [`t.make${count}`, `t.next${count}`, `t.fold${count}`];
const names = (ran: Held[]) => ran.map(({ stage, ordinal }) => `${stage} ${ordinal}`).sort();
const run = (fate?: (task: Held) => Fate) => drain(service.db, worker, types(), fate);
const failing =
  (...ordinals: number[]) =>
  ({ stage, ordinal }: Held): Fate =>
    stage === "make" && ordinals.includes(ordinal) ? { category: "permanent", message: `no ${ordinal}` } : {};

const post = (job_id: string, verb: "retry" | "skip", body: object, stage = "make"): Promise<Answered> =>
  service.call("POST", `/api/jobs/${job_id}/stages/${stage}/tasks/${verb}`, { body });

async function endedJob(...failed: number[]): Promise<string> {
  const { job_id } = await submit(service.db, chain(), { count });
  await run(failing(...failed));
  return job_id;
}

async function openJob(): Promise<{ job_id: string; held: Held[] }> {
  const { job_id } = await submit(service.db, chain(), { count });
  const held = await claim(service.db, worker, types(), 4);
  return { job_id, held };
}

async function taskStatuses(job_id: string): Promise<string> {
  const { body } = await service.call("GET", `/api/jobs/${job_id}/tasks?stage=make`);
  return body.tasks.map(({ status }: { status: string }) => status[0]).join("");
}

test("retry runs exactly the failed tasks of the selection again, and what follows them", async () => {
  const job_id = await endedJob(1, 5, 9);
  const body = { ranges: [[0, 6]], reason: "the source is mended", actor: "ada" };
  const dry = await post(job_id, "retry", { ...body, dry_run: true });
  expect(dry).toMatchObject({
    status: 200,
    body: {
      dry_run: true,
      changed: false,
      stage: "make",
      selected: 6,
      again: 2,
      epoch: 1,
      touched: { failed: 2 },
      left: [{ reason: "completed", tasks: 4, text: "completed, which is final" }],
    },
  });
  expect(await taskStatuses(job_id)).toBe("cfcccfcccfcc");
  expect((await post(job_id, "retry", body)).body).toMatchObject({ changed: true, again: 2, epoch: 2 });
  await expectSound(service.db);
  expect(names(await run())).toEqual(["fold 0", "make 1", "make 5", "next 1", "next 5"]);
  expect(await taskStatuses(job_id)).toBe("cccccccccfcc");
  const { body: story } = await service.call("GET", `/api/jobs/${job_id}/events`);
  const [event] = story.events.filter(({ kind }: { kind: string }) => kind === "job.retried");
  expect(event).toMatchObject({ reason: "the source is mended", data: { kind: "tasks", again: 2 } });
  expect(event.actor).toMatch(/\(ada\)$/);
  expect(event.data.target).toContain("{[0,6)}");
});

test("an ended job is removed for good over HTTP, by its tenant's admin only, and rules say what goes by itself", async () => {
  const job_id = await endedJob(1);
  const remove = (body: object, key?: string) =>
    service.call("DELETE", `/api/jobs/${job_id}`, { body, ...(key && { key }) });
  expect(await remove({}, await service.key("default", ["operate", "read"]))).toMatchObject({ status: 403 });
  expect(await remove({ dry_run: true })).toMatchObject({
    status: 200,
    body: { changed: false, status: "partial_success" },
  });
  expect(await remove({ reason: "a test" })).toMatchObject({ status: 200, body: { changed: true, job_id } });
  expect(await remove({})).toMatchObject({ status: 404 });
  expect(await service.call("GET", `/api/jobs/status/${job_id}`)).toMatchObject({ status: 404 });
  const { body: rules } = await service.call("GET", "/api/retention");
  expect(rules.rules).toContainEqual(
    expect.objectContaining({ kind: "jobs", status: "completed", keep_s: 90 * 86_400, set_for: null }),
  );
  const change = { rules: [{ kind: "jobs", keep_s: 3600 }] };
  expect(await service.call("PUT", "/api/retention/default", { body: change })).toMatchObject({ status: 403 });
});

test("redo runs one completed task again by its id, and the client has a method for it", async () => {
  const job_id = await endedJob(1);
  const { body: page } = await service.call("GET", `/api/jobs/${job_id}/tasks?stage=make`);
  const [done, failed] = page.tasks.map(({ task_id }: { task_id: string }) => task_id);
  const redo = (task_id: string, body: object) => service.call("POST", `/api/tasks/${task_id}/redo`, { body });
  expect(await redo(done, { dry_run: true })).toMatchObject({ status: 200, body: { changed: false, again: 1 } });
  expect(await redo(failed, {})).toMatchObject({ status: 409, body: { code: "not_allowed_now" } });
  const client = createClient({ url: service.url, key: await service.key() });
  expect(await client.redoTask(done, { reason: "the file is gone" })).toMatchObject({ changed: true, epoch: 2 });
  expect(names(await run())).toEqual(["fold 0", "make 0", "next 0"]);
  await expectSound(service.db);
});

test("retry takes what was skipped and what never ran too, or only the status that is asked for", async () => {
  const { job_id, held } = await openJob();
  await finish(service.db, worker, held, failing(0));
  await post(job_id, "skip", { ranges: [[4, 6]], reason: "unwanted" });
  await service.call("POST", `/api/jobs/${job_id}/cancel`);
  const only = await post(job_id, "retry", { ranges: [[0, 12]], status: ["skipped"], dry_run: true });
  // What never ran runs in any case: the stage cannot end without it.
  expect(only.body).toMatchObject({ touched: { skipped: 2 }, again: 8 });
  expect(only.body.left.map(({ reason }: { reason: string }) => reason).sort()).toEqual([
    "cancelled",
    "completed",
    "failed",
  ]);
  const all = await post(job_id, "retry", { ranges: [[0, 12]] });
  expect(all.body).toMatchObject({ touched: { failed: 1, skipped: 2, cancelled: 6 }, again: 9 });
  await run();
  expect(await statuses(service.db, job_id)).toEqual(["completed", "completed", "completed", "completed"]);
  await expectSound(service.db);
});

test("retry of what cannot be run again is refused with each reason, and of a job under way with who is at it", async () => {
  const job_id = await endedJob(3);
  const refused = await post(job_id, "retry", {
    ranges: [
      [0, 3],
      [10, 40],
    ],
    dry_run: true,
  });
  expect(refused.status).toBe(409);
  expect(refused.body.detail).toContain("none of the 33 selected tasks can be run again");
  expect(refused.body.detail).toContain("28 not among the tasks of the stage; 5 completed, which is final");
  await post(job_id, "retry", { ranges: [[3, 4]] });
  const late = await post(job_id, "retry", { ranges: [[3, 4]] });
  expect(late).toMatchObject({ status: 409, body: { code: "conflict" } });
  expect(late.body.detail).toContain("opened epoch 2");
  await run();
});

test("skip takes what waits and what failed out of an open stage, and leaves what runs", async () => {
  const { job_id, held } = await openJob();
  await finish(service.db, worker, held.slice(0, 2), failing(1));
  const body = { ranges: [[0, 7]], reason: "outside the area" };
  const dry = await post(job_id, "skip", { ...body, dry_run: true });
  expect(dry.body).toMatchObject({ dry_run: true, changed: false, tasks: 4, touched: { queued: 3, failed: 1 } });
  expect(dry.body.left).toEqual([
    { reason: "processing", tasks: 2, text: "running" },
    { reason: "completed", tasks: 1, text: "completed, which is final" },
  ]);
  expect((await post(job_id, "skip", body)).body).toMatchObject({ changed: true, tasks: 4 });
  await expectSound(service.db);
  expect(await taskStatuses(job_id)).toBe("csppsssqqqqq");
  // Twice is once.
  expect((await post(job_id, "skip", body)).body).toMatchObject({ changed: false, tasks: 0 });
  const running = await post(job_id, "skip", { ...body, status: ["processing"] });
  expect(running.body).toMatchObject({ changed: true, tasks: 2, touched: { processing: 2 } });
  // Whoever ran them is told that they are not theirs any more.
  expect(await finish(service.db, worker, held.slice(2))).toMatchObject({ accepted: 0 });
  await run();
  expect(await statuses(service.db, job_id)).toEqual(["completed", "completed", "completed", "completed"]);
  await expectSound(service.db);
  const { body: story } = await service.call("GET", `/api/jobs/${job_id}/events`);
  const skips = story.events.filter(({ kind }: { kind: string }) => kind === "tasks.skipped");
  expect(skips.map(({ data }: { data: object }) => data)).toMatchObject([
    { stage: "make", tasks: 4, ranges: "{[1,2),[4,7)}" },
    { stage: "make", tasks: 2, ranges: "{[2,4)}" },
  ]);
});

test("skip of all that is left closes the stage, and the job goes on", async () => {
  const { job_id, held } = await openJob();
  await finish(service.db, worker, held);
  expect((await post(job_id, "skip", { ranges: [[0, 12]], reason: "enough" })).body).toMatchObject({ tasks: 8 });
  expect((await statuses(service.db, job_id)).slice(1, 3)).toEqual(["completed", "processing"]);
  await expectSound(service.db);
  expect(names(await run())).toEqual(["fold 0", "next 0", "next 1", "next 2", "next 3"]);
  await expectSound(service.db);
});

test("skip of a job that nobody has begun begins it, as one task does", async () => {
  const { job_id } = await submit(service.db, chain(), { count });
  await post(job_id, "skip", { ranges: [[0, 2]], reason: "unwanted" });
  expect((await statuses(service.db, job_id))[0]).toBe("processing");
  await run();
});

test("skip marks what failed or never ran of an ended job, and a resume goes on without it", async () => {
  const { job_id, held } = await openJob();
  await finish(service.db, worker, held, failing(0, 2));
  await service.call("POST", `/api/jobs/${job_id}/cancel`);
  expect((await post(job_id, "skip", { ranges: [[0, 6]], reason: "lost for good" })).body).toMatchObject({
    tasks: 4,
    touched: { failed: 2, cancelled: 2 },
  });
  await expectSound(service.db);
  await service.call("POST", `/api/jobs/${job_id}/resume`);
  expect(names(await run()).filter((name) => name.startsWith("make"))).toEqual(
    [10, 11, 6, 7, 8, 9].map((ordinal) => `make ${ordinal}`),
  );
  await expectSound(service.db);
});

test("a stage without tasks, and a selection in which nothing can be skipped, are refused", async () => {
  const { job_id } = await openJob();
  expect(await post(job_id, "skip", { ranges: [[0, 1]], reason: "x" }, "fold")).toMatchObject({ status: 409 });
  const refused = await post(job_id, "skip", { ranges: [[0, 4]], reason: "x" });
  expect(refused).toMatchObject({ status: 409 });
  expect(refused.body.detail).toBe("none of the 4 selected tasks can be skipped: 4 running");
});

test("what is not right about a selection is said before anything is looked at", async () => {
  const { job_id } = await openJob();
  for (const ranges of [[], [[3, 3]], [[5, 2]], [[-1, 2]], [[0]], [[0.5, 2]], "0-5", Array(10_001).fill([0, 1])]) {
    expect((await post(job_id, "retry", { ranges })).status, JSON.stringify(ranges).slice(0, 40)).toBe(400);
  }
  expect((await post(job_id, "skip", { ranges: [[0, 1]] })).status).toBe(400);
  expect((await post(job_id, "skip", { ranges: [[0, 1]], reason: "x", status: ["completed"] })).status).toBe(400);
  const path = `/api/jobs/${job_id}/stages/make/tasks/skip`;
  const body = { ranges: [[0, 1]], reason: "x" };
  expect((await service.call("POST", path, { body, key: await service.key("globex") })).status).toBe(404);
  expect((await service.call("POST", path, { body, key: await service.key("default", ["read"]) })).status).toBe(403);
});

test("ten thousand scattered tasks are one call", async () => {
  const { db } = service;
  const type = `t.wide${++count}`;
  const { job_id } = await submit(db, [{ name: "make", task: type, plan: { count: 20_000 } }], { count });
  await drain(db, worker, ["#plan"]);
  const ranges = Array.from({ length: 10_000 }, (_, n) => [2 * n, 2 * n + 1]);
  const { body } = await post(job_id, "skip", { ranges, reason: "every second one" });
  expect(body).toMatchObject({ selected: 10_000, tasks: 10_000 });
  const { stages } = await service.engine.status(job_id);
  expect(stages[0]).toMatchObject({ skipped: 10_000, queued: 10_000, completed: 0 });
});

test("the client has them, with the reason and the person", async () => {
  const job_id = await endedJob(2, 7);
  const client = createClient({ url: service.url, key: await service.key() });
  expect(await client.skipTasks(job_id, "make", { ranges: [[2, 3]], reason: "lost", actor: "ada" })).toMatchObject({
    tasks: 1,
  });
  expect(await client.retryTasks(job_id, 1, { ranges: [[0, 12]], status: ["failed"] })).toMatchObject({ again: 1 });
  await run();
  expect(await taskStatuses(job_id)).toBe("ccsccccccccc");
});
