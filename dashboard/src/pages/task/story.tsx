// The parts that a task's story is told with.
import type { ReactNode } from "react";
import { Link } from "wouter";
import { to } from "../../routes.js";
import { Safe, ShapeIcon } from "../../ui/index.js";
import type { Task } from "./reading.js";

type Worker = NonNullable<Task["worker"]>;

export function Step({ status, title, children }: { status: string; title: ReactNode; children?: ReactNode }) {
  return (
    <li className="story-step">
      <span className="story-mark">
        <ShapeIcon status={status} />
      </span>
      <div className="story-text">
        <div className="story-title">{title}</div>
        {children}
      </div>
    </li>
  );
}

/** When it could have been taken first. */
export function waitsSince(task: Task): string | null {
  const last = task.attempts.findLast(({ outcome }) => outcome !== "refused");
  return latest(task.run_at, last?.retry_at, task.stage_opened_at, task.created_at);
}

function latest(...times: (string | null | undefined)[]): string | null {
  const known = times.filter((time): time is string => typeof time === "string");
  return known.sort((a, b) => Date.parse(b) - Date.parse(a))[0] ?? null;
}

export function Facts({ children }: { children: ReactNode }) {
  const shown = (Array.isArray(children) ? children : [children]).filter((child) => child !== false && child !== null);
  if (shown.length === 0) return null;
  return (
    <ul className="attempt-facts small">
      {shown.map((child, position) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: facts of one moment, in a fixed order
        <li key={position}>{child}</li>
      ))}
    </ul>
  );
}

export function WorkerName({ worker }: { worker: Worker }) {
  const { worker_id, host, pid, status } = worker;
  return (
    <>
      worker{" "}
      <Link href={to.workers()} title={worker_id}>
        <code>{worker_id.slice(0, 8)}</code>
      </Link>
      {host !== null && (
        <>
          {" "}
          on <Safe text={host} />
          {pid !== null && <> (pid {pid})</>}
        </>
      )}
      {status === "lost" && <span className="muted"> (lost since)</span>}
    </>
  );
}
