// Two cells: a tenant is called, worked for and watched through the router wherever it lives, and moves with everything.
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { tenantPrefix } from "../../src/core/places/store.js";
import { factsOf } from "../../src/engine/cells/cells.js";
import { cancelMove, cellOf } from "../../src/engine/cells/move.js";
import { FileSweep } from "../../src/engine/upkeep/file_sweep.js";
import { openTaskZones } from "../../src/engine/work/task_zones.js";
import { armFault, disarmFaults } from "../../src/fault.js";
import { openDiskBlobs } from "../../src/storage/disk_blobs.js";
import { start } from "../cli/fake_terminal.js";
import type { Answered } from "../server/service.js";
import { underLoad } from "./cells_load.js";
import { type CellsRig, openCellsRig } from "./cells_rig.js";

let rig: CellsRig;
beforeAll(async () => {
  rig = await openCellsRig();
  await Promise.all([rig.a.worker({ slots: 4 }), rig.b.worker({ slots: 4 })]);
});
afterAll(() => rig?.close());
afterEach(disarmFaults);

const submit = async (key: string, name: string) =>
  (await rig.call("POST", "/api/jobs/submit/cell_job", key, { parameters: { name } })).body;

test("a tenant moves back and forth under load: nothing is lost, nothing runs twice, and its stream goes on", async () => {
  const key = await rig.a.key("acme");
  const there = await rig.b.key("globex");
  await underLoad(rig, { tenant: "acme", key, moves: 3, callers: 2 });
  expect((await cellOf(rig.cells, "acme")).name).toBe("b");
  // Its numbers go on in order, and none is another tenant's.
  const { job_id } = await submit(there, "other");
  await expect.poll(async () => (await rig.call("GET", `/api/jobs/${job_id}`, there)).body.status).toBe("completed");
  const left = await rig.a.db.sql<{ n: number }>`select count(*)::int as n from app.jobs where tenant_id = 'acme'`;
  expect(left).toEqual([{ n: 0 }]);
});

test("what was there before the move is there after it: results, events, keys, schedules, groups, files, and the same answers to the same calls", async () => {
  const key = await rig.a.key("full");
  const { engine } = rig.a;
  const own = engine.forTenant("full");
  const { job_id } = await submit(key, "kept");
  await own.wait(job_id);
  await own.groups.create({ group_id: "night", name: "Night" });
  await own.schedules.put("often", { cron: "0 3 * * *", job_type: "cell_job", parameters: { name: "x" } });
  await engine.zones.store("silver", "full").write("made/x.bin", pieces("a file"));
  const before = await seen(key, job_id);
  const moved = await rig.moveTo("b", "full");
  expect(moved).toMatchObject({ from: "a", to: "b", files: 1 });
  expect(await seen(key, job_id)).toEqual(before);
  expect((await rig.b.engine.zones.store("silver", "full").list("")).entries.map((one) => one.key)).toEqual([
    "made/x.bin",
  ]);
  expect((await engine.zones.store("silver", "full").list("")).entries).toEqual([]);
  // The same parameters are the same job, in the other cell, too.
  expect(await submit(key, "kept")).toMatchObject({ job_id, created: false });
});

async function seen(key: string, job_id: string) {
  const paths = [`/api/jobs/${job_id}`, `/api/dbadmin/tasks/${job_id}`, "/api/keys", "/api/schedules", "/api/groups"];
  const answers = await Promise.all(paths.map(async (path) => (await settled(path, key)).body));
  // The key was used meanwhile.
  return JSON.parse(
    JSON.stringify(answers, (name, value) => (["last_used_at", "now"].includes(name) ? undefined : value)),
  );
}

test("a move that breaks off anywhere goes on where it was", async () => {
  const key = await rig.a.key("broken");
  const { job_id } = await submit(key, "broken");
  await rig.a.engine.forTenant("broken").wait(job_id);
  let to = "b";
  for (const place of ["cells.closed", "cells.arrived", "cells.leaving"]) {
    armFault(place, () => {
      throw new Error("broken off");
    });
    await expect(rig.moveTo(to, "broken")).rejects.toThrow("broken off");
    disarmFaults();
    // In no moment two cells have it.
    const answer = await rig.call("GET", `/api/jobs/${job_id}`, key);
    expect([200, 503]).toContain(answer.status);
    if (answer.status === 503) expect(answer.headers.get("retry-after")).toBe("1");
    await rig.moveTo(to, "broken");
    expect((await cellOf(rig.cells, "broken")).name).toBe(to);
    expect((await settled(`/api/jobs/${job_id}`, key)).body).toMatchObject({ job_id, status: "completed" });
    to = to === "b" ? "a" : "b";
  }
  expect((await Promise.all(rig.cells.map(factsOf))).flatMap(({ moving }) => moving)).toEqual([]);
});

/** As a client does that is told to come again. */
async function settled(path: string, key: string): Promise<Answered> {
  for (;;) {
    const answer = await rig.call("GET", path, key);
    if (answer.status !== 503) return answer;
    await sleep(200);
  }
}

test("a move may be cancelled until the tenant lives in the other cell, and a mover that comes late brings nothing", async () => {
  const key = await rig.a.key("stays");
  const { job_id } = await submit(key, "stays");
  await rig.a.engine.forTenant("stays").wait(job_id);
  armFault("cells.closed", async () => {
    disarmFaults();
    await cancelMove(rig.cells, "stays");
  });
  await expect(rig.moveTo("b", "stays")).rejects.toThrow('this move of tenant "stays" was cancelled');
  expect((await cellOf(rig.cells, "stays")).name).toBe("a");
  expect((await settled(`/api/jobs/${job_id}`, key)).status).toBe(200);
  expect(await submit(key, "again")).toMatchObject({ created: true });
  armFault("cells.arrived", () => {
    throw new Error("broken off");
  });
  await expect(rig.moveTo("b", "stays")).rejects.toThrow("broken off");
  disarmFaults();
  await expect(cancelMove(rig.cells, "stays")).rejects.toThrow("lives in this cell already");
  await rig.moveTo("b", "stays");
});

test("tasks that run are waited for, or taken back when that is asked: then their worker's results are refused", async () => {
  const key = await rig.a.key("slow");
  await rig.a.db.sql`select app.enqueue('slow.task', tenant => 'slow')`;
  const call = (path: string, body: unknown) => rig.call("POST", path, key, body).then((answer) => answer.body);
  const worker = await call("/api/workers/register", { types: ["slow.task"], slots: 1 });
  const claimed = await call(`/api/workers/${worker.worker_id}/claim`, { limit: 1, wait_s: 1 });
  expect(claimed.tasks).toHaveLength(1);
  const held: number[] = [];
  const on_step = (step: { step: string; held?: number }) => void (step.held !== undefined && held.push(step.held));
  const moved = await rig.moveTo("b", "slow", { take_back_after_s: 0.2, on_step });
  expect(held[0]).toBe(1);
  expect(moved.to).toBe("b");
  const [ready] = await rig.b.db.sql`select task_type, attempt from app.ready where tenant_id = 'slow'`;
  expect(ready).toEqual({ task_type: "slow.task", attempt: 1 });
  // Its worker is another cell's: it registers again, and gets the task once more.
  const { task_id, claim_id } = claimed.tasks[0];
  const late = await rig.call("POST", `/api/workers/${worker.worker_id}/finish`, key, {
    tasks: [{ task_id, claim_id, result: {} }],
  });
  expect([late.status, late.body.code]).toEqual([409, "stale_worker"]);
});

test("a cell that is away keeps its own tenants waiting and nobody else", async () => {
  const here = await rig.a.key("near");
  const there = await rig.b.key("far");
  expect((await rig.call("GET", "/api/jobs", there)).status).toBe(200);
  const servers = rig.router.router.servers.get("b")!;
  const real = servers.inTurn.bind(servers);
  servers.inTurn = () => [new URL("http://127.0.0.1:1")];
  try {
    const answer = await rig.call("GET", "/api/jobs", there);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "2"]);
    expect(answer.body).toMatchObject({ code: "stopping", detail: "cell b is away" });
    expect((await rig.call("GET", "/api/jobs", here)).status).toBe(200);
  } finally {
    servers.inTurn = real;
  }
  expect((await rig.call("GET", "/api/jobs", there)).status).toBe(200);
});

test("the router lets nobody in: wrong keys are refused, and an operator of the first cell sees all", async () => {
  const key = await rig.a.key("near");
  expect((await rig.call("GET", "/api/jobs", `${key.slice(0, -4)}AAAA`)).status).toBe(401);
  expect((await rig.call("GET", "/api/jobs", "ff_live_aaaaaaaaaaaa_".padEnd(64, "A"))).status).toBe(401);
  expect((await rig.call("GET", "/api/cells", key)).status).toBe(404);
  expect((await rig.call("GET", "/api/jobs", null)).status).toBe(401);
  const operator = await rig.a.key("default", ["read", "admin"], { operator: true });
  const { cells } = (await rig.call("GET", "/api/cells", operator)).body;
  expect(cells.map((one: { name: string; database: boolean }) => [one.name, one.database])).toEqual([
    ["a", true],
    ["b", true],
  ]);
  await rig.b.key("beyond");
  const { tenants } = (await rig.call("GET", "/api/tenants?limit=1000", operator)).body;
  const of = (id: string) => tenants.filter((one: { tenant_id: string }) => one.tenant_id === id);
  expect(of("default").map((one: { cell: string }) => one.cell)).toEqual(["a", "b"]);
  expect(of("beyond")).toMatchObject([{ cell: "b" }]);
  const made = await rig.call("POST", "/api/tenants", operator, { tenant_id: "beyond" });
  expect([made.status, made.body.detail]).toEqual([409, 'tenant "beyond" lives in cell b']);
});

test("what cannot move is refused before anything was changed, and says why", async () => {
  await rig.a.key("owner");
  await rig.a.db.script("create role ff_cells_login; select app.map_role('ff_cells_login', 'owner')");
  await expect(rig.moveTo("b", "owner")).rejects.toThrow('tenant "owner" has logins of its own');
  await rig.a.db.script("delete from app.tenant_roles where role_name = 'ff_cells_login'; drop role ff_cells_login");
  await expect(rig.moveTo("b", "default")).rejects.toThrow("is in a and b");
  await rig.a.key("twin");
  await rig.b.key("twin");
  await expect(rig.moveTo("b", "twin")).rejects.toThrow("is in a and b");
  expect((await Promise.all(rig.cells.map(factsOf))).flatMap(({ moving }) => moving)).toEqual([]);
});

test("a transaction left open in the other cell holds the move up, and nobody else there", async () => {
  await rig.a.key("waits");
  const there = await rig.b.key("globex");
  let [moved, worst_ms] = [false, 0];
  let moving: Promise<unknown> = Promise.resolve();
  await rig.b.db.transaction(async (open) => {
    await open.sql`select nextval('app.events_event_id_seq')`;
    moving = rig.moveTo("b", "waits").then(() => (moved = true));
    for (let n = 0; n < 8; n++) {
      const began = performance.now();
      expect((await submit(there, `beside-${n}`)).job_id).toBeDefined();
      worst_ms = Math.max(worst_ms, performance.now() - began);
    }
    expect(moved).toBe(false);
  });
  await moving;
  expect(worst_ms).toBeLessThan(5_000);
  expect((await cellOf(rig.cells, "waits")).name).toBe("b");
});

test("the command line shows the cells, finds tenants and moves them", async () => {
  await rig.a.key("typed");
  const fanfold = (...argv: string[]) => start(["cells", ...argv, "--cells", rig.file], { env: {} }).done;
  expect((await fanfold("find", "typed")).out).toBe("tenant typed lives in cell a\n");
  const moved = await fanfold("move", "typed", "--to", "b");
  expect([moved.code, moved.out]).toEqual([0, expect.stringContaining("tenant typed lives in cell b")]);
  const status = await fanfold("status", "--json");
  expect(status.json().cells.map((one: { name: string; number: number }) => [one.name, one.number])).toEqual([
    ["a", 0],
    ["b", 1],
  ]);
  const again = await fanfold("move", "typed", "--to", "b");
  expect(again.err).toContain("lives in cell b already");
  expect((await fanfold("move", "typed", "--to", "c")).err).toContain("one of a, b");
  expect((await fanfold("cancel", "typed")).err).toContain("is not being moved");
});

test("the command line goes on with a move that broke off after the tenant had arrived, and takes its files along", async () => {
  const fanfold = (...argv: string[]) => start(["cells", ...argv, "--cells", rig.file], { env: {} }).done;
  const silverOf = (service: CellsRig["a"]) => service.engine.zones.store("silver", "late");
  await rig.a.key("late");
  await silverOf(rig.a).write("made.bin", pieces("a file"));
  // Rows go last: as long as there are any, a mover that was broken off is known to have something left to do.
  for (const [place, files] of [
    ["cells.arrived", 1],
    ["cells.leaving", 0],
  ] as const) {
    armFault(place, () => {
      throw new Error("broken off");
    });
    expect((await fanfold("move", "late", "--to", "b")).err).toContain("broken off");
    disarmFaults();
    expect((await fanfold("find", "late")).out).toBe("tenant late lives in cell b\n");
    expect((await silverOf(rig.a).list("")).entries).toHaveLength(files);
    expect((await silverOf(rig.b).list("")).entries.map(({ key }) => key)).toEqual(["made.bin"]);
  }
  const moved = await fanfold("move", "late", "--to", "b");
  expect([moved.err, moved.code]).toEqual(["", 0]);
  expect((await silverOf(rig.a).list("")).entries).toEqual([]);
  expect((await silverOf(rig.b).list("")).entries.map(({ key }) => key)).toEqual(["made.bin"]);
  expect((await Promise.all(rig.cells.map(factsOf))).flatMap(({ moving }) => moving)).toEqual([]);
});

test("what attempts wrote in one cell is known as theirs in each that their tenant comes to: what is retracted or unfinished goes", async () => {
  await rig.a.key("files");
  const local = join(rig.a.storage_dir, "local.bin");
  await writeFile(local, "a file");
  const made = { zone: "silver", prefix: "made", media_type: "text/plain" } as const;
  const wanted: string[] = [];
  const write = async ({ db, engine, storage_dir }: CellsRig["a"], stage_id: number) => {
    const { zones } = engine;
    const { assets } = engine.forTenant("files");
    const made_by = { tenant_id: "files", job_id: null, stage_id, ordinal: 0, attempt: 1 };
    const own = openTaskZones({ zones, assets, ...made_by, record: (record) => db.transaction(record) });
    const [published, kept] = await Promise.all(
      ["published", "kept"].map((name) => own.publish(local, { ...made, name })),
    );
    wanted.push(kept!.key);
    const unfinished = openTaskZones({ zones, assets, ...made_by, record: async () => {} });
    await unfinished.publish(local, { ...made, name: "unfinished" });
    const worker = randomUUID();
    await db.sql`insert into app.attempts (tenant_id, stage_id, ordinal, attempt, outcome, worker_id)
      values ('files', ${stage_id}::bigint, 0, 1, 'lost', ${worker}::text::uuid)`;
    const spilled = `${tenantPrefix("files")}results/${stage_id}/0/1-1-${worker}-${randomUUID()}.json`;
    await openDiskBlobs(storage_dir).write(spilled, pieces("{}"));
    return published!;
  };
  const published = [await write(rig.a, 1)];
  await rig.moveTo("b", "files");
  published.push(await write(rig.b, 2));
  for (const name of ["a", "b", "a"]) await rig.moveTo(name, "files");
  const { db, engine, storage_dir } = rig.a;
  const { zones } = engine;
  const silver = zones.store("silver", "files");
  await silver.write("made/by-hand.bin", pieces("somebody's own"));
  const { assets } = engine.forTenant("files");
  for (const ref of published) await assets.retract(ref);
  expect(await assets.removeRetracted(published)).toBe(2);
  const now = () => Date.now() + 25 * 3_600_000;
  const parts = { db, zones, log: pino({ level: "silent" }), results: openDiskBlobs(storage_dir), now };
  expect((await new FileSweep(parts).zone("files", "silver")).found.map(({ why }) => why)).toEqual([
    "unfinished",
    "unfinished",
  ]);
  expect((await new FileSweep(parts).results("files")).found).toHaveLength(2);
  expect((await silver.list("")).entries.map(({ key }) => key).sort()).toEqual(["made/by-hand.bin", ...wanted].sort());
});

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
