// Tasks that stand alone: by type and status, page by page.
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Link } from "wouter";
import { type ApiProblem, call, type Reply } from "../../api/call.js";
import { useGet } from "../../api/hooks.js";
import { to, useQueryState } from "../../routes.js";
import { lookOf } from "../../status.js";
import {
  Button,
  type Column,
  Duration,
  Empty,
  Page,
  ProblemNote,
  Safe,
  Skeleton,
  StatusBadge,
  Table,
  Time,
} from "../../ui/index.js";
import "./task.css";

type Row = Reply<"tasks.list">["tasks"][number];

const statuses = ["queued", "processing", "completed", "failed", "skipped", "cancelled"] as const;
const PAGE_ROWS = 50;

const columns: Column<Row>[] = [
  {
    title: "Task",
    cell: ({ task_id, index }) => (
      <Link href={to.task(task_id)}>
        <code>{task_id}</code>
        {index !== task_id.split("-")[1] && (
          <>
            {" "}
            <Safe text={index} limit={60} />
          </>
        )}
      </Link>
    ),
  },
  { title: "Status", cell: ({ status }) => <StatusBadge status={status} /> },
  {
    title: "Type",
    cell: ({ task_type }) => (
      <code>
        <Safe text={task_type} />
      </code>
    ),
  },
  { title: "Attempt", align: "right", minor: true, cell: ({ attempt }) => attempt ?? "–" },
  { title: "Ran", align: "right", cell: ({ duration_ms }) => <Duration ms={duration_ms} /> },
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
  { title: "Ended", minor: true, cell: ({ finished_at }) => <Time at={finished_at} /> },
  {
    title: "Error",
    minor: true,
    cell: ({ error }) => (error === null ? null : <Safe text={error.message} limit={120} />),
  },
];

export function TasksPage() {
  const [{ type, status, cursor }, set] = useQueryState({ type: "", status: "", cursor: "" });
  const [typed, setTyped] = useState(type);
  const ids = { type: useId(), status: useId() };
  const query = {
    limit: PAGE_ROWS,
    type,
    ...(status === "" ? {} : { status: status as Row["status"] }),
    cursor,
  };
  const { data, error, isPending } = useGet("tasks.list", query, {
    every_ms: 5000,
    when: ({ kind }) => kind.startsWith("task."),
  });
  // A page may be short because few of those it looked at have the status: the next one is looked at by itself.
  const skips = data !== undefined && data.tasks.length === 0 && data.next !== null;
  const further = useFurther(query, skips ? data.next : null);
  const shown = further.data ?? data;
  return (
    <Page title="Tasks" heading="Tasks that stand alone" crumbs={[{ href: to.queues(), text: "Queues" }]}>
      <form
        className="row tasks-filter"
        onSubmit={(event) => {
          event.preventDefault();
          set({ type: typed.trim(), cursor: "" });
        }}
      >
        <label htmlFor={ids.type}>Type</label>
        <input
          id={ids.type}
          type="search"
          className="text-input"
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
          placeholder="connector.webhook.deliver"
        />
        <label htmlFor={ids.status}>Status</label>
        <select
          id={ids.status}
          className="text-input"
          value={status}
          onChange={({ target }) => set({ status: target.value, cursor: "" })}
        >
          <option value="">Any</option>
          {statuses.map((one) => (
            <option key={one} value={one}>
              {lookOf(one).label}
            </option>
          ))}
        </select>
        <Button type="submit">Show</Button>
      </form>
      <ProblemNote error={error ?? further.error} title="The tasks cannot be read" />
      {(isPending || (skips && further.isPending)) && <Skeleton lines={6} />}
      {shown !== undefined && shown.tasks.length > 0 && (
        <Table
          columns={columns}
          rows={shown.tasks}
          rowKey={({ task_id }) => task_id}
          href={({ task_id }) => to.task(task_id)}
          caption="Tasks that stand alone"
        />
      )}
      {shown !== undefined && shown.tasks.length === 0 && shown.next === null && (
        <Empty
          title={type === "" && status === "" && cursor === "" ? "No task stands alone" : "No task is like that"}
          command="fanfold tasks enqueue <type> --parameters '{}'"
        >
          Tasks of jobs are on their job's page. One without a job is enqueued by itself.
        </Empty>
      )}
      {shown !== undefined && (
        <div className="row">
          {cursor !== "" && <Button onClick={() => set({ cursor: "" })}>To the beginning</Button>}
          {shown.next !== null && (
            <Button className="ends" onClick={() => set({ cursor: shown.next ?? "" })}>
              Next page
            </Button>
          )}
        </div>
      )}
    </Page>
  );
}

const MOST_LOOKS = 20;

/** The first page behind `cursor` that has something on it, or the last that was looked at. */
function useFurther(query: object, cursor: string | null) {
  return useQuery<Reply<"tasks.list">, ApiProblem>({
    queryKey: ["/api/tasks", "further", query, cursor],
    enabled: cursor !== null,
    queryFn: async ({ signal }) => {
      let page: Reply<"tasks.list"> = { tasks: [], next: cursor };
      for (let looks = 0; looks < MOST_LOOKS && page.tasks.length === 0 && page.next !== null; looks++) {
        page = await call("tasks.list", { ...query, cursor: page.next }, signal);
      }
      return page;
    },
  });
}
