// A reference to a stored file is data: whoever can write a row or parameters can make one up. It leads to a file of the same
// tenant, or nowhere; and what is told about a file tells nothing of what was found in its place.
import { readdirSync, readlinkSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { max_result_bytes } from "../../src/core/api/jobs.js";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import type { Ref } from "../../src/core/places/store.js";
import type { Database } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { Operator } from "../../src/engine/verbs/operator.js";
import { worker_commands } from "../../src/engine/work/commands.js";
import { openFolderStore } from "../../src/storage/folder_store.js";
import { claim, register } from "../engine/floor.js";
import { openService, type TestService } from "./service.js";

let service: TestService;
/** A login role of tenant a, as a customer with workers of its own has one. */
let role: Database;
let key: string;
const login = `ff_tenant_${Math.random().toString(36).slice(2, 10)}`;
const secret = { secret: "of tenant b" };

beforeAll(async () => {
  service = await openService({
    handlers: [
      defineHandler("t.one", {}, () => 1),
      defineHandler("t.read", {}, async (_, ctx) => {
        const read: unknown[] = [];
        for await (const item of ctx.previous) read.push(item.result);
        return read;
      }),
      defineHandler("t.parent", {}, async (_, ctx) => (await ctx.predecessor())?.result),
      defineHandler("t.open", {}, async ({ ref }, ctx) => (await ctx.storage.get(ref)).toString()),
    ],
    jobs: [
      defineJob({ type: "one", stages: [{ name: "s", task: "t.one" }] }),
      ...["t.read", "t.parent"].map((task) =>
        defineJob({
          type: task.replace("t.", "then_"),
          stages: [
            { name: "s", task: "t.one" },
            { name: "next", task },
          ],
        }),
      ),
      defineJob({
        type: "then_planned",
        stages: [
          { name: "s", task: "t.one" },
          { name: "next", task: "t.one", parallelism: "fan_out", tasks: { each: "$[*]" } },
        ],
      }),
    ],
  });
  key = await service.key("a");
  await service.key("b");
  await service.db.script(`create role ${login} login; grant fanfold_api, fanfold_worker to ${login}`);
  await service.db.sql`select app.map_role(${login}::text::name, 'a')`;
  const url = new URL(service.database_url);
  url.username = login;
  role = openServer(url.href);
});
afterAll(async () => {
  await role.close();
  await service.db.script(`drop owned by ${login}; drop role ${login}`);
  await service.close();
});

/** Of tenant b, where its files lie. */
function foreign(): Promise<Ref> {
  return openFolderStore(service.storage_dir).put("tenant-b/results/plan.json", JSON.stringify(secret));
}

function own(name: string, content: string): Promise<Ref> {
  return openFolderStore(service.storage_dir).put(`tenant-a/${name}`, content);
}

async function submitted(type = "one"): Promise<string> {
  const body = { parameters: { n: Math.random() } };
  return (await service.call("POST", `/api/jobs/submit/${type}`, { key, body })).body.job_id;
}

/** Ends the first task of the job as a worker of the tenant's that speaks SQL, with this reference for a result. */
async function finishedWith(job_id: string, spill: unknown): Promise<void> {
  const worker_id = await register(role, ["t.one"]);
  const [task] = await claim(role, worker_id, ["t.one"]);
  const { claim_id: c, stage_id: g, attempt: a } = task!;
  try {
    await worker_commands.finish(role, {
      worker_id,
      claims: JSON.stringify([{ c, g, a }]),
      failed: "[]",
      done: {
        claims: `${c}`,
        ordinals: "0",
        durations: "1",
        results: "null",
        extras: JSON.stringify([{ i: 1, s: spill }]),
      },
    });
  } catch (error) {
    await service.engine.forTenant("a").cancelJob(job_id);
    throw error;
  }
}

/** As if the row had been written before finishes were looked at. */
async function forged(job_id: string, spill: unknown): Promise<void> {
  await service.db.sql`update app.results r set result = null, spill = ${JSON.stringify(spill)}::text::jsonb
    from app.stages s where s.stage_id = r.stage_id and s.job_id = ${job_id} and s.number = 1`;
}

const result = (job_id: string) => service.call("GET", `/api/jobs/${job_id}/result`, { key });
const verified = async (job_id: string): Promise<string[]> =>
  (await service.call("GET", `/api/jobs/${job_id}/verify`, { key })).body.problems;

describe("a finish", () => {
  test.each<[string, (ref: Ref) => unknown]>([
    ["another tenant's file", (ref) => ref],
    ["a way out of its own folder", (ref) => ({ ...ref, key: "tenant-ab/x.json" })],
    ["a file of nobody's", (ref) => ({ ...ref, key: "tiles/b/plan.json" })],
    ["a result of another stage, as 0.2.0 kept it", (ref) => ({ ...ref, key: "results/999999/0/1-1-x.json" })],
    ["half a reference", () => ({ key: "tenant-a/x.json" })],
    ["a size that is none", (ref) => ({ ...ref, key: "tenant-a/x.json", bytes: "1" })],
    ["a text", () => "tenant-a/x.json"],
  ])("that names %s as a result is refused", async (_, spill) => {
    const job_id = await submitted();
    await expect(finishedWith(job_id, spill(await foreign()))).rejects.toMatchObject({ code: "FF002" });
  });

  test("that names a file of the tenant's own is taken, and the result is that file's", async () => {
    const job_id = await submitted();
    await finishedWith(job_id, await own("results/mine.json", '{"mine":1}'));
    expect(await result(job_id)).toMatchObject({ status: 200, body: { result: { mine: 1 } } });
    expect(await verified(job_id)).toEqual([]);
  });
});

describe("a row that names another tenant's file", () => {
  test("gives neither a result nor a word about the file", async () => {
    const job_id = await submitted();
    await finishedWith(job_id, await own("results/x.json", "1"));
    const ref = await foreign();
    await forged(job_id, ref);
    const answer = await result(job_id);
    expect(answer.status).toBe(404);
    expect(JSON.stringify(answer.body)).not.toContain("of tenant b");
    const told = await verified(job_id);
    expect(told).toEqual([expect.stringContaining("is not one of tenant a")]);
    // Whether the file is there is told to nobody else.
    await forged(job_id, { ...ref, key: "tenant-b/none.json" });
    expect((await verified(job_id))[0]?.replace("none.json", "results/plan.json")).toBe(told[0]);
  });

  test.each(["then_read", "then_parent", "then_planned"])("is read by no stage after: %s", async (type) => {
    const job_id = await submitted(type);
    await finishedWith(job_id, await own("results/x.json", "[1]"));
    await forged(job_id, await foreign());
    const worker = await service.worker();
    const ended = await service.engine.forTenant("a").wait(job_id);
    await worker.stop();
    expect(ended).toMatchObject({ status: "failed" });
    expect(JSON.stringify(ended)).toContain("is not one of tenant a");
    expect(JSON.stringify(ended)).not.toContain(secret.secret);
  });

  test("is sent to no worker over HTTP", async () => {
    const job_id = await submitted("then_read");
    await finishedWith(job_id, await own("results/x.json", "[1]"));
    await forged(job_id, await foreign());
    const engine = service.engine.forTenant("a");
    const worker_id = await register(role, ["t.read"]);
    const stage_id = (await engine.tasks({ job_id })).tasks[0]!.task_id.split("-")[0];
    const { items } = await engine.work.results.page(worker_id, { stage_id: Number(stage_id), from: 0, limit: 10 });
    expect(items).toMatchObject([{ result: null, left_out: { reason: "its file cannot be read" } }]);
    await engine.cancelJob(job_id);
  });
});

test("a handler opens no other tenant's file, whatever its parameters say", async () => {
  const engine = service.engine.forTenant("a");
  const opened = async (ref: Ref) => {
    const { task_id } = await engine.enqueue("t.open", { ref } as never, { max_attempts: 1 });
    let task = await engine.task(task_id);
    while (task.status === "queued" || task.status === "processing") task = await engine.task(task_id);
    return task;
  };
  const worker = await service.worker();
  expect(await opened(await own("mine.txt", "mine"))).toMatchObject({ status: "completed", result: "mine" });
  expect(await opened(await foreign())).toMatchObject({ status: "failed", error: { code: "storage" } });
  await worker.stop();
});

test("a result that 0.2.0 spilled is still its tenant's", async () => {
  const job_id = await submitted();
  await finishedWith(job_id, await own("results/x.json", "1"));
  const ids = [crypto.randomUUID(), crypto.randomUUID()].join("-");
  const old = await openFolderStore(service.storage_dir).put(`results/17/0/1-4-${ids}.json`, '{"old":true}');
  await forged(job_id, old);
  expect(await result(job_id)).toMatchObject({ status: 200, body: { result: { old: true } } });
  expect(await verified(job_id)).toEqual([]);
});

describe("a stored result", () => {
  test("that is gone or altered is told without what was found, and without folders of the server", async () => {
    const job_id = await submitted();
    const ref = await own("results/harmed.json", "12345");
    await finishedWith(job_id, ref);
    const file = join(service.storage_dir, ref.key);
    for (const harm of [() => writeFile(file, "1234"), () => writeFile(file, "12349"), () => rm(file)]) {
      await harm();
      const [problem, ...others] = await verified(job_id);
      expect(others).toEqual([]);
      expect(problem).toContain(ref.key);
      expect(problem).toContain(`5 bytes, sha256 ${ref.sha256}`);
      expect(problem).not.toContain(service.storage_dir);
      expect(problem).not.toContain("found");
      const answer = await result(job_id);
      expect(answer).toMatchObject({ status: 404, body: { code: "not_found" } });
      expect(JSON.stringify(answer.body)).not.toContain(service.storage_dir);
    }
  });

  test("above the limit is refused by its size, before it is read", async () => {
    const job_id = await submitted();
    const ref = await own("results/large.json", "1");
    await finishedWith(job_id, { ...ref, bytes: max_result_bytes + 1 });
    const answer = await result(job_id);
    expect(answer).toMatchObject({ status: 413, body: { code: "too_large" } });
    expect(answer.body.detail).toContain(String(max_result_bytes));
  });

  test("is proven piece by piece, and never held whole", async () => {
    const job_id = await submitted();
    await finishedWith(job_id, await own("results/pieces.json", `"${"x".repeat(3_000_000)}"`));
    const folder = openFolderStore(service.storage_dir);
    let largest = 0;
    const operate = new Operator(service.engine.db, "a", {
      ...folder,
      get: () => Promise.reject(new Error("read whole")),
      async *getStream(ref) {
        for await (const piece of folder.getStream(ref)) {
          largest = Math.max(largest, piece.byteLength);
          yield piece;
        }
      },
    });
    expect(await operate.verify(job_id)).toMatchObject({ ok: true, files: 1 });
    expect(largest).toBeLessThanOrEqual(1024 * 1024);
  });
});

describe("the download of a task's file", () => {
  async function made(ref: unknown): Promise<string> {
    const engine = service.engine.forTenant("a");
    const { task_id } = await engine.enqueue("t.one", {} as never);
    const worker_id = await register(role, ["t.one"]);
    const [task] = await claim(role, worker_id, ["t.one"]);
    const { claim_id: c, stage_id: g, attempt: a, ordinal } = task!;
    const asset = { name: "x.bin", media_type: "application/octet-stream", ref };
    await worker_commands.finish(role, {
      worker_id,
      claims: JSON.stringify([{ c, g, a }]),
      failed: "[]",
      done: {
        claims: `${c}`,
        ordinals: `${ordinal}`,
        durations: "1",
        results: JSON.stringify({ asset }),
        extras: "[]",
      },
    });
    return `/api/tasks/${task_id}/asset`;
  }

  test("that its reader leaves half-way keeps no file open", async () => {
    const ref = await own("reports/large.bin", "x".repeat(20 * 1024 * 1024));
    const path = await made(ref);
    const file = join(service.storage_dir, ref.key);
    for (let turn = 0; turn < 5; turn++) {
      await new Promise<void>((left) => {
        const asked = request(service.url + path, { headers: { authorization: `Bearer ${key}` } }, (answer) => {
          answer.once("data", () => asked.destroy());
          answer.once("close", left);
          answer.on("error", () => {});
        });
        asked.on("error", () => {});
        asked.end();
      });
    }
    await expect.poll(() => open(file), { timeout: 10_000 }).toBe(0);
  });

  test.each<[string, object]>([
    ["a checksum that would write headers", { sha256: "x\r\nset-cookie: a=b" }],
    ["a checksum that is none", { sha256: "0".repeat(63) }],
    ["a size below zero", { bytes: -1 }],
    ["a size with a fraction", { bytes: 1.5 }],
    ["the key of another tenant", { key: "tenant-b/results/plan.json" }],
    ["a way out", { key: "tenant-a/../tenant-b/results/plan.json" }],
  ])("whose reference has %s is a problem, and not begun", async (_, wrong) => {
    const path = await made({ ...(await own("reports/small.bin", "small")), ...wrong });
    const answer = await service.call("GET", path, { key });
    expect(answer).toMatchObject({ status: 404, body: { code: "not_found", detail: "this task has made no file" } });
    expect(answer.headers.get("content-type")).toContain("application/problem+json");
    expect(answer.headers.get("set-cookie")).toBeNull();
  });
});

/** How often this process has the file open. */
function open(file: string): number {
  return readdirSync("/proc/self/fd").filter((fd) => linkOf(fd) === file).length;
}

function linkOf(fd: string): string | null {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return null;
  }
}
