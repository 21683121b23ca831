// The same as rows of text, for readers who do not see the picture.

import { Link } from "wouter";
import { count } from "../../../../src/core/shown/figures.js";
import { to } from "../../routes.js";
import { type Column, Safe, StatusBadge, Table } from "../../ui/index.js";
import type { Bar, Row, Step } from "./layout.js";
import { durationWords } from "./words.js";

const MOST_ROWS = 200;

type TaskRow = Extract<Row, { kind: "task" }>;

const step_columns: Column<Step>[] = [
  {
    title: "Stage",
    cell: ({ number, stage }) => (
      <>
        {number} <Safe text={stage} />
      </>
    ),
  },
  {
    title: "Task",
    cell: ({ task_id, index }) => (
      <Link href={to.task(task_id)}>
        <Safe text={index} limit={60} />
      </Link>
    ),
  },
  { title: "Waited", align: "right", cell: ({ waiting_ms }) => durationWords(waiting_ms) },
  { title: "Failed", align: "right", cell: ({ failures }) => count(failures) },
  { title: "Lost", align: "right", cell: ({ lost_ms, retry_ms }) => durationWords(lost_ms + retry_ms) },
  { title: "Ran", align: "right", cell: ({ running_ms }) => durationWords(running_ms) },
];

const sum = (bars: readonly Bar[], ...kinds: Bar["kind"][]) =>
  bars.filter(({ kind }) => kinds.includes(kind)).reduce((all, { from, to: end }) => all + end - from, 0);

const task_columns: Column<TaskRow>[] = [
  { title: "Stage", cell: ({ stage }) => <Safe text={stage.name} /> },
  {
    title: "Task",
    cell: ({ task_id, label }) => (
      <Link href={to.task(task_id)}>
        <Safe text={label} limit={60} />
      </Link>
    ),
  },
  { title: "Status", cell: ({ task }) => <StatusBadge status={task.status} /> },
  {
    title: "Runs",
    align: "right",
    cell: ({ task }) => count(task.runs.filter(({ outcome }) => outcome !== "skipped").length),
  },
  { title: "Waited", align: "right", cell: ({ bars }) => durationWords(sum(bars, "waiting")) },
  { title: "Retry gaps", align: "right", cell: ({ bars }) => durationWords(sum(bars, "retry_gap")) },
  {
    title: "Ran",
    align: "right",
    cell: ({ bars }) => durationWords(sum(bars, "running", "completed", "failed")),
  },
];

export function AsTable({ rows, path }: { rows: readonly Row[]; path: readonly Step[] }) {
  const tasks = rows.filter((row) => row.kind === "task");
  return (
    <details className="tl-table">
      <summary className="muted">The same as a table</summary>
      <div className="stack">
        {path.length > 0 && (
          <>
            <h3>The slowest path</h3>
            <Table columns={step_columns} rows={path} rowKey={({ task_id }) => task_id} caption="The slowest path" />
          </>
        )}
        {tasks.length > 0 && (
          <>
            <h3>{tasks.length > MOST_ROWS ? `The first ${MOST_ROWS} of ${count(tasks.length)} tasks` : "Tasks"}</h3>
            <Table
              columns={task_columns}
              rows={tasks.slice(0, MOST_ROWS)}
              rowKey={({ key }) => key}
              caption="Tasks over time"
            />
          </>
        )}
      </div>
    </details>
  );
}
