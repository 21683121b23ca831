// The decision table in the docs is what SQL says, and what really happens: one job per row.
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Database } from "../../src/engine/database.js";
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
      for (const { name, budget } of budgets) {
        for (const failed of failures) {
          for (const position of positions) {
            for (const when of position === "last" ? (["none"] as const) : whens) {
              for (const on_task_failure of ["finish_stage", "fail_fast"]) {
                const combination = { importance, budget: name, failed, position, when, on_task_failure };
                const { stage } = stage_rows.find((row) => row.budget === name && row.failed === failed)!;
                const expected = job_rows.find(
                  (row) =>
                    row.stage === stage &&
                    row.importance === importance &&
                    row.position === position &&
                    row.when === when,
                )!;
                const { job_id } = await submit(
                  db,
                  [
                    {
                      name: "it",
                      task: "t.it",
                      plan: { count: total },
                      after: [],
                      importance,
                      failure_budget: budget,
                      on_task_failure,
                    },
                    ...(position === "beside" ? [{ name: "other", task: "t.other", after: [] }] : []),
                    ...(position === "last"
                      ? []
                      : [
                          {
                            name: "next",
                            task: "t.next",
                            after: position === "beside" ? [1, 2] : [1],
                            when: when === "none" ? undefined : { path: `$.parameters.publish == ${when}` },
                          },
                        ]),
                  ],
                  { ...combination, publish: true },
                );
                await drain(db, worker, ["t.other", "t.it", "t.next"], ({ stage: at, ordinal }) =>
                  at === "it" && ordinal < failed ? { category: "permanent" } : {},
                );
                const seen = await status(db, job_id);
                expect({
                  ...combination,
                  stage: seen.stage("it").status,
                  dependent: seen.stage("next")?.status ?? "–",
                  job: seen.status,
                }).toEqual({ ...combination, stage, dependent: expected.dependent, job: expected.job });
              }
            }
          }
        }
      }
      await expectSound(db);
    }, 60_000);
  }
});
