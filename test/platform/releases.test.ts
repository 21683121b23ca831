// Releases: the submit matrix and the approval state machine as docs/datasets.md has them, row by row; what commits with a decision, and whose it is.
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import type { Queryable } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { claim, finish, one, register } from "../engine/floor.js";
import { bothDatabases, freshDatabase } from "../postgres.js";
import { ask, recipe, seen } from "./floor.js";

const page = await readFile(new URL("../../docs/datasets.md", import.meta.url), "utf8");
/** Rows of the table whose first column is called so. */
const rowsOf = (first: string) => {
  const lines = page.split("\n");
  const at = lines.findIndex((line) => line.startsWith(`| ${first} |`));
  const until = lines.findIndex((line, place) => place > at && !line.startsWith("|"));
  const cells = (line: string) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
  return { head: cells(lines[at]!), rows: lines.slice(at + 2, until).map(cells) };
};
const either = (word: string) => (word === "any" ? [true, false] : [word === "yes"]);

interface Release {
  release_id: string;
  version_id: string;
  ordinal: number;
  revision: number;
  approval: string;
  clearance: string;
  reviewer: string | null;
  reason: string | null;
  latest: boolean;
}
interface Decided {
  release: Release;
  after: string;
  changed: boolean;
  jobs: string[];
}
const decide = async (
  db: Queryable,
  id: string,
  verb: string,
  more: { reason?: string; clearance?: string; dry_run?: boolean } = {},
) =>
  (
    await one(
      db.sql<{ reply: Decided }>`select platform.decide_release(
        ${id}, ${verb}, ${more.reason ?? null}, ${more.clearance ?? null}, ${more.dry_run ?? false}::boolean, actor => 'ann') as reply`,
    )
  ).reply;
const releases = async (db: Queryable, dataset: string) =>
  (
    await one(
      db.sql<{ reply: { releases: (Release & { decisions: { decision: string; by: string }[] })[] } }>`
        select platform.list_releases(${dataset}, 'r') as reply`,
    )
  ).reply.releases;
const lookup = async (db: Queryable, dataset: string, version: string | null = null) =>
  (
    await one(
      db.sql<{
        reply: { found: boolean; why: string | null; release: Release | null };
      }>`select platform.lookup(${dataset}, 'r', ${version}) as reply`,
    )
  ).reply;

/** With approval: make, then publish behind a gate. Without: make alone. */
async function recipes(db: Queryable): Promise<string> {
  await recipe(db, "reviewed", [{ name: "make" }, { name: "publish", gate: { message: "Publish it?" } }], {
    approval: true,
  });
  await recipe(db, "plain", [{ name: "make" }]);
  return register(db, ["t.make", "t.publish"]);
}
const run = async (db: Queryable, worker: string, ...types: string[]) =>
  finish(
    db,
    worker,
    await claim(
      db,
      worker,
      types.map((type) => `t.${type}`),
    ),
  );
const events = async (db: Queryable, kind: string) =>
  db.sql<{
    actor: string;
    reason: string | null;
  }>`select actor, reason from app.events where kind = ${kind} order by event_id`;

test("the submit matrix decides as the documentation says, row by row", async () => {
  const { db, drop } = await freshDatabase();
  try {
    const { rows } = rowsOf("its version");
    expect(rows.length).toBe(12);
    for (const [version, approval, wants, open, mode, answer] of rows as string[][]) {
      const states =
        approval === "any"
          ? ["pending_review", "approved", "rejected", "revoked"]
          : [approval === "–" ? null : approval!];
      for (const state of states)
        for (const wanted of either(wants!))
          for (const other of either(open!)) {
            const [row] = await db.sql<{ decision: string }>`select platform.submit_decision(
              ${version === "there"}::boolean, ${state}, ${wanted}::boolean, ${other}::boolean, ${mode!}) as decision`;
            expect([version, state, wanted, other, mode, row!.decision]).toEqual([
              version,
              state,
              wanted,
              other,
              mode,
              answer,
            ]);
          }
    }
    const machine = rowsOf("release is");
    for (const [approval, ...after] of machine.rows as [string, ...string[]][]) {
      for (const [place, next] of after.entries()) {
        const verb = machine.head[place + 1]!;
        const [row] = await db.sql<{
          after: string | null;
        }>`select platform.approval_after(${approval}, ${verb}) as after`;
        expect([approval, verb, row!.after ?? "–"]).toEqual([approval, verb, next]);
      }
    }
    expect(machine.rows.map(([approval]) => approval).sort()).toEqual([
      "approved",
      "pending_review",
      "rejected",
      "revoked",
    ]);
  } finally {
    await drop();
  }
});

bothDatabases("releases", (open) => {
  test("nothing is published before the approval, which opens the gate, and is written down with who and why", async () => {
    const db = await open();
    const worker = await recipes(db);
    const request = await ask(db, "reviewed", { dataset_id: "gated" });
    expect(await releases(db, "gated")).toMatchObject([
      { ordinal: 1, revision: 1, approval: "pending_review", clearance: "uncleared", latest: false },
    ]);
    // It is not ready for a review yet.
    await expect(decide(db, request.request_id, "approve")).rejects.toThrow("its request is processing");
    await run(db, worker, "make");
    expect((await seen(db, request.request_id)).job("publish").status).toBe("waiting_approval");
    expect(await claim(db, worker, ["t.publish"])).toEqual([]);
    expect(await lookup(db, "gated")).toMatchObject({
      found: false,
      why: "none of its versions is approved; the newest, 1, is pending_review",
    });
    expect(await decide(db, "gated/r/1", "approve", { dry_run: true })).toMatchObject({
      after: "approved",
      changed: false,
    });
    expect(await decide(db, "gated/r/1", "approve", { clearance: "public", reason: "checked" })).toMatchObject({
      release: { approval: "approved", clearance: "public", reviewer: "ann", reason: "checked", latest: false },
      changed: true,
    });
    expect(await events(db, "release.approved")).toEqual([{ actor: "ann", reason: "checked" }]);
    // Approved, and not there yet: the latest is what can be had.
    expect(await lookup(db, "gated", "1")).toMatchObject({ found: false, why: "it has not been published yet" });
    await run(db, worker, "publish");
    expect(await lookup(db, "gated")).toMatchObject({ found: true, release: { version_id: "1", latest: true } });
    await expect(decide(db, "gated/r", "approve")).rejects.toThrow("it cannot be approved");
    await expect(decide(db, "gated/r", "reject", { reason: "no" })).rejects.toThrow("it cannot be rejected");
  });

  test("a submit is answered by the matrix: next version while one is open, overwrite, and what is approved", async () => {
    const db = await open();
    const worker = await recipes(db);
    const submit = (version_id: string, more: object = {}) =>
      ask(db, "reviewed", { dataset_id: "m", version_id, ...more });
    await submit("1");
    await expect(submit("2")).rejects.toThrow("version 1 of m/r is open (pending_review)");
    // Sent again it is the same; with other files it is told what to do.
    expect(await submit("1")).toMatchObject({ created: false });
    await expect(submit("1", { files: ["bronze:other.tif"] })).rejects.toThrow("with other files or parameters");
    expect(await submit("1", { mode: "force" })).toMatchObject({ created: true, run: 2 });
    expect(await releases(db, "m")).toMatchObject([{ ordinal: 1, revision: 2, approval: "pending_review" }]);
    await run(db, worker, "make");
    await run(db, worker, "make");
    await decide(db, "m/r/1", "approve");
    await expect(submit("1", { mode: "force" })).rejects.toThrow("is approved (by ann): it is not overwritten");
    await expect(submit("2")).rejects.toThrow("is open");
    await run(db, worker, "publish");
    await submit("2");
    expect((await releases(db, "m")).map(({ version_id, ordinal, latest }) => [version_id, ordinal, latest])).toEqual([
      ["2", 2, false],
      ["1", 1, true],
    ]);
    await run(db, worker, "make");
    await decide(db, "m/r/2", "approve");
    await run(db, worker, "publish");
    expect((await lookup(db, "m")).release).toMatchObject({ version_id: "2" });
    // What is revoked is the latest no more: computed, not stored.
    await expect(decide(db, "m/r/2", "revoke")).rejects.toThrow("takes a reason");
    await decide(db, "m/r/2", "revoke", { reason: "wrong datum" });
    expect((await lookup(db, "m")).release).toMatchObject({ version_id: "1" });
    expect(await lookup(db, "m", "2")).toMatchObject({ found: false, why: "it is revoked" });
    expect(await submit("2", { mode: "force" })).toMatchObject({ created: true });
    expect((await releases(db, "m"))[0]).toMatchObject({ revision: 2, approval: "pending_review", reviewer: null });
    expect((await releases(db, "m"))[0]!.decisions.map(({ decision, by }) => [decision, by]).slice(0, 2)).toEqual([
      ["approved", "ann"],
      ["revoked", "ann"],
    ]);
  });

  test("a recipe that asks for approval and names no gate has one before what nothing follows; one answer opens all of them", async () => {
    const db = await open();
    await recipe(db, "bare", [{ name: "make" }, { name: "stac", after: [1] }, { name: "tiles", after: [1] }], {
      approval: true,
    });
    const worker = await register(db, ["t.make", "t.stac", "t.tiles"]);
    const submit = (dataset_id: string, more: object = {}) => ask(db, "bare", { dataset_id, ...more });
    const { request_id } = await submit("bare");
    await run(db, worker, "make");
    expect((await seen(db, request_id)).jobs.map(({ status }) => status)).toEqual([
      "completed",
      "waiting_approval",
      "waiting_approval",
    ]);
    expect(await claim(db, worker, ["t.stac", "t.tiles"])).toEqual([]);
    await decide(db, request_id, "approve");
    await run(db, worker, "stac", "tiles");
    await run(db, worker, "stac", "tiles");
    expect(await lookup(db, "bare")).toMatchObject({ found: true });
    // A gate of its own before that, and one with a condition that does not hold: the release is asked about once, and always.
    const condition = { message: "Large one?", when: "$.request.parameters.large == true" };
    await recipe(db, "early", [{ name: "make" }, { name: "publish", gate: { message: "?" } }, { name: "report" }], {
      approval: true,
    });
    await recipe(db, "maybe", [{ name: "make" }, { name: "publish", gate: condition }], { approval: true });
    const other = await register(db, ["t.make", "t.publish", "t.report"]);
    const early = await ask(db, "early", { dataset_id: "early" });
    const maybe = await ask(db, "maybe", { dataset_id: "maybe" });
    await run(db, other, "make");
    await run(db, other, "make");
    expect((await seen(db, maybe.request_id)).job("publish").status).toBe("waiting_approval");
    await decide(db, early.request_id, "approve");
    await run(db, other, "publish");
    await run(db, other, "report");
    expect((await seen(db, early.request_id)).status).toBe("completed");
    // Rejected, the others fail with it, and nothing of them runs.
    const no = await submit("no_bare");
    await run(db, worker, "make");
    await decide(db, no.request_id, "reject", { reason: "clouds" });
    expect((await seen(db, no.request_id)).jobs.map(({ status }) => status)).toEqual(["completed", "failed", "failed"]);
  });

  test("a run that was overwritten is not published by its own gate", async () => {
    const db = await open();
    const worker = await recipes(db);
    const first = await ask(db, "reviewed", { dataset_id: "late" });
    await run(db, worker, "make");
    await ask(db, "reviewed", { dataset_id: "late", mode: "force" });
    await expect(db.sql`select platform.decide_gate(${first.request_id}, true)`).rejects.toThrow("overwritten");
    expect((await seen(db, first.request_id)).job("publish").status).toBe("waiting_approval");
  });

  test("its release's id is an id of a request", async () => {
    const db = await open();
    await recipes(db);
    const { request_id } = await ask(db, "plain", { dataset_id: "ids" });
    const [release] = await releases(db, "ids");
    expect((await seen(db, release!.release_id)).request_id).toBe(request_id);
  });

  test("a rejection fails the gate and says why; the version may be made again", async () => {
    const db = await open();
    const worker = await recipes(db);
    const { request_id } = await ask(db, "reviewed", { dataset_id: "no" });
    await run(db, worker, "make");
    await decide(db, request_id, "reject", { reason: "clouds" });
    expect(await seen(db, request_id)).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("clouds") },
    });
    expect(await ask(db, "reviewed", { dataset_id: "no", mode: "force" })).toMatchObject({ created: true, run: 2 });
    expect(await releases(db, "no")).toMatchObject([{ approval: "pending_review", revision: 2 }]);
  });

  test("a request may ask for the review that its recipe leaves to it", async () => {
    const db = await open();
    await recipes(db);
    await ask(db, "plain", { dataset_id: "asked", parameters: { approval: true } });
    expect(await releases(db, "asked")).toMatchObject([{ approval: "pending_review" }]);
  });

  test("a gate that is decided at the request decides the release too", async () => {
    const db = await open();
    const worker = await recipes(db);
    const { request_id } = await ask(db, "reviewed", { dataset_id: "door" });
    await run(db, worker, "make");
    await db.sql`select platform.decide_gate(${request_id}, true, actor => 'bob')`;
    expect(await releases(db, "door")).toMatchObject([
      { approval: "approved", reviewer: "bob", clearance: "restricted" },
    ]);
  });

  test("without a review every version is there once it ended well, side by side, and is made again at will", async () => {
    const db = await open();
    const worker = await recipes(db);
    for (const version_id of ["1", "2"]) await ask(db, "plain", { dataset_id: "p", version_id });
    await run(db, worker, "make");
    await run(db, worker, "make");
    expect(await lookup(db, "p")).toMatchObject({ found: true, release: { version_id: "2", ordinal: 2 } });
    expect(await ask(db, "plain", { dataset_id: "p", version_id: "2", mode: "force" })).toMatchObject({
      created: true,
    });
    // Under way again, it is not to be had meanwhile.
    expect((await lookup(db, "p")).release).toMatchObject({ version_id: "1" });
  });

  test("revoking takes down what its jobs made, in the same transaction; unpublish lists every file first", async () => {
    const db = await open();
    const worker = await recipes(db);
    const { request_id } = await ask(db, "reviewed", { dataset_id: "down" });
    await run(db, worker, "make");
    await decide(db, "down/r/1", "approve");
    await run(db, worker, "publish");
    const { job_id } = (await seen(db, request_id)).job("publish");
    const file = {
      zone: "silver",
      key: "down/1/cog.tif",
      name: "cog.tif",
      bytes: 10,
      sha256: "0".repeat(64),
      media_type: "image/tiff",
      job_id,
      tenant: "default",
    };
    await db.sql`select app.publish_asset(${JSON.stringify(file)}::text::json)`;
    const listed = (
      await one(db.sql<{ reply: Record<string, unknown> }>`select platform.unpublish_release('down/r/1') as reply`)
    ).reply;
    expect(listed).toMatchObject({
      dry_run: true,
      changed: false,
      file_count: 1,
      bytes: 10,
      files: [{ ref: "silver:down/1/cog.tif" }],
    });
    await expect(db.sql`select platform.unpublish_release('down/r/1', false)`).rejects.toThrow("is approved");
    // No worker knows how to take it down: then it is not revoked either.
    await expect(decide(db, "down/r/1", "revoke", { reason: "bad" })).rejects.toThrow("unpublish_raster");
    expect(await lookup(db, "down")).toMatchObject({ found: true });
    await db.sql`select app.register_blueprints(${JSON.stringify([{ type: "unpublish_raster", stages: [{ name: "remove", task: "t.remove" }] }])}::text::jsonb)`;
    const { jobs } = await decide(db, "down/r/1", "revoke", { reason: "bad" });
    expect(jobs).toHaveLength(1);
    const [removal] = await db.sql<{
      parameters: object;
      labels: object;
    }>`select parameters, labels from app.jobs where job_id = ${jobs[0]!}`;
    expect(removal).toMatchObject({ parameters: { job_ids: [job_id], dry_run: false, reason: "bad" } });
    expect(await lookup(db, "down")).toMatchObject({ found: false });
  });
});

test("two decisions at once: one is taken, the other is told what it is now", async () => {
  const { db, url, drop } = await freshDatabase();
  const [other, watcher] = [openServer(url), openServer(url)];
  try {
    const worker = await recipes(db);
    await ask(db, "reviewed", { dataset_id: "race" });
    await run(db, worker, "make");
    let second: Promise<unknown> = Promise.resolve();
    await db.transaction(async (tx) => {
      await tx.sql`select platform.decide_release('race/r', 'approve', actor => 'ann')`;
      second = decide(other, "race/r", "reject", { reason: "no" }).catch((error: Error) => error.message);
      await expect
        .poll(
          async () =>
            (
              await watcher.sql<{
                n: number;
              }>`select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
            )[0]!.n,
        )
        .toBe(1);
    });
    expect(await second).toContain("is approved: it cannot be rejected");
    // A next version and an overwrite at the same time take turns on their resource.
    const both = await Promise.allSettled([
      ask(db, "plain", { dataset_id: "turn", version_id: "1" }),
      ask(other, "plain", { dataset_id: "turn", version_id: "2" }),
    ]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
    expect((await releases(db, "turn")).map(({ ordinal }) => ordinal)).toEqual([2, 1]);
  } finally {
    await other.close();
    await watcher.close();
    await drop();
  }
});

test("a tenant's login sees and decides nothing of another's", async () => {
  const { db, url, drop } = await freshDatabase();
  const login = "ff_releases_b";
  await db.script(`create role ${login} login; grant fanfold_api to ${login}`);
  await db.sql`select app.create_tenant('b')`;
  await db.sql`select app.map_role(${login}::text::name, 'b')`;
  const address = new URL(url);
  address.username = login;
  const own = openServer(address.href);
  try {
    await recipes(db);
    const { request_id } = await ask(db, "reviewed", { dataset_id: "theirs" });
    expect(await own.sql`select from platform.releases`).toEqual([]);
    expect(await own.sql`select from platform.assets`).toEqual([]);
    for (const id of [request_id, "theirs/r", "theirs/r/1"])
      await expect(decide(own, id, "approve")).rejects.toThrow("there is no release");
    await expect(own.sql`select platform.decide_release('theirs/r', 'approve', tenant => 'default')`).rejects.toThrow(
      'acts for tenant "b"',
    );
    await expect(releases(own, "theirs")).rejects.toThrow("there is no resource");
    expect(await lookup(own, "theirs")).toMatchObject({
      found: false,
      why: "there is no such resource of a dataset",
      release: null,
    });
    const [{ reply }] = (await own.sql<{
      reply: { datasets: unknown[] };
    }>`select platform.list_datasets() as reply`) as [{ reply: { datasets: unknown[] } }];
    expect(reply.datasets).toEqual([]);
    await expect(own.sql`update platform.releases set approval = 'approved'`).rejects.toThrow("permission denied");
  } finally {
    await own.close();
    await db.script(`drop role ${login}`);
    await drop();
  }
});
