// Tasks as rows: those of one cell, those that are selected, or those that failed. The heat map for readers who cannot see it.
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { to } from "../../routes.js";
import type { Range } from "../../selection.js";
import { isIn } from "../../selection.js";
import { type Column, Duration, More, ProblemNote, Safe, Skeleton, StatusBadge, Table } from "../../ui/index.js";
import { type HeatTask, readTasks, shownStatus } from "./hover_card.js";
import { pagesOf } from "./ranges.js";
import { lookedAt } from "./words.js";

const columns: readonly Column<HeatTask>[] = [
  {
    title: "Task",
    cell: (task) => <Link href={to.task(task.task_id)}>{task.task_id}</Link>,
  },
  { title: "Index", minor: true, cell: ({ index }) => <Safe text={index} limit={80} /> },
  {
    title: "Status",
    cell: (task) => <StatusBadge status={shownStatus(task)} label={lookedAt(shownStatus(task))} />,
  },
  { title: "Attempt", align: "right", cell: ({ attempt }) => attempt ?? "–" },
  { title: "Took", align: "right", cell: ({ duration_ms }) => <Duration ms={duration_ms} /> },
  {
    title: "Error",
    cell: ({ error }) =>
      error?.message === undefined || error.message === null ? (
        "–"
      ) : (
        <Safe text={error.message.split("\n", 1)[0]} limit={160} />
      ),
  },
];

const ROWS = 50;
/** A selection may be scattered over a wide stage: so many calls for a page at most. */
const MOST_CALLS = 10;

/** Some of the chosen tasks, from an ordinal on; `next` is where the following begin. */
async function readChosen(job_id: string, stage: string, of: readonly Range[], from: number, signal: AbortSignal) {
  const pages = pagesOf(of, 2 * ROWS);
  const tasks: HeatTask[] = [];
  let at = from;
  for (let calls = 0; calls < MOST_CALLS && tasks.length < ROWS; calls++) {
    const here = pages.find(([, hi]) => hi > at);
    if (here === undefined) return { tasks, next: null };
    const page = await readTasks(job_id, stage, { from: Math.max(at, here[0]), to: here[1], limit: ROWS }, signal);
    tasks.push(...page.tasks.filter(({ ordinal }) => isIn(of, ordinal)));
    at = page.next === null ? here[1] : (page.tasks.at(-1)?.ordinal ?? here[1]) + 1;
  }
  return { tasks, next: pages.some(([, hi]) => hi > at) ? String(at) : null };
}

interface TaskTableProps {
  job_id: string;
  stage: string;
  caption: string;
  /** The tasks that are shown: these ordinals, or all that failed. */
  of: readonly Range[] | "failed";
  /** Read again when it is another. */
  version: string;
}

export function TaskTable({ job_id, stage, caption, of, version }: TaskTableProps) {
  const read = useInfiniteQuery({
    queryKey: ["heat tasks", job_id, stage, of, version],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      of === "failed"
        ? readTasks(job_id, stage, { status: "failed", limit: ROWS, cursor: pageParam ?? undefined }, signal)
        : readChosen(job_id, stage, of, Number(pageParam ?? 0), signal),
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  });
  if (read.error !== null) return <ProblemNote error={read.error} />;
  if (read.isPending) return <Skeleton lines={3} />;
  const rows = read.data.pages.flatMap(({ tasks }) => tasks);
  return (
    <div className="stack">
      <Table
        columns={columns}
        rows={rows}
        rowKey={({ task_id }) => task_id}
        href={({ task_id }) => to.task(task_id)}
        caption={caption}
      />
      {rows.length === 0 && <p className="muted">None.</p>}
      <More of={read}>Show more</More>
    </div>
  );
}
