// What a worker holds of this tenant: what runs, with how long, and what waits in it.

import { Link } from "wouter";
import type { Reply } from "../../api/call.js";
import { useGet } from "../../api/hooks.js";
import { to } from "../../routes.js";
import { Duration, ProblemNote, Safe, ShapeIcon, Skeleton, useNow } from "../../ui/index.js";
import { progressText } from "./worker_words.js";

type Task = Reply<"workers.tasks">["tasks"][number];

export function WorkerTasks({ worker_id }: { worker_id: string }) {
  const { data, error } = useGet("workers.tasks", { worker_id, limit: 20 }, { every_ms: 2_000 });
  if (error !== null) return <ProblemNote error={error} title="Its tasks could not be read" />;
  if (data === undefined) return <Skeleton lines={2} />;
  if (data.tasks.length === 0) return <p className="muted small">It holds no task of this tenant.</p>;
  return (
    <>
      <ul className="worker-tasks" aria-label="Its tasks">
        {data.tasks.map((task) => (
          <li key={`${task.task_id ?? task.stage} ${task.claimed_at}`}>
            <TaskLine task={task} />
          </li>
        ))}
      </ul>
      {data.more && (
        <p className="muted small">and more: it holds {data.held.toLocaleString("en-US")} tasks of this tenant</p>
      )}
    </>
  );
}

function TaskLine({ task }: { task: Task }) {
  const now = useNow();
  const since = task.started_at ?? task.claimed_at;
  const what = task.planning ? `the plan of ${task.stage ?? task.task_type}` : task.index;
  const progress = progressText(task.progress);
  return (
    <>
      <ShapeIcon status={task.running ? "processing" : "queued"} size={12} />
      <span className="worker-task">
        {task.task_id === null ? (
          <Safe text={what} />
        ) : (
          <Link href={to.task(task.task_id)}>
            <Safe text={what} />
          </Link>
        )}{" "}
        <span className="muted">
          <Safe text={task.stage === null ? task.task_type : `${task.stage} · ${task.task_type}`} />
          {task.attempt > 1 && ` · attempt ${task.attempt}`}
          {progress !== null && ` · ${progress}`}
        </span>
        {task.job_id !== null && (
          <>
            {" "}
            <Link href={to.job(task.job_id)} className="small">
              <Safe text={task.job_type ?? "job"} /> {task.job_id.slice(0, 8)}
            </Link>
          </>
        )}
      </span>
      <span className="muted nowrap small">
        {task.running ? "runs" : "waits in it"} <Duration ms={Math.max(0, now - Date.parse(since))} />
      </span>
    </>
  );
}
