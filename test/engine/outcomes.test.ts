// Rule 5, row by row: how failures, budgets and importance become the outcome of stages and jobs.
import { expect, test } from "vitest";
import type { Database } from "../../src/engine/database/database.js";
import { bothDatabases } from "../postgres.js";
import { drain, expectSound, one, register, statuses, submit } from "./floor.js";

const stage_table: [total: number, failed: number, count: number | null, percent: number | null, outcome: string][] = [
  [10, 0, null, null, "completed"],
  [10, 1, null, null, "failed"],
  [10, 1, 1, null, "partial_success"],
  [10, 2, 1, null, "failed"],
  [10, 1, null, 10, "partial_success"],
  [10, 1, null, 9.9, "failed"],
  [10, 10, null, 100, "partial_success"],
  [10, 10, 10, null, "partial_success"],
  [0, 0, null, null, "completed"],
  [1924, 19, null, 1, "partial_success"],
  [1924, 20, null, 1, "failed"],
  [1, 1, 0, null, "failed"],
];

const job_table: [stages: [status: string, importance: string][], outcome: string][] = [
  [[["completed", "critical"]], "completed"],
  [[["skipped", "critical"]], "completed"],
  [[["partial_success", "critical"]], "partial_success"],
  [[["partial_success", "important"]], "partial_success"],
  [[["partial_success", "optional"]], "completed"],
  [[["failed", "critical"]], "failed"],
  [[["failed", "important"]], "partial_success"],
  [[["failed", "optional"]], "completed"],
  [
    [
      ["failed", "critical"],
      ["cancelled", "critical"],
    ],
    "failed",
  ],
  [
    [
      ["failed", "critical"],
      ["failed", "important"],
    ],
    "failed",
  ],
  [
    [
      ["failed", "important"],
      ["skipped", "critical"],
    ],
    "partial_success",
  ],
  [
    [
      ["failed", "optional"],
      ["completed", "critical"],
    ],
    "completed",
  ],
  [
    [
      ["completed", "critical"],
      ["cancelled", "critical"],
    ],
    "cancelled",
  ],
];

const opening_table: [before: [status: string, importance: string, reason: string | null][], decision: string][] = [
  [[], "open"],
  [[["completed", "critical", null]], "open"],
  [[["partial_success", "critical", null]], "open"],
  [[["failed", "important", null]], "upstream"],
  [[["failed", "optional", null]], "open"],
  [[["skipped", "critical", "when"]], "when"],
  [[["skipped", "critical", "upstream"]], "upstream"],
  [
    [
      ["completed", "critical", null],
      ["skipped", "critical", "when"],
    ],
    "open",
  ],
  [
    [
      ["skipped", "critical", "when"],
      ["skipped", "critical", "when"],
    ],
    "when",
  ],
  [
    [
      ["completed", "critical", null],
      ["skipped", "critical", "upstream"],
    ],
    "upstream",
  ],
  [
    [
      ["completed", "critical", null],
      ["failed", "important", null],
    ],
    "upstream",
  ],
];

bothDatabases("outcomes", (open) => {
  test("a stage ends as its ledger and its failure budget say", async () => {
    const db = await open();
    for (const [total, failed, count, percent, outcome] of stage_table) {
      const row = await one(
        db.sql<{
          o: string;
        }>`select app.stage_outcome(${total}::bigint, ${failed}::bigint, ${count}::bigint, ${percent}::numeric)::text as o`,
      );
      expect({ total, failed, count, percent, outcome: row.o }).toEqual({ total, failed, count, percent, outcome });
    }
  });

  test("a job ends as its stages ended, weighed by their importance", async () => {
    const db = await open();
    for (const [stages, outcome] of job_table) {
      const list = (position: 0 | 1) => `{${stages.map((stage) => stage[position]).join()}}`;
      const row = await one(
        db.sql<{
          o: string;
        }>`select app.job_outcome(${list(0)}::text::app.stage_status[], ${list(1)}::text::app.importance[])::text as o`,
      );
      expect({ stages, outcome: row.o }).toEqual({ stages, outcome });
    }
  });

  test("a stage opens or is skipped as what came before it ended", async () => {
    const db = await open();
    for (const [before, decision] of opening_table) {
      const list = (position: 0 | 1 | 2) => `{${before.map((stage) => stage[position] ?? "NULL").join()}}`;
      const row = await one(
        db.sql<{ o: string }>`select app.opening_decision(
          ${list(0)}::text::app.stage_status[], ${list(1)}::text::app.importance[], ${list(2)}::text::text[]) as o`,
      );
      expect({ before, decision: row.o }).toEqual({ before, decision });
    }
  });

  test("a failed critical stage fails the job and cancels what waits", async () => {
    expect(await run(await open(), "critical")).toEqual(["failed", "completed", "failed", "cancelled", "completed"]);
  });

  test("a failed important stage skips its dependents, other branches go on, and the job is a partial success", async () => {
    expect(await run(await open(), "important")).toEqual([
      "partial_success",
      "completed",
      "failed",
      "skipped",
      "completed",
    ]);
  });

  test("after a failed optional stage its dependents run on what completed, and the job is unaffected", async () => {
    expect(await run(await open(), "optional")).toEqual(["completed", "completed", "failed", "completed", "completed"]);
  });

  /** root → risky → dependent, and a branch beside it that is under way when risky fails. */
  async function run(db: Database, importance: string): Promise<string[]> {
    const worker = await register(db);
    const { job_id } = await submit(db, [
      { name: "root", task: "t.root" },
      { name: "risky", task: "t.risky", importance, plan: { count: 2 } },
      { name: "dependent", task: "t.dependent", parallelism: "fan_in" },
      { name: "beside", task: "t.beside", after: [1] },
    ]);
    await drain(db, worker, ["t.root"]);
    await drain(db, worker, ["t.risky"], ({ ordinal }) => (ordinal === 0 ? { category: "permanent" } : {}));
    await drain(db, worker, ["t.dependent", "t.beside"]);
    await expectSound(db);
    return statuses(db, job_id);
  }
});
