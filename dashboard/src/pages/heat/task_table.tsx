// Tasks as rows: those of one cell, those that are selected, or those that failed. The heat map for whoever cannot see it.
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { to } from "../../routes.js";
import type { Range } from "../../selection.js";
import { isIn } from "../../selection.js";
import { Button, type Column, Duration, ProblemNote, Safe, Skeleton, StatusBadge, Table } from "../../ui/index.js";
import { type HeatTask, readTasks, shownStatus } from "./hover_card.js";
import { lookedAt } from "./words.js";

const columns: readonly Column<HeatTask>[] = [
  {
    id: "task",
    title: "Task",
    cell: (task) => <Link href={to.task(task.task_id)}>{task.task_id}</Link>,
  },
  { id: "index", title: "Index", minor: true, cell: ({ index }) => <Safe text={index} limit={80} /> },
  {
    id: "status",
    title: "Status",
    cell: (task) => <StatusBadge status={shownStatus(task)} label={lookedAt(shownStatus(task))} />,
  },
  { id: "attempt", title: "Attempt", align: "right", cell: ({ attempt }) => attempt ?? "–" },
  { id: "took", title: "Took", align: "right", cell: ({ duration_ms }) => <Duration ms={duration_ms} /> },
  {
    id: "error",
    title: "Error",
    cell: ({ error }) =>
      error?.message === undefined || error.message === null ? (
        "–"
      ) : (
        <Safe text={error.message.split("\n", 1)[0]} limit={160} />
      ),
  },
];

interface TaskTableProps {
  job_id: string;
  stage: string;
  caption: string;
  /** Of these ordinals, or all that failed. */
  of: readonly Range[] | "failed";
  /** Read again when it is another. */
  version: string;
}

export function TaskTable({ job_id, stage, caption, of, version }: TaskTableProps) {
  const [lo, hi] = of === "failed" ? [0, undefined] : [of[0]?.[0] ?? 0, of.at(-1)?.[1] ?? 0];
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ["heat tasks", job_id, stage, of, version],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      readTasks(
        job_id,
        stage,
        {
          ...{ from: lo, limit: 50 },
          ...(hi === undefined ? {} : { to: hi }),
          ...(of === "failed" ? { status: "failed" as const } : {}),
          ...(pageParam === undefined ? {} : { cursor: pageParam }),
        },
        signal,
      ),
    getNextPageParam: (last) => last.next ?? undefined,
  });
  if (error !== null) return <ProblemNote error={error} />;
  if (isPending) return <Skeleton lines={3} />;
  const rows = data.pages.flatMap(({ tasks }) => tasks).filter(({ ordinal }) => of === "failed" || isIn(of, ordinal));
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
      {hasNextPage && (
        <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      )}
    </div>
  );
}
