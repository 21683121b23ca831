// Rule 5 as rows: every combination of importance, position and the dependent's `when` with how a stage may end, and what SQL's
// own functions say of each. docs/decision-table.md is written from here, and a real job is run for every row.
import type { Queryable } from "../../src/engine/database/database.js";
import { one } from "./floor.js";

export const importances = ["critical", "important", "optional"] as const;
export const budgets = [
  { name: "none", budget: undefined, count: null, percent: null },
  { name: "1 task", budget: { count: 1 }, count: 1, percent: null },
  { name: "50 %", budget: { percent: 50 }, count: null, percent: 50 },
] as const;
export const total = 4;
export const failures = [0, 1, 2, 4] as const;
/** last: nothing follows; before: one stage follows; beside: the stage that follows also waits for another, which completes. */
export const positions = ["last", "before", "beside"] as const;
export const whens = ["none", "true", "false"] as const;
export const ends = ["completed", "partial_success", "failed"] as const;

export interface StageRow {
  budget: string;
  failed: number;
  stage: string;
}

export interface JobRow {
  stage: string;
  importance: string;
  position: string;
  when: string;
  dependent: string;
  job: string;
}

export async function stageRows(db: Queryable): Promise<StageRow[]> {
  const rows: StageRow[] = [];
  for (const { name, count, percent } of budgets) {
    for (const failed of failures) {
      const { stage } = await one(
        db.sql<{ stage: string }>`
          select app.stage_outcome(${total}::bigint, ${failed}::bigint, ${count}::bigint, ${percent}::numeric)::text as stage`,
      );
      rows.push({ budget: name, failed, stage });
    }
  }
  return rows;
}

export async function jobRows(db: Queryable): Promise<JobRow[]> {
  const rows: JobRow[] = [];
  for (const stage of ends) {
    for (const importance of importances) {
      for (const position of positions) {
        for (const when of position === "last" ? (["none"] as const) : whens) {
          rows.push({ stage, importance, position, when, ...(await decided(db, stage, importance, position, when)) });
        }
      }
    }
  }
  return rows;
}

async function decided(db: Queryable, stage: string, importance: string, position: string, when: string) {
  const before = position === "beside" ? [stage, "completed"] : [stage];
  const weights = position === "beside" ? [importance, "critical"] : [importance];
  let dependent = "–";
  if (position !== "last") {
    const { decision } = await one(
      db.sql<{ decision: string }>`
        select app.opening_decision(${array(before)}::text::app.stage_status[], ${array(weights)}::text::app.importance[],
          ${`{${before.map(() => "NULL").join()}}`}::text::text[]) as decision`,
    );
    dependent = decision === "open" ? (when === "false" ? "skipped" : "completed") : "skipped";
    // A failed critical stage cancels what waits before anybody asks whether it may open.
    if (stage === "failed" && importance === "critical") dependent = "cancelled";
  }
  const all = position === "last" ? before : [...before, dependent];
  const { job } = await one(
    db.sql<{ job: string }>`
      select app.job_outcome(${array(all)}::text::app.stage_status[],
        ${array(position === "last" ? weights : [...weights, "critical"])}::text::app.importance[])::text as job`,
  );
  return { dependent, job };
}

const array = (values: readonly string[]) => `{${values.join()}}`;

export function page(stages: StageRow[], jobs: JobRow[]): string {
  const table = (head: string[], rows: (string | number)[][]) =>
    [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  return `# What a failure means: the decision table

Written from the engine's own SQL functions by \`npm run docs\`, and tested row by row: for every line below a real job is run on
Postgres and on the embedded database. Change the functions (\`db/functions/advance/stage_outcome.sql\`, \`opening_decision.sql\`,
\`job_outcome.sql\`), not this page.

## How a stage ends

A stage of ${total} tasks. Skipped tasks count as done. With \`on_task_failure: "fail_fast"\` the outcome is the same; it is reached at
the first failure beyond the budget, and the tasks that had not run are cancelled.

${table(
  ["failure_budget", `tasks failed of ${total}`, "the stage is"],
  stages.map(({ budget, failed, stage }) => [budget, failed, `\`${stage}\``]),
)}

## What that means for the job

Position: *last* – nothing follows it; *before* – one stage follows it; *beside* – the stage that follows also waits for another
stage, which completes. The stage that follows is critical and its tasks succeed. Its \`when\`: none, or what it evaluates to.

${table(
  ["the stage is", "importance", "position", "`when` of the one that follows", "the one that follows is", "the job is"],
  jobs.map(({ stage, importance, position, when, dependent, job }) => [
    `\`${stage}\``,
    importance,
    position,
    position === "last" ? "–" : when,
    position === "last" ? "–" : `\`${dependent}\``,
    `\`${job}\``,
  ]),
)}

A job that ended \`failed\`, \`partial_success\` or \`cancelled\` can be resumed; see [recovery.md](recovery.md).
`;
}
