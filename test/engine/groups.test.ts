// Groups of jobs: counted exactly, ended once, opened again by a repair.
import { expect, test } from "vitest";
import type { Queryable } from "../../src/engine/database/database.js";
import { Groups } from "../../src/engine/verbs/groups.js";
import { bothDatabases } from "../postgres.js";
import { claim, drain, expectSound, finish, one, register, submit } from "./floor.js";

const stages = [{ name: "only", task: "t.only" }];
let number = 0;
const job = (db: Queryable, group_id: string, more: object = {}, tenant = "default") =>
  submit(db, stages, { n: number++ }, { tenant, options: { group_id, ...more } });

/** Events of a group, in order. */
async function story(db: Queryable, group_id: string): Promise<string[]> {
  const rows = await db.sql<{ kind: string }>`
    select kind from app.events where data ->> 'group_id' = ${group_id} order by event_id`;
  return rows.map(({ kind }) => kind);
}

/** The counters of every counted group are what its jobs' rows say. */
async function expectCounted(db: Queryable): Promise<void> {
  const wrong = await db.sql`
    select g.group_id
      from app.job_groups g
      cross join lateral app.count_group(g) c
     where (g.sealed_at is not null or g.expected is not null)
       and (g.total, g.completed, g.partial_success, g.failed, g.cancelled)
         is distinct from (c.total, c.completed, c.partial_success, c.failed, c.cancelled)`;
  expect(wrong).toEqual([]);
  expect(await db.sql`select * from app.group_changes`).toEqual([]);
}

bothDatabases(
  "groups",
  (open) => {
    test("a group opens with its first job, and ends once, with the last job after it is sealed", async () => {
      const db = await open();
      const groups = new Groups(db, "default");
      const worker = await register(db);
      for (let n = 0; n < 3; n++) await job(db, "first");
      const tasks = await claim(db, worker, ["t.only"]);
      await finish(db, worker, tasks.slice(0, 1));
      expect(await groups.get("first")).toMatchObject({
        status: "open",
        total: 3,
        open: 2,
        completed: 1,
        sealed_at: null,
      });
      expect(await groups.seal("first", { actor: "ann" })).toMatchObject({
        changed: true,
        group: { status: "open", total: 3, open: 2, sealed_by: "ann" },
      });
      expect(await groups.seal("first")).toMatchObject({ changed: false });
      await finish(db, worker, tasks.slice(1, 2));
      expect(await groups.get("first")).toMatchObject({ status: "open", open: 1, finished_at: null });
      await finish(db, worker, tasks.slice(2));
      expect(await groups.get("first")).toMatchObject({ status: "completed", open: 0, completed: 3 });
      expect(await story(db, "first")).toEqual(["group.sealed", "group.completed"]);
      await expectCounted(db);
      await expectSound(db);
    });

    test("a sealed group takes no more jobs, and what was refused left nothing", async () => {
      const db = await open();
      const groups = new Groups(db, "default");
      await job(db, "shut");
      await groups.seal("shut");
      const before = await one(db.sql`select count(*)::integer as n from app.jobs`);
      await expect(job(db, "shut")).rejects.toMatchObject({
        code: "FF006",
        detail: expect.stringContaining('"group_id": "shut"'),
      });
      expect(await one(db.sql`select count(*)::integer as n from app.jobs`)).toEqual(before);
      await groups.cancel("shut");
      expect(await groups.get("shut")).toMatchObject({ status: "cancelled", cancelled: 1, open: 0 });
    });

    test("a group that says how many jobs it will have is sealed with the last of them and takes no more", async () => {
      const db = await open();
      const groups = new Groups(db, "default");
      const worker = await register(db);
      const made = await groups.create({ group_id: "three", name: "Three", expected: 3, actor: "ann" });
      expect(made).toMatchObject({
        created: true,
        group: { expected: 3, total: 0, status: "open", created_by: "ann" },
      });
      expect(await groups.create({ group_id: "three", name: "Three", expected: 3 })).toMatchObject({ created: false });
      await expect(groups.create({ group_id: "three", expected: 4 })).rejects.toMatchObject({ code: "conflict" });
      await job(db, "three");
      expect((await drain(db, worker, ["t.only"])).length).toBe(1);
      expect(await groups.get("three")).toMatchObject({ status: "open", total: 1, completed: 1, sealed_at: null });
      await job(db, "three");
      await job(db, "three");
      expect((await groups.get("three")).sealed_at).not.toBeNull();
      await expect(job(db, "three")).rejects.toMatchObject({ code: "FF006" });
      await drain(db, worker, ["t.only"]);
      expect(await groups.get("three")).toMatchObject({ status: "completed", total: 3, completed: 3 });
      await expectCounted(db);
      await expect(groups.create({ group_id: "no spaces", expected: 0 })).rejects.toMatchObject({
        problems: [{ path: "$.group_id" }, { path: "$.expected" }],
      });
    });

    test("the outcome is that of its jobs where they agree, and a partial success where something is usable", async () => {
      const db = await open();
      const groups = new Groups(db, "default");
      const worker = await register(db);
      for (const [group_id, fates, outcome] of [
        ["good", ["done", "done"], "completed"],
        ["mixed", ["done", "fail"], "partial_success"],
        ["bad", ["fail", "fail"], "failed"],
        ["gone", ["cancel", "cancel"], "cancelled"],
        ["worse", ["fail", "cancel"], "failed"],
      ] as const) {
        for (const fate of fates) {
          const { job_id } = await job(db, group_id);
          if (fate === "cancel") await db.sql`select app.cancel_job(${job_id})`;
          else await drain(db, worker, ["t.only"], () => (fate === "fail" ? { category: "permanent" } : {}));
        }
        const { group } = await groups.seal(group_id);
        expect([group_id, group.status, group.open]).toEqual([group_id, outcome, 0]);
      }
      await groups.create({ group_id: "empty" });
      expect((await groups.seal("empty")).group.status).toBe("completed");
    });

    test("a repaired job opens its group again until it ends, and moves the outcome", async () => {
      const db = await open();
      const groups = new Groups(db, "default");
      const worker = await register(db);
      const bad = await job(db, "mended");
      await drain(db, worker, ["t.only"], () => ({ category: "permanent" }));
      await job(db, "mended");
      await drain(db, worker, ["t.only"]);
      expect((await groups.seal("mended")).group.status).toBe("partial_success");
      await db.sql`select app.resume_job(${bad.job_id})`;
      expect(await groups.get("mended")).toMatchObject({ status: "open", open: 1, failed: 0, finished_at: null });
      await drain(db, worker, ["t.only"]);
      expect(await groups.get("mended")).toMatchObject({ status: "completed", completed: 2, open: 0 });
      expect(await story(db, "mended")).toEqual([
        "group.sealed",
        "group.partial_success",
        "group.reopened",
        "group.completed",
      ]);
      await expectCounted(db);
    });

    test("cancelling counts first when asked to, and cancels jobs that wait for others too", async () => {
      const db = await open();
      const groups = new Groups(db, "default");
      const first = await job(db, "stopped");
      await job(db, "stopped", { depends_on: [first.job_id] });
      await job(db, "stopped");
      expect(await groups.cancel("stopped", { dry_run: true })).toMatchObject({
        cancelled: 3,
        left: 0,
        changed: false,
      });
      expect((await groups.get("stopped")).open).toBe(3);
      const { cancelled, left, changed } = await groups.cancel("stopped", { reason: "enough", actor: "ann" });
      // The one that waited may have gone with the one it waited for.
      expect([cancelled >= 2, left, changed]).toEqual([true, 0, true]);
      expect(await groups.get("stopped")).toMatchObject({ open: 0, cancelled: 3, status: "open" });
      expect((await groups.seal("stopped")).group.status).toBe("cancelled");
    });

    test("groups and their jobs are listed in pages, and are nobody else's", async () => {
      const db = await open();
      await db.sql`select app.create_tenant('acme')`;
      const theirs = new Groups(db, "acme");
      for (const group_id of ["a", "b", "c"]) await job(db, group_id, {}, "acme");
      for (let n = 0; n < 2; n++) await job(db, "c", {}, "acme");
      const page = await theirs.list({ limit: 2 });
      expect(page.groups.map(({ group_id }) => group_id)).toEqual(["c", "b"]);
      expect((await theirs.list({ limit: 2, cursor: page.next })).groups.map(({ group_id }) => group_id)).toEqual([
        "a",
      ]);
      const jobs = await theirs.jobs("c", { limit: 2 });
      const more = await theirs.jobs("c", { limit: 2, cursor: jobs.next });
      expect([jobs.jobs.length, more.jobs.length, more.next]).toEqual([2, 1, null]);
      const ours = new Groups(db, "default");
      await expect(ours.get("c")).rejects.toMatchObject({ code: "not_found" });
      await expect(ours.seal("c")).rejects.toMatchObject({ code: "not_found" });
      await expect(ours.cancel("c")).rejects.toMatchObject({ code: "not_found" });
    });
  },
  { shared: true },
);
