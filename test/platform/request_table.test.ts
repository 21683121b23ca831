// The decision table of requests in the docs is that of jobs, one level up, and what really happens: one request per row.
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Database } from "../../src/engine/database/database.js";
import { type ends, importances, type JobRow, jobRows, positions, whens } from "../engine/decision_table.js";
import { drain, expectSound, register } from "../engine/floor.js";
import { bothDatabases } from "../postgres.js";
import { ask, recipe, seen } from "./floor.js";

const doc = new URL("../../docs/request-decision-table.md", import.meta.url);

function page(rows: JobRow[]): string {
  const cells = rows.map(({ stage, importance, position, when, dependent, job }) => {
    const last = position === "last";
    return [`\`${stage}\``, importance, position, last ? "–" : when, last ? "–" : `\`${dependent}\``, `\`${job}\``];
  });
  const head = [
    "the job is",
    "importance",
    "position",
    "`when` of the one that follows",
    "the one that follows is",
    "the request is",
  ];
  const table = [head, head.map(() => "---"), ...cells].map((row) => `| ${row.join(" | ")} |`).join("\n");
  return `# How a request ends: the decision table

A request is to jobs what a job is to stages, by the same SQL functions (\`db/functions/advance/opening_decision.sql\`,
\`job_outcome.sql\`): see [decision-table.md](decision-table.md). Written from them by \`npm run docs\`, and tested row by row: for every
line below a real request is run.

Position: *last* – nothing follows it; *before* – one job follows it; *beside* – the job that follows also waits for another job, which
completes. The job that follows is critical and completes. Its \`when\`: none, or what it evaluates to.

${table}

A job that a person cancels counts as \`cancelled\`: what waits for it is skipped, and the request ends \`cancelled\` unless a critical job
failed. A job that could not be made (its template, its condition, a refused approval) counts as \`failed\`. A request that ended \`failed\`,
\`partial_success\` or \`cancelled\` can be resumed; see [platform.md](platform.md).
`;
}

bothDatabases("the decision table of requests", (open) => {
  test("in the docs is what the engine's functions say, and holds for a real request in every row", async () => {
    const db = (await open()) as Database;
    const rows = await jobRows(db);
    const written = page(rows);
    if (process.env.FANFOLD_WRITE_DOCS === "1") writeFileSync(doc, written);
    expect(readFileSync(doc, "utf8")).toBe(written);

    const worker = await register(db, [], 3600);
    const it = {
      name: "it",
      job: "j_it",
      after: [],
      stages: [{ name: "only", task: "t.it", plan: { count: 4 }, failure_budget: { count: 1 } }],
    };
    for (const importance of importances) {
      for (const position of positions) {
        for (const when of position === "last" ? (["none"] as const) : whens) {
          const next = {
            name: "next",
            after: position === "beside" ? [1, 2] : [1],
            ...(when === "none" ? {} : { when: { path: `$.request.parameters.publish == ${when}` } }),
          };
          await recipe(db, `${importance}_${position}_${when}`, [
            { ...it, importance },
            ...(position === "beside" ? [{ name: "other", after: [] }] : []),
            ...(position === "last" ? [] : [next]),
          ]);
        }
      }
    }
    const asked: [string, JobRow][] = [];
    for (const row of rows) {
      const { importance, position, when, stage } = row;
      const parameters = {
        fails: { completed: 0, partial_success: 1, failed: 3 }[stage as (typeof ends)[number]],
        publish: true,
      };
      asked.push([(await ask(db, `${importance}_${position}_${when}`, { parameters })).request_id, row]);
    }
    const fails = new Map(
      (
        await db.sql<{ stage_id: number; fails: number }>`
          select s.stage_id::integer, (q.parameters ->> 'fails')::integer as fails
            from app.stages s join app.jobs q using (tenant_id, job_id) where s.task_type = 't.it'`
      ).map(({ stage_id, fails }) => [stage_id, fails]),
    );
    await drain(db, worker, ["t.it", "t.other", "t.next"], ({ stage_id, ordinal }) =>
      ordinal < (fails.get(stage_id) ?? 0) ? { category: "permanent" } : {},
    );
    for (const [request_id, row] of asked) {
      const request = await seen(db, request_id);
      expect({
        ...row,
        stage: request.job("it").status,
        dependent: request.job("next")?.status ?? "–",
        job: request.status,
      }).toEqual(row);
    }
    await expectSound(db);
  }, 60_000);
});
