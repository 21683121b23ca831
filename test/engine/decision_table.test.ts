// The decision table in the docs is what SQL says, and what really happens: one job per row.
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Database } from "../../src/engine/database/database.js";
import { bothDatabases } from "../postgres.js";
import { budgets, failures, importances, jobRows, page, positions, stageRows, total, whens } from "./decision_table.js";
import { drain, expectSound, register, status, submit } from "./floor.js";

const doc = new URL("../../docs/decision-table.md", import.meta.url);

bothDatabases("the decision table", (open) => {
  test("in the docs is what the engine's functions say", async () => {
    const db = (await open()) as Database;
    const written = page(await stageRows(db), await jobRows(db));
    if (process.env.FANFOLD_WRITE_DOCS === "1") writeFileSync(doc, written);
    expect(readFileSync(doc, "utf8")).toBe(written);
  });

  for (const importance of importances) {
    test(`holds for a real job in every row with a stage that is ${importance}`, async () => {
      const db = (await open()) as Database;
      const worker = await register(db, [], 3600);
      const stage_rows = await stageRows(db);
      const job_rows = await jobRows(db);
      // All of them run side by side: a job in the table knows nothing of the others.
      const jobs = new Map<string, ReturnType<typeof combinations>[number]>();
      for (const combination of combinations(importance)) {
        const { job_id } = await submit(db, stagesOf(combination), { ...combination, publish: true });
        jobs.set(job_id, combination);
      }
      const rows = await db.sql<{ stage_id: number; job_id: string }>`
        select stage_id::integer, job_id from app.stages where name = 'it'`;
      const failing = new Map(rows.map(({ stage_id, job_id }) => [stage_id, jobs.get(job_id)?.failed ?? 0]));
      await drain(db, worker, ["t.other", "t.it", "t.next"], ({ stage_id, ordinal }) =>
        ordinal < (failing.get(stage_id) ?? 0) ? { category: "permanent" } : {},
      );
      for (const [job_id, combination] of jobs) {
        const { budget, failed, position, when } = combination;
        const { stage } = stage_rows.find((row) => row.budget === budget && row.failed === failed)!;
        const expected = job_rows.find(
          (row) =>
            row.stage === stage && row.importance === importance && row.position === position && row.when === when,
        )!;
        const seen = await status(db, job_id);
        expect({
          ...combination,
          stage: seen.stage("it").status,
          dependent: seen.stage("next")?.status ?? "–",
          job: seen.status,
        }).toEqual({ ...combination, stage, dependent: expected.dependent, job: expected.job });
      }
      await expectSound(db);
    }, 60_000);
  }
});

function combinations(importance: (typeof importances)[number]) {
  return budgets.flatMap(({ name: budget }) =>
    failures.flatMap((failed) =>
      positions.flatMap((position) =>
        (position === "last" ? (["none"] as const) : whens).flatMap((when) =>
          ["finish_stage", "fail_fast"].map((on_task_failure) => ({
            importance,
            budget,
            failed,
            position,
            when,
            on_task_failure,
          })),
        ),
      ),
    ),
  );
}

function stagesOf({ importance, budget, position, when, on_task_failure }: ReturnType<typeof combinations>[number]) {
  const failure_budget = budgets.find(({ name }) => name === budget)!.budget;
  const it = { name: "it", task: "t.it", plan: { count: total }, after: [] };
  const next = {
    name: "next",
    task: "t.next",
    after: position === "beside" ? [1, 2] : [1],
    when: when === "none" ? undefined : { path: `$.parameters.publish == ${when}` },
  };
  return [
    { ...it, importance, failure_budget, on_task_failure },
    ...(position === "beside" ? [{ name: "other", task: "t.other", after: [] }] : []),
    ...(position === "last" ? [] : [next]),
  ];
}
