// The story of a task's attempts, oldest first: who tried, from when to when, how it ended, and when it is tried again.
import { Link } from "wouter";
import { count } from "../../../../src/core/shown/figures.js";
import { to } from "../../routes.js";
import { Card, Duration, Safe, Time, useNow } from "../../ui/index.js";
import { withoutColours } from "./log_text.js";
import type { Task } from "./reading.js";
import { Facts, Step, WorkerName, waitsSince } from "./story.js";

type Attempt = Task["attempts"][number];

interface ProcessEnd {
  pid?: number;
  exit_code?: number;
  signal?: string;
  peak_memory_mb?: number;
  last_lines?: string[];
}

const outcomes: Record<Attempt["outcome"], { word: string; status: string; tells?: string }> = {
  failed: { word: "failed", status: "failed" },
  lost: {
    word: "lost its worker",
    status: "failed",
    tells: "The worker stopped sending heartbeats. When this attempt began is not known.",
  },
  released: {
    word: "was given back",
    status: "queued",
    tells: "The worker stopped in good order. This costs no attempt.",
  },
  refused: {
    word: "came too late",
    status: "cancelled",
    tells: "The result was refused, because another attempt has the task. It changed nothing.",
  },
  superseded: {
    word: "was superseded",
    status: "skipped",
    tells: "It was run again on request. The result there was is gone.",
  },
};

const engine_trouble = "The trouble was the engine's own, not the task's. This costs no attempt.";

/** Where nobody gave a number, there is none to be one of. */
export function ofMost(attempt: number | null, most: number | null): string {
  return most === null ? count(attempt ?? 0) : `${count(attempt ?? 0)} of ${count(most)}`;
}

export function Attempts({ task }: { task: Task }) {
  const { attempts, running, attempts_left_out } = task;
  const has_end = task.finished_at !== null && (task.status !== "failed" || attempts.length === 0);
  return (
    <Card title="Attempts">
      <ol className="bare-list task-story">
        <Step
          status="queued"
          title={
            <>
              Created <Time at={task.created_at} />
            </>
          }
        >
          {task.stage_opened_at !== null && task.job_id !== null && (
            <span className="muted">
              The stage was opened <Time at={task.stage_opened_at} />.
            </span>
          )}
        </Step>
        {attempts_left_out > 0 && (
          <Step status="skipped" title={`${count(attempts_left_out)} earlier attempts are not shown`} />
        )}
        {attempts.map((attempt, position) => (
          <OneAttempt
            // biome-ignore lint/suspicious/noArrayIndexKey: a story is only ever added to
            key={position}
            attempt={attempt}
            job_id={task.job_id}
            max={task.max_attempts}
            again={attempts[position - 1] !== undefined && attempts[position - 1]!.epoch !== attempt.epoch}
          />
        ))}
        {running !== null && <Running running={running} max={task.max_attempts} timeout_s={task.timeout_s} />}
        {task.status === "queued" && <Waiting task={task} />}
        {has_end && <End task={task} />}
      </ol>
    </Card>
  );
}

interface OneAttemptProps {
  attempt: Attempt;
  job_id: string | null;
  max: number | null;
  again: boolean;
}

function OneAttempt({ attempt, job_id, max, again }: OneAttemptProps) {
  const { outcome, category, code, message, signature, detail, duration_ms, started_at, ended_at, worker } = attempt;
  const { retry_at, gives_up_at } = attempt;
  const { word, status, tells } = outcomes[outcome];
  const end = (detail as { process?: ProcessEnd } | null)?.process;
  const stack = (detail as { stack?: unknown } | null)?.stack;
  return (
    <>
      {again && <Step status="retrying" title={`Run again on request (epoch ${attempt.epoch} of the job)`} />}
      <Step
        status={status}
        title={
          <>
            Attempt {ofMost(attempt.attempt, attempt.max_attempts ?? max)} {word} <Time at={ended_at} />
          </>
        }
      >
        <Facts>
          {started_at !== null && (
            <>
              began <Time at={started_at} />
            </>
          )}
          {duration_ms !== null && (
            <>
              ran <Duration ms={duration_ms} />
            </>
          )}
          {worker !== null && <WorkerName worker={worker} />}
          {end?.signal !== undefined && (
            <>
              signal <strong>{<Safe text={end.signal} />}</strong>
            </>
          )}
          {end?.exit_code !== undefined && <>exit code {end.exit_code}</>}
          {end?.peak_memory_mb !== undefined && <>peak memory {count(end.peak_memory_mb)} MB</>}
        </Facts>
        {tells !== undefined && <p className="muted small">{category === "engine" ? engine_trouble : tells}</p>}
        {category === "engine" && message !== null && (
          <p className="muted small">
            <Safe text={message} limit={300} />
          </p>
        )}
        {category === "throttled" && <p className="muted small">Being told to slow down costs no attempt.</p>}
        {message !== null && outcome === "failed" && (
          <div className="note danger">
            <p>
              <strong>
                <Safe text={code ?? "error"} />
              </strong>
              {category !== null && <span className="muted"> · {category}</span>}
            </p>
            <p className="error-text">
              <Safe text={message} />
            </p>
            {signature !== null && job_id !== null && (
              <p className="small">
                <Link href={to.job(job_id, "errors", { signature })}>All tasks with this error</Link>
              </p>
            )}
          </div>
        )}
        {end?.last_lines !== undefined && end.last_lines.length > 0 && (
          <details open>
            <summary className="muted">The last lines of its process</summary>
            <pre className="last-lines">
              <Safe text={withoutColours(end.last_lines.join("\n"))} />
            </pre>
          </details>
        )}
        {typeof stack === "string" && (
          <details>
            <summary className="muted">Stack</summary>
            <pre className="last-lines">
              <Safe text={stack} />
            </pre>
          </details>
        )}
        {retry_at !== null && (
          <p className="small muted">
            Next try not before <Time at={retry_at} />: put off by{" "}
            <Duration ms={Date.parse(retry_at) - Date.parse(ended_at)} />.
            {gives_up_at !== null && (
              <>
                {" "}
                Given up <Time at={gives_up_at} /> if it goes on failing.
              </>
            )}
          </p>
        )}
      </Step>
    </>
  );
}

interface RunningProps {
  running: NonNullable<Task["running"]>;
  max: number | null;
  timeout_s: number | null;
}

function Running({ running, max, timeout_s }: RunningProps) {
  const now = useNow();
  const since = running.started_at ?? running.claimed_at;
  const progress = running.progress as { done?: number; total?: number; share?: number; message?: string } | null;
  return (
    <Step
      status="processing"
      title={
        <>
          Attempt {ofMost(running.attempt, max)} has run <Duration ms={Math.max(0, now - Date.parse(since))} />
        </>
      }
    >
      <Facts>
        {running.started_at === null ? (
          <>
            taken <Time at={running.claimed_at} />; its worker has not told of it yet
          </>
        ) : (
          <>
            began <Time at={running.started_at} />
          </>
        )}
        {running.worker !== null && <WorkerName worker={running.worker} />}
        {running.heartbeat_at !== null && (
          <>
            heartbeat <Time at={running.heartbeat_at} />
          </>
        )}
        {timeout_s !== null && <>ends after {count(timeout_s)} s at the latest</>}
      </Facts>
      {progress !== null && typeof progress === "object" && (
        <p className="small">
          {typeof progress.done === "number" && typeof progress.total === "number" && (
            <progress value={progress.done} max={progress.total} aria-label="Progress" />
          )}{" "}
          {typeof progress.done === "number" && <>{count(progress.done)} </>}
          {typeof progress.total === "number" && <>of {count(progress.total)} </>}
          {typeof progress.message === "string" && <Safe text={progress.message} limit={300} />}
        </p>
      )}
    </Step>
  );
}

function Waiting({ task }: { task: Task }) {
  const now = useNow();
  const later = task.run_at !== null && Date.parse(task.run_at) > now;
  const last = task.attempts.at(-1);
  const most = last?.max_attempts ?? task.max_attempts;
  return (
    <Step
      status={later ? "later" : task.attempts.length > 0 ? "retrying" : "queued"}
      title={
        later ? (
          <>
            Attempt {ofMost(task.attempt, most)} may start <Time at={task.run_at} />
          </>
        ) : (
          <>Waits for a worker, attempt {ofMost(task.attempt, most)}</>
        )
      }
    >
      {!later && (
        <span className="muted">
          began <Time at={waitsSince(task)} />
        </span>
      )}
    </Step>
  );
}

function End({ task }: { task: Task }) {
  const word = { completed: "completed", failed: "failed", skipped: "Skipped", cancelled: "Cancelled" }[
    task.status as "completed"
  ];
  const ran = task.status === "completed" || task.status === "failed";
  return (
    <Step
      status={task.status}
      title={
        <>
          {ran ? `Attempt ${ofMost(task.attempt, task.max_attempts)} ${word}` : word} <Time at={task.finished_at} />
        </>
      }
    >
      <Facts>
        {task.duration_ms !== null && (
          <>
            ran <Duration ms={task.duration_ms} />
          </>
        )}
        {task.worker !== null && <WorkerName worker={task.worker} />}
      </Facts>
      {task.error !== null && (
        <p className="error-text">
          <Safe text={(task.error as { message?: string }).message} />
        </p>
      )}
    </Step>
  );
}
