// One task: how it stands, why, the story of its attempts, its log, its values, and what it came from and led to.
import { Link, useParams } from "wouter";
import { curlLine } from "../../api/commands.js";
import { pageBase } from "../../api/page_base.js";
import { to } from "../../routes.js";
import {
  Card,
  CliAndCurl,
  Copy,
  Duration,
  Empty,
  Page,
  ProblemNote,
  Safe,
  Skeleton,
  StatusBadge,
  Time,
  useNow,
} from "../../ui/index.js";
import { Attempts, ofMost } from "./attempts.js";
import { LineageCard } from "./lineage.js";
import { Logs } from "./logs.js";
import { isOpen, type Task, useTask } from "./reading.js";
import { WorkerName, waitsSince } from "./story.js";
import { Values } from "./values.js";
import { TaskVerbs } from "./verbs.js";
import { Why } from "./why.js";
import "./task.css";

export function TaskPage() {
  const { task_id = "" } = useParams<{ task_id: string }>();
  const { read, error } = useTask(task_id);
  if (read === null || read.task.task_id !== task_id) {
    return (
      <Page title={`Task ${task_id}`} crumbs={[{ href: to.tasks(), text: "Tasks" }]}>
        {error === null ? (
          <Skeleton lines={8} />
        ) : error.status === 404 ? (
          <Empty title="There is no such task" command="fanfold tasks list">
            It may be of another tenant, or its job was removed.
          </Empty>
        ) : (
          <ProblemNote error={error} title="The task cannot be read" />
        )}
      </Page>
    );
  }
  const { task } = read;
  const crumbs =
    task.job_id === null
      ? [{ href: to.tasks({ type: task.task_type }), text: `Tasks ${task.task_type}` }]
      : [
          { href: to.jobs(), text: "Jobs" },
          { href: to.job(task.job_id), text: task.job_id.slice(0, 12) },
          {
            href: to.job(task.job_id, "tasks", { stage: task.stage_number ?? undefined }),
            text: `${task.stage_number} ${task.stage}`,
          },
        ];
  return (
    <Page
      title={`Task ${task.index}`}
      heading={
        <>
          Task <Safe text={task.index} limit={200} />
        </>
      }
      crumbs={crumbs}
      actions={<TaskVerbs task={task} />}
    >
      <ProblemNote error={error} title="The task cannot be read again" />
      <Facts task={task} />
      <div className="task-columns">
        <div className="stack task-main">
          <Why task={task} />
          <Attempts task={task} />
          <Logs task_id={task_id} attempts={attemptsOf(task)} is_open={isOpen(task)} />
        </div>
        <div className="stack task-side">
          <Values read={read} />
          <LineageCard task={task} />
          <CliAndCurl
            cli={`fanfold tasks show ${task_id}`}
            curl={curlLine(pageBase(), { method: "GET", path: "/api/tasks/{task_id}", params: { task_id } })}
          />
        </div>
      </div>
    </Page>
  );
}

function attemptsOf({ attempt, attempts }: Task): number {
  return Math.max(attempt ?? 1, ...attempts.map((one) => one.attempt));
}

function Facts({ task }: { task: Task }) {
  const now = useNow();
  const { running, finished_at, duration_ms } = task;
  const waits = task.status === "queued";
  const later = task.run_at !== null && Date.parse(task.run_at) > now;
  return (
    <Card className="task-facts">
      <dl className="fact-list">
        <div>
          <dt>Status</dt>
          <dd>
            <StatusBadge status={shownStatus(task, now)} />
          </dd>
        </div>
        <div>
          <dt>Attempt</dt>
          <dd>{ofMost(task.attempt, task.attempts.at(-1)?.max_attempts ?? task.max_attempts)}</dd>
        </div>
        <div>
          <dt>{running === null ? "Ran" : "Running"}</dt>
          <dd>
            {running === null ? (
              <Duration ms={duration_ms} />
            ) : (
              <Duration ms={Math.max(0, now - Date.parse(running.started_at ?? running.claimed_at))} />
            )}
          </dd>
        </div>
        <div>
          <dt>{running !== null ? "Since" : !waits ? "Ended" : later ? "Not before" : "Waits since"}</dt>
          <dd>
            <Time
              at={
                running !== null
                  ? (running.started_at ?? running.claimed_at)
                  : waits
                    ? later
                      ? task.run_at
                      : waitsSince(task)
                    : finished_at
              }
            />
          </dd>
        </div>
        <div>
          <dt>Type</dt>
          <dd>
            <code>
              <Safe text={task.task_type} />
            </code>
          </dd>
        </div>
        <div>
          <dt>Id</dt>
          <dd className="row">
            <code>{task.task_id}</code>
            <Copy text={task.task_id} label="Copy the task's id" />
          </dd>
        </div>
        {task.job_id !== null && (
          <div>
            <dt>Job</dt>
            <dd>
              <Link href={to.job(task.job_id)}>
                <code>{task.job_id.slice(0, 12)}</code>
              </Link>
              <span className="muted">
                {" "}
                stage {task.stage_number} <Safe text={task.stage} />
              </span>
            </dd>
          </div>
        )}
        {task.priority !== null && task.priority !== 0 && (
          <div>
            <dt>Priority</dt>
            <dd>{task.priority}</dd>
          </div>
        )}
        {task.parent !== null && (
          <div>
            <dt>Parent</dt>
            <dd>
              <Safe text={task.parent} limit={100} />
            </dd>
          </div>
        )}
        {task.bbox !== null && (
          <div>
            <dt>Bounds</dt>
            <dd>
              <span className="number">{task.bbox.map((edge) => Number(edge.toFixed(4))).join(", ")}</span>{" "}
              {task.job_id !== null && (
                <Link href={to.job(task.job_id, "map", { stage: task.stage_number ?? undefined, task: task.task_id })}>
                  On the map
                </Link>
              )}
            </dd>
          </div>
        )}
        {task.worker !== null && (
          <div>
            <dt>By</dt>
            <dd>
              <WorkerName worker={task.worker} />
            </dd>
          </div>
        )}
      </dl>
    </Card>
  );
}

/** As lists and the heat map tell tasks that wait apart. */
export function shownStatus({ status, run_at, attempts }: Task, now: number): string {
  if (status !== "queued") return status;
  if (attempts.some(({ outcome }) => outcome === "failed" || outcome === "lost")) return "retrying";
  return run_at !== null && Date.parse(run_at) > now + 1000 ? "later" : "queued";
}
