// The client's nouns beside a real service: tasks, verbs of operators, keys, schedules, groups, blueprints, the stream.
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import {
  type Client,
  Conflict,
  createClient,
  DeclarationError,
  defineHandler,
  defineJob,
  NotAllowedNow,
  NotFound,
  Permanent,
  type Streamed,
} from "../../src/client/index.js";
import { openService, type TestService } from "../server/service.js";

const flaky = defineJob({
  type: "flaky",
  parameters: z.object({ name: z.string() }),
  stages: [
    { name: "try", task: "t.try" },
    { name: "publish", task: "t.publish", gate: "Look at it first." },
  ],
});

let service: TestService;
let client: Client;
let broken = true;
beforeAll(async () => {
  service = await openService({
    jobs: [flaky],
    handlers: [
      defineHandler("t.try", {}, ({ name }) => {
        if (broken) throw new Permanent(`cannot do ${name}`, { code: "no_good" });
        return { name };
      }),
      defineHandler("t.publish", {}, () => ({ published: true })),
      defineHandler("t.lone", {}, ({ n }) => ({ n })),
      defineHandler("t.later", {}, () => ({})),
    ],
  });
  client = createClient({ url: service.url, key: await service.key() });
  await service.worker();
});
afterAll(() => service.close());

test("a job that fails is understood, mended, approved and proven", async () => {
  const { job_id } = await client.submit(flaky, { name: "one" });
  expect((await client.wait(job_id)).status).toBe("failed");
  const [group] = await client.errors(job_id);
  expect(group).toMatchObject({ code: "no_good", tasks: 1 });
  expect(await client.why(job_id)).toMatchObject({ status: "failed" });
  broken = false;
  expect(await client.resume(job_id, { dry_run: true, reason: "only looking" })).toMatchObject({
    changed: false,
    again: 1,
  });
  expect(await client.retryGroup(job_id, group!.signature, { reason: "mended", actor: "ada" })).toMatchObject({
    changed: true,
  });
  await untilAsked(job_id);
  expect(await client.approve(job_id, { reason: "fine" })).toMatchObject({
    stage: "publish",
    decision: { approved: true },
  });
  expect(await client.wait(job_id)).toMatchObject({ status: "completed", result: { published: true } });
  expect(await client.verify(job_id)).toMatchObject({ ok: true });
  await expect(client.resume(job_id)).rejects.toBeInstanceOf(NotAllowedNow);
  const kinds = (await client.events(job_id, { limit: 2 }).all()).map(({ kind }) => kind);
  expect(kinds.length).toBeGreaterThan(3);
  const [task] = await client.tasks({ job_id, stage: "try" }).all();
  expect(await client.task(task!.task_id)).toMatchObject({ status: "completed", result: { name: "one" } });
  expect((await client.results({ job_id }).all()).length).toBe(2);
  expect((await client.retryStage(job_id, "publish", { dry_run: true })).again).toBe(1);
});

async function untilAsked(job_id: string): Promise<void> {
  for (;;) {
    const { stages } = await client.status(job_id);
    if (stages.some(({ status }) => status === "waiting_approval")) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("lone tasks: one, many, the same twice, moved and cancelled", async () => {
  const { task_id } = await client.enqueue(
    "t.later",
    {},
    { delay_s: 3600, idempotency_key: "a", metadata: { by: "test" } },
  );
  expect(
    await client.enqueue("t.later", {}, { delay_s: 3600, idempotency_key: "a", metadata: { by: "test" } }),
  ).toEqual({
    task_id,
    created: false,
  });
  await expect(client.enqueue("t.later", { other: 1 }, { idempotency_key: "a" })).rejects.toBeInstanceOf(Conflict);
  expect(await client.rescheduleTask(task_id, new Date("2031-01-01T00:00:00Z"), { priority: 3 })).toMatchObject({
    priority: 3,
  });
  expect(await client.cancelTask(task_id, { reason: "not needed" })).toMatchObject({
    status: "cancelled",
    changed: true,
  });
  const items = Array.from({ length: 23 }, (_, n) => ({ parameters: { n }, priority: n % 2 }));
  const { task_ids, created } = await client.enqueueMany("t.lone", items, { batch_size: 5, concurrency: 2 });
  expect([task_ids.length, new Set(task_ids).size, created]).toEqual([23, 23, 23]);
  expect((await client.task(task_ids[17]!)).parameters).toEqual({ n: 17 });
});

test("what happens is told as it happens, and again from where one stood", async () => {
  const opened = new AbortController();
  const seen: Streamed[] = [];
  const following = (async () => {
    for await (const one of client.stream({ on_open: () => opened.abort() })) {
      seen.push(one);
      if (one.type === "event" && one.event.kind === "job.cancelled") return;
    }
  })();
  await new Promise((resolve) => opened.signal.addEventListener("abort", resolve));
  const { job_id } = await client.submit(flaky, { name: "two" });
  await untilAsked(job_id);
  await client.cancel(job_id, { reason: "seen enough" });
  await following;
  const events = seen.filter((one) => one.type === "event");
  const again: number[] = [];
  for await (const one of client.stream({ job_id, last_event_id: events[0]!.position })) {
    if (one.type === "event") again.push(one.event.event_id);
    if (again.at(-1) === events.at(-1)!.event.event_id) break;
  }
  expect(again).toEqual(events.slice(1).map(({ event }) => event.event_id));
});

test("keys, limits, schedules, groups, blueprints and health", async () => {
  const made = await client.keys.create({ name: "reader", scopes: ["read"] });
  const reader = createClient({ url: service.url, key: made.key });
  expect((await reader.limits.own()).tenant_id).toBe("default");
  const rotated = await client.keys.rotate(made.key_id, { overlap_s: 60 });
  expect(rotated.new.key).not.toBe(made.key);
  expect(await client.keys.revoke(made.key_id)).toMatchObject({ status: "revoked" });
  expect((await client.keys.list({ limit: 1 }).all()).map(({ key_id }) => key_id)).toContain(rotated.new.key_id);

  await client.schedules.put(
    "yearly",
    flaky,
    { name: "{{tick_at}}" },
    { cron: "0 0 1 1 *", time_zone: "Europe/Zurich" },
  );
  expect((await client.schedules.preview("yearly", { count: 2 })).next.length).toBe(2);
  expect(await client.schedules.pause("yearly", { reason: "later" })).toMatchObject({ changed: true });
  expect(await client.schedules.delete("yearly")).toMatchObject({ deleted: true });
  await expect(client.schedules.get("yearly")).rejects.toBeInstanceOf(NotFound);

  await client.submit(flaky, { name: "three" }, { group_id: "batch-1" });
  expect(await client.groups.seal("batch-1")).toMatchObject({ changed: true });
  expect(await client.groups.cancel("batch-1", { reason: "done" })).toMatchObject({ cancelled: 1 });
  expect(await client.groups.wait("batch-1")).toMatchObject({ status: "cancelled", total: 1 });

  expect(await client.blueprints.save("saved_one", { stages: [{ name: "a", task: "t.lone" }] })).toMatchObject({
    changed: true,
  });
  const wrong = await client.blueprints
    .save("saved_two", { stages: [{ name: "a" }, { task: "t.lone" }] })
    .catch((error) => error);
  expect(wrong).toBeInstanceOf(DeclarationError);
  expect(wrong.problems.length).toBeGreaterThan(1);
  expect((await client.blueprints.list()).map(({ type }) => type)).toEqual(
    expect.arrayContaining(["flaky", "saved_one"]),
  );
  expect(await client.health()).toMatchObject({ database: { reachable: true } });
  expect((await client.workers()).length).toBeGreaterThan(0);
});
