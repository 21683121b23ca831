// What waits, by task type: those with a problem first, why nothing is taken, how quickly it is worked off.
import { useState } from "react";
import { Link } from "wouter";
import { useGet } from "../../api/hooks.js";
import { useForbidden } from "../../api/session.js";
import { to, useQueryState } from "../../routes.js";
import {
  absoluteTime,
  Button,
  type Column,
  Count,
  Duration,
  Empty,
  FirstRead,
  Page,
  Safe,
  Select,
  StackedBar,
  Table,
  Time,
  useNow,
} from "../../ui/index.js";
import { PauseDialog } from "./pause_dialog.js";
import { Charts, ChartTable } from "./queue_charts.js";
import { depthOf, isPlanning, isProblem, LONG_WAIT_S, type Queue, queueName, waitOf } from "./queue_words.js";
import "./queues.css";

const spans = [
  { value: "60", text: "the last hour" },
  { value: "360", text: "the last 6 hours" },
  { value: "1440", text: "the last 24 hours" },
];

export function QueuesPage() {
  const [{ minutes }, set] = useQueryState({ minutes: "60" });
  const { data, error } = useGet(
    "queues.list",
    { minutes: Number(minutes) },
    { every_ms: 3_000, when: ({ kind }) => kind.startsWith("type.") },
  );
  const [asked, setAsked] = useState<{ verb: "pause" | "continue"; task_type: string } | null>(null);
  const forbidden = useForbidden("operate");
  const now = useNow();
  const waits = data?.queues.filter((one) => isProblem(one, now)).length ?? 0;
  return (
    <Page
      title="Queues"
      actions={
        <Select
          label={<span className="sr-only">History of</span>}
          value={minutes}
          options={spans}
          onChange={({ target }) => set({ minutes: target.value })}
        />
      }
    >
      <FirstRead data={data} error={error} title="The queues could not be read" lines={6} />
      {data !== undefined && data.queues.length === 0 && (
        <Empty title="Nothing waits, runs, or ran within the last 24 hours" command="fanfold submit hello_world --wait">
          <p>Each task type has a queue of its own, which is here from its first task on.</p>
        </Empty>
      )}
      {data !== undefined && data.queues.length > 0 && (
        <>
          <p className="muted" data-told="summary">
            {total(data.queues)}
            {waits > 0 && (
              <strong className="attention"> · {waits === 1 ? "1 queue needs" : `${waits} queues need`} a look</strong>
            )}
          </p>
          <Table
            caption="Queues, those with a problem first"
            columns={columns(forbidden, setAsked, now)}
            rows={data.queues}
            rowKey={({ task_type }) => task_type}
            rowClass={(queue) => (isProblem(queue, now) ? "queue problem-queue" : "queue")}
          />
          {data.more && <p className="muted">There are more task types than are shown.</p>}
          <ChartTable queues={data.queues} />
        </>
      )}
      {asked !== null && <PauseDialog {...asked} onClose={() => setAsked(null)} />}
    </Page>
  );
}

function total(queues: readonly Queue[]): string {
  const sum = (of: (queue: Queue) => number) =>
    queues.reduce((all, queue) => all + of(queue), 0).toLocaleString("en-US");
  return `${sum(({ due }) => due)} due · ${sum(({ later }) => later)} later · ${sum(({ running }) => running)} running`;
}

function columns(
  forbidden: string | null,
  ask: (asked: { verb: "pause" | "continue"; task_type: string }) => void,
  now: number,
): Column<Queue>[] {
  return [
    { title: "Queue", cell: (queue) => <Name queue={queue} now={now} /> },
    { title: "Tasks", cell: (queue) => <DepthCell queue={queue} /> },
    {
      title: "Oldest waits",
      cell: (queue) => <Oldest queue={queue} now={now} />,
    },
    { title: "History", cell: (queue) => <Charts queue={queue} /> },
    {
      title: <span className="sr-only">Do</span>,
      cell: ({ task_type, paused }) =>
        isPlanning(task_type) ? null : (
          <Button
            className="small-button nowrap"
            forbidden={forbidden}
            data-verb={paused === null ? "pause" : "continue"}
            aria-label={`${paused === null ? "Pause" : "Continue"} ${task_type}`}
            onClick={() => ask({ verb: paused === null ? "pause" : "continue", task_type })}
          >
            {paused === null ? "Pause" : "Continue"}
          </Button>
        ),
    },
  ];
}

function Name({ queue, now }: { queue: Queue; now: number }) {
  const { task_type, problem, paused } = queue;
  return (
    <div className="queue-name">
      <strong className={isPlanning(task_type) ? undefined : "mono"}>
        <Safe text={queueName(task_type)} />
      </strong>
      <Served queue={queue} />
      {problem !== null && (
        <p className="queue-problem" data-code={problem.code}>
          {problem.code === "QUEUE_PAUSED" && paused !== null ? (
            <>
              Paused <Time at={paused.at} /> by <Safe text={paused.by} limit={80} />
              {paused.reason !== null && (
                <>
                  : <Safe text={paused.reason} limit={300} />
                </>
              )}
            </>
          ) : (
            <>
              Nothing of it is taken: <Safe text={problem.reason} />. Run <code>{problem.command}</code>
            </>
          )}
        </p>
      )}
      {problem === null && waitOf(queue, now) > LONG_WAIT_S && (
        <p className="queue-problem">
          Its oldest task waits long{queue.oldest_job_id === null ? "." : ": "}
          {queue.oldest_job_id !== null && <Link href={to.job(queue.oldest_job_id)}>see why</Link>}
        </p>
      )}
    </div>
  );
}

function Served({ queue: { workers, slots } }: { queue: Queue }) {
  return (
    <div className="small muted">
      <Link href={to.workers()}>
        {workers.toLocaleString("en-US")} {workers === 1 ? "worker" : "workers"}
      </Link>
      , {slots.toLocaleString("en-US")} {slots === 1 ? "slot" : "slots"}
    </div>
  );
}

function DepthCell({ queue }: { queue: Queue }) {
  const { due, retrying, later, running } = depthOf(queue);
  const parts = [
    { status: "processing", n: running, word: "running" },
    { status: "queued", n: due, word: "due" },
    { status: "retrying", n: retrying, word: "retrying" },
    { status: "later", n: later, word: "later" },
  ];
  const shown = parts.filter(({ n }) => n > 0);
  return (
    <div className="queue-depth">
      <StackedBar parts={parts} total={null} label="Tasks" />
      <span className="small">
        {shown.length === 0 && <span className="muted">nothing waits</span>}
        {shown.map(({ status, n, word }, at) => (
          <span key={status} className="nowrap">
            {at > 0 && <span className="muted"> · </span>}
            <Count n={n} /> {word}
          </span>
        ))}
      </span>
      <Links queue={queue} />
    </div>
  );
}

function Links({ queue: { task_type, oldest_job_id, oldest_task_id, due, later } }: { queue: Queue }) {
  if (due + later === 0 || isPlanning(task_type)) return null;
  return (
    <span className="small row queue-links">
      {oldest_job_id !== null && <Link href={to.job(oldest_job_id)}>job that waits longest</Link>}
      {oldest_job_id === null && oldest_task_id !== null && (
        <Link href={to.tasks({ type: task_type })}>tasks that wait</Link>
      )}
    </span>
  );
}

function Oldest({ queue, now }: { queue: Queue; now: number }) {
  if (queue.oldest_at === null) return <span className="muted">–</span>;
  const wait_s = waitOf(queue, now);
  return (
    <span
      className={wait_s > LONG_WAIT_S ? "attention" : undefined}
      title={`since ${absoluteTime(new Date(queue.oldest_at))}`}
    >
      <Duration ms={wait_s * 1000} />
    </span>
  );
}
