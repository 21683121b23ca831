// A request is to jobs what a job is to stages: its jobs open in order, its end comes with that of the last of them.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { claim, drain, expectSound, finish, one, register } from "../engine/floor.js";
import { bothDatabases } from "../postgres.js";
import { ask, recipe, seen, statuses } from "./floor.js";

const three = [{ name: "validate" }, { name: "process" }, { name: "publish" }];
const types = ["t.validate", "t.process", "t.publish", "t.a", "t.b", "t.c", "t.d"];
const bad = { category: "permanent" } as const;

bothDatabases("requests", (open) => {
  test("open their jobs one after the other, and end with the last of them", async () => {
    const db = await open();
    const worker = await register(db);
    await recipe(db, "raster", three);
    const asked = await ask(db, "raster", { dataset_id: "dem", resource_id: "alps" });
    expect(asked).toMatchObject({ created: true, resumed: false, status: "processing", run: 1 });
    const canonical = '{"dataset_id":"dem","resource_id":"alps","run":1,"tenant":"default","version_id":"1"}';
    expect(asked.request_id).toBe(createHash("sha256").update(canonical).digest("hex").slice(0, 32));
    expect(await statuses(db, asked.request_id)).toEqual(["processing", "queued", "waiting", "waiting"]);
    await finish(db, worker, await claim(db, worker, types));
    expect(await statuses(db, asked.request_id)).toEqual(["processing", "completed", "queued", "waiting"]);
    await drain(db, worker, types, () => ({ result: { crs: "EPSG:4326" } }));
    expect(await statuses(db, asked.request_id)).toEqual(["completed", "completed", "completed", "completed"]);
    const ended = await seen(db, asked.request_id);
    expect(ended.result_data).toMatchObject({
      counts: { jobs: 3, completed: 3 },
      outputs: { process: { crs: "EPSG:4326" } },
    });
    for (const id of ["dem/alps", "dem/alps/1", ended.job("process").job_id!, asked.request_id.slice(0, 12)])
      expect((await seen(db, id)).request_id).toBe(asked.request_id);
    const kinds = await db.sql<{ kind: string }>`
      select kind from app.events where request_id = ${asked.request_id} order by event_id`;
    expect(kinds.map(({ kind }) => kind)).toEqual(["request.submitted", "request.completed"]);
    await expectSound(db);
  });

  test("that are to begin later wait as pending, and begin with their first job", async () => {
    const db = await open();
    const worker = await register(db);
    await recipe(db, "raster", three);
    const run_at = new Date(Date.now() + 3_600_000).toISOString();
    const asked = await ask(db, "raster", { dataset_id: "dem", resource_id: "alps", run_at });
    expect(await statuses(db, asked.request_id)).toEqual(["pending", "queued", "waiting", "waiting"]);
    expect(await claim(db, worker, types)).toEqual([]);
    await db.sql`update app.jobs set starts_at = now() where request_id = ${asked.request_id}`;
    await db.sql`select app.start_due_jobs()`;
    expect(await statuses(db, asked.request_id)).toEqual(["processing", "queued", "waiting", "waiting"]);
    await db.sql`update platform.requests set run_at = now() where request_id = ${asked.request_id}`;
    expect(await drain(db, worker, types)).toHaveLength(3);
    expect((await seen(db, asked.request_id)).status).toBe("completed");
    await expectSound(db);
  });

  test("are the same however often they are sent; other content is refused, and force is the next run", async () => {
    const db = await open();
    const worker = await register(db);
    await recipe(db, "raster", three);
    const body = { dataset_id: "dem", resource_id: "alps", parameters: { n: 1 } };
    const first = await ask(db, "raster", body);
    expect(await ask(db, "raster", body)).toMatchObject({ created: false, request_id: first.request_id });
    await expect(ask(db, "raster", { ...body, parameters: { n: 2 } })).rejects.toMatchObject({
      code: "FF006",
      message: expect.stringContaining("with other files or parameters"),
      hint: expect.stringContaining("force"),
    });
    await drain(db, worker, types);
    const forced = await ask(db, "raster", { ...body, parameters: { n: 2 }, mode: "force" });
    expect(forced).toMatchObject({ created: true, run: 2, status: "processing" });
    expect(forced.request_id).not.toBe(first.request_id);
    expect((await drain(db, worker, types)).length).toBe(3);
    expect((await seen(db, "dem/alps")).request_id).toBe(forced.request_id);
    expect((await seen(db, first.request_id)).status).toBe("completed");
  });

  test("give their jobs what templates make of the request and of earlier results; a bad template is that job's failure", async () => {
    const db = await open();
    const worker = await register(db);
    await recipe(db, "raster", [
      { name: "a", parameters: { template: { source: "{request.files.0}", "...": "{parameters.more}" } } },
      {
        name: "b",
        parameters: { template: { crs: "{jobs.a.result.crs}", of: "{jobs.a.job_id}", text: "{request.dataset_id}!" } },
      },
      { name: "c", parameters: { template: { lost: "{jobs.a.result.nothing}" } }, importance: "important" },
      { name: "d", after: [2] },
    ]);
    const { request_id } = await ask(db, "raster", {
      dataset_id: "dem",
      files: ["bronze:x.tif"],
      parameters: { more: { n: 7 } },
    });
    const ran = await drain(db, worker, types, () => ({ result: { crs: "EPSG:32636" } }));
    const parameters = await db.sql<{ name: string; parameters: unknown }>`
      select j.name, q.parameters from platform.request_jobs j join app.jobs q using (tenant_id, job_id) order by j.number`;
    const a = (await seen(db, request_id)).job("a").job_id;
    expect(parameters).toEqual([
      { name: "a", parameters: { source: "bronze:x.tif", n: 7 } },
      { name: "b", parameters: { crs: "EPSG:32636", of: a, text: "dem!" } },
      { name: "d", parameters: { more: { n: 7 } } },
    ]);
    expect(ran.length).toBe(3);
    const ended = await seen(db, request_id);
    expect(ended.job("c")).toMatchObject({ status: "failed", job_id: null, error: { code: "bad_parameters" } });
    expect(ended.job("c").error!.message).toContain("jobs.a.result.nothing");
    expect(ended).toMatchObject({ status: "partial_success", error: { job: "c" } });
  });

  test("run what has the same sequence side by side, skip by condition, and end when nothing of them was to run", async () => {
    const db = await open();
    const worker = await register(db);
    const when = { path: "$.request.parameters.go == true" };
    await recipe(db, "raster", [
      { name: "a", after: [] },
      { name: "b", after: [] },
      { name: "c", after: [1, 2], sequence: 2, when },
      { name: "d", after: [3], sequence: 3 },
    ]);
    const no = await ask(db, "raster", { parameters: { go: false } });
    const yes = await ask(db, "raster", { parameters: { go: true } });
    expect(await statuses(db, no.request_id)).toEqual(["processing", "queued", "queued", "waiting", "waiting"]);
    await drain(db, worker, types);
    expect(await statuses(db, no.request_id)).toEqual(["completed", "completed", "completed", "skipped", "skipped"]);
    expect((await seen(db, no.request_id)).jobs.map(({ skip_reason }) => skip_reason)).toEqual([
      null,
      null,
      "when",
      "when",
    ]);
    expect(await statuses(db, yes.request_id)).toEqual(["completed", ...Array(4).fill("completed")]);
    await recipe(db, "nothing", [{ name: "a", when }, { name: "b" }]);
    expect((await ask(db, "nothing")).status).toBe("completed");
    // A job that has nothing to do ends as it opens, and the next one opens in the same breath.
    await recipe(db, "empty", [
      { name: "a", stages: [{ name: "none", task: "t.a", plan: { count: 0 } }], job: "j_empty" },
      { name: "b" },
    ]);
    const empty = await ask(db, "empty");
    expect(await statuses(db, empty.request_id)).toEqual(["processing", "completed", "queued"]);
  });

  test("are resumed with only what failed; what follows a job that ran again is made again", async () => {
    const db = await open();
    const worker = await register(db);
    await recipe(db, "raster", [
      { name: "a" },
      { name: "b", importance: "important" },
      { name: "c", after: [1] },
      { name: "d", after: [2, 3], parameters: { template: { b: "{jobs.b.job_id}" } } },
    ]);
    const { request_id } = await ask(db, "raster");
    await drain(db, worker, types);
    const jobOf = async (name: string) => (await seen(db, request_id)).job(name);
    expect((await seen(db, request_id)).status).toBe("completed");
    const before = (await jobOf("d")).job_id;
    // One of its jobs is run again by hand: the request is open again, and what comes after waits for it.
    await db.sql`select app.retry_stage(${(await jobOf("b")).job_id}, 'only')`;
    expect(await statuses(db, request_id)).toEqual(["processing", "completed", "processing", "completed", "waiting"]);
    await drain(db, worker, types);
    expect(await statuses(db, request_id)).toEqual(["completed", ...Array(4).fill("completed")]);
    const after = await jobOf("d");
    expect(after.job_id).not.toBe(before);
    expect(after.superseded).toEqual([before]);
    await expect(db.sql`select platform.resume_request(${request_id})`).rejects.toMatchObject({ code: "FF006" });

    const failed = await ask(db, "raster");
    await drain(db, worker, types, () => bad);
    expect(await statuses(db, failed.request_id)).toEqual(["failed", "failed", "cancelled", "cancelled", "cancelled"]);
    expect((await seen(db, failed.request_id)).error).toMatchObject({ job: "a" });
    const resumed = await one(
      db.sql<{
        reply: { resumed: boolean; epoch: number };
      }>`select platform.resume_request(${failed.request_id}) as reply`,
    );
    expect(resumed.reply).toMatchObject({ resumed: true, epoch: 2 });
    expect(await statuses(db, failed.request_id)).toEqual([
      "processing",
      "processing",
      "waiting",
      "waiting",
      "waiting",
    ]);
    await expect(db.sql`select platform.resume_request(${failed.request_id})`).rejects.toMatchObject({ code: "FF003" });
    expect((await drain(db, worker, types)).length).toBe(4);
    expect(await statuses(db, failed.request_id)).toEqual(["completed", ...Array(4).fill("completed")]);
    await expectSound(db);
  });

  test("wait for a person at a gate, go on when it is approved, and fail when it is rejected", async () => {
    const db = await open();
    const worker = await register(db);
    const gate = { message: "Publish it?", when: "$.request.parameters.approval == true" };
    await recipe(db, "raster", [{ name: "a" }, { name: "publish", gate }]);
    const [yes, no, free] = [
      await ask(db, "raster", { parameters: { approval: true } }),
      await ask(db, "raster", { parameters: { approval: true } }),
      await ask(db, "raster", { parameters: {} }),
    ];
    await drain(db, worker, types);
    expect((await seen(db, free.request_id)).status).toBe("completed");
    expect(await statuses(db, yes.request_id)).toEqual(["processing", "completed", "waiting_approval"]);
    await expect(db.sql`select platform.decide_gate(${no.request_id}, false)`).rejects.toMatchObject({ code: "FF002" });
    await db.sql`select platform.decide_gate(${no.request_id}, false, reason => 'blurred')`;
    expect(await statuses(db, no.request_id)).toEqual(["failed", "completed", "failed"]);
    expect((await seen(db, no.request_id)).error!.message).toContain("blurred");
    await db.sql`select platform.decide_gate(${yes.request_id}, true)`;
    expect(await statuses(db, yes.request_id)).toEqual(["processing", "completed", "queued"]);
    await expect(db.sql`select platform.decide_gate(${yes.request_id}, true)`).rejects.toMatchObject({ code: "FF006" });
    await drain(db, worker, types);
    expect((await seen(db, yes.request_id)).status).toBe("completed");
    // After a resume the one that was rejected is asked for again.
    await db.sql`select platform.resume_request(${no.request_id})`;
    expect(await statuses(db, no.request_id)).toEqual(["processing", "completed", "waiting_approval"]);
  });

  test("are cancelled with all their jobs, and tell what goes wrong as patterns", async () => {
    const db = await open();
    const worker = await register(db);
    await recipe(db, "raster", [
      { name: "a", after: [] },
      { name: "b", after: [] },
      { name: "c", after: [1, 2] },
    ]);
    const { request_id } = await ask(db, "raster");
    const held = await claim(db, worker, types);
    const { reply } = await one(
      db.sql<{ reply: object }>`select platform.cancel_request(${request_id}, 'not needed') as reply`,
    );
    expect(reply).toMatchObject({ status: "cancelled", open_jobs: 2, changed: true });
    expect(await statuses(db, request_id)).toEqual(["cancelled", "cancelled", "cancelled", "cancelled"]);
    await finish(db, worker, held);
    expect((await seen(db, request_id)).status).toBe("cancelled");
    const again = await one(db.sql<{ reply: object }>`select platform.cancel_request(${request_id}) as reply`);
    expect(again.reply).toMatchObject({ changed: false });
    for (const n of [1, 2]) {
      await ask(db, "raster", { parameters: { n } });
      await drain(db, worker, types, () => ({ category: "permanent", message: `tile ${n} is broken` }));
    }
    const told = await one(
      db.sql<{
        reply: { failed: number; failure_rate: number; patterns: { requests: number; pattern: string; job: string }[] };
      }>`
        select platform.request_failures() as reply`,
    );
    expect(told.reply).toMatchObject({ failed: 2, failure_rate: 0.6667 });
    expect(told.reply.patterns).toHaveLength(1);
    expect(told.reply.patterns[0]).toMatchObject({ requests: 2, job: "a" });
    await expectSound(db);
  });

  test("that are malformed or cannot be routed are refused, with everything that is wrong or would be accepted", async () => {
    const db = await open();
    await recipe(db, "raster", three, { accepts: { extensions: [".tif"], max_files: 1 } });
    const refused = await ask(db, "raster", { dataset_id: "", files: "x", priority: 1e9 }).catch((error) => error);
    expect(refused).toMatchObject({ code: "FF002" });
    expect(JSON.parse(refused.detail).map(({ path }: { path: string }) => path)).toEqual([
      "$.dataset_id",
      "$.files",
      "$.priority",
    ]);
    await expect(ask(db, "pointcloud")).rejects.toMatchObject({
      code: "FF002",
      hint: expect.stringContaining("raster (.tif)"),
    });
    await expect(ask(db, null as never, { files: ["bronze:a.las"] })).rejects.toMatchObject({ code: "FF002" });
    expect(await ask(db, null as never, { files: ["bronze:A.TIF"] })).toMatchObject({ created: true });
  });

  test("of a tenant are not there for another, whatever id it asks by", async () => {
    const db = await open();
    await db.sql`select app.create_tenant('acme')`;
    await recipe(db, "raster", three);
    const mine = await ask(db, "raster", { dataset_id: "dem", resource_id: "alps" });
    const theirs = await ask(db, "raster", { dataset_id: "dem", resource_id: "alps" }, "acme");
    expect(theirs.created).toBe(true);
    expect(theirs.request_id).not.toBe(mine.request_id);
    const job = (await seen(db, mine.request_id)).job("validate").job_id!;
    for (const id of [mine.request_id, job])
      await expect(seen(db, id, "acme")).rejects.toMatchObject({ code: "FF001" });
    await expect(db.sql`select platform.cancel_request(${mine.request_id}, tenant => 'acme')`).rejects.toMatchObject({
      code: "FF001",
    });
    const { reply } = await one(
      db.sql<{
        reply: { requests: { request_id: string }[] };
      }>`select platform.list_requests(tenant => 'acme') as reply`,
    );
    expect(reply.requests.map(({ request_id }) => request_id)).toEqual([theirs.request_id]);
  });
});
