import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRegistry } from "../../src/core/declare/registry.js";
import type { Engine } from "../../src/engine/engine.js";
import { openEngine } from "../../src/engine/open_engine.js";
import { helloReply } from "../../src/handlers/hello/reply.js";
import { builtinRegistry } from "../../src/jobs/index.js";
import { startWorker, type Worker } from "../../src/worker/worker.js";
import { freshDatabase } from "../postgres.js";
import { fakeContext } from "./fake_context.js";

let database: Awaited<ReturnType<typeof freshDatabase>>;
let storage_dir: string;
let engine: Engine;
let worker: Worker;

beforeAll(async () => {
  database = await freshDatabase();
  storage_dir = await mkdtemp(path.join(tmpdir(), "fanfold-hello-"));
  engine = await openEngine({ database_url: database.url, storage_dir, registry: createRegistry(builtinRegistry()) });
  worker = await startWorker(engine);
});

afterAll(async () => {
  await worker.stop();
  await engine.close();
  await database.drop();
  await rm(storage_dir, { recursive: true, force: true });
});

describe("hello_world", () => {
  test("greets n times, and every reply finds the greeting it answers", async () => {
    const { job_id } = await engine.submit("hello_world", { n: 12 });
    const { status, stages } = await engine.wait(job_id);
    expect({ status, totals: stages.map((stage) => stage.completed) }).toEqual({
      status: "completed",
      totals: [12, 12],
    });
    const { tasks } = await engine.tasks({ job_id, stage: "reply", limit: 100 });
    expect(tasks).toHaveLength(12);
    for (const { task_id, index, ordinal } of tasks) {
      expect(index).toBe(`greeting-${ordinal}`);
      expect((await engine.task(task_id)).result).toEqual({
        to: index,
        reply: `Hello back! You said: Hello, world! This is greeting ${ordinal + 1}.`,
      });
    }
  });

  test("greets three times unless told otherwise, at least once and at most a thousand times", async () => {
    const { job_id } = await engine.submit("hello_world", {});
    expect((await engine.status(job_id)).parameters).toEqual({ n: 3 });
    for (const n of [0, 1001, -1, 1.5, "3", null]) {
      await expect(engine.submit("hello_world", { n })).rejects.toMatchObject({ code: "bad_parameters" });
    }
  });

  test("a reply without a greeting fails for good", async () => {
    await expect(helloReply.run({}, fakeContext())).rejects.toMatchObject({ category: "permanent" });
  });
});
