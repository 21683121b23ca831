// One stage in the graph: how far it is, how quickly it goes, and what it waits for.
import { useState } from "react";
import { Link } from "wouter";
import { count, rate } from "../../../../src/core/shown/figures.js";
import { doneOf, type Pace } from "../../../../src/core/shown/pace.js";
import { isTerminal } from "../../../../src/core/shown/statuses.js";
import { roughly } from "../../../../src/core/shown/verdict.js";
import { useForbidden } from "../../api/session.js";
import { to } from "../../routes.js";
import { lookOf } from "../../status.js";
import { Button, IconButton, Safe, ShapeIcon, StackedBar, Time } from "../../ui/index.js";
import { ofMost } from "../task/attempts.js";
import { DecideDialog } from "./job_dialogs.js";
import type { Job, Stage } from "./records.js";
import { RetryStageDialog } from "./task_dialogs.js";
import { whyNotThisStage } from "./verb_rules.js";

/** As the ledger has them; what is running or retried is told apart from what simply waits. */
export function barParts(stage: Stage): { status: string; n: number }[] {
  return [
    { status: "completed", n: stage.completed },
    { status: "failed", n: stage.failed },
    { status: "skipped", n: stage.skipped },
    { status: "cancelled", n: stage.cancelled },
    { status: "processing", n: stage.processing },
    { status: "retrying", n: stage.retrying },
    { status: "queued", n: Math.max(0, stage.queued - stage.retrying) },
  ];
}

const skip_reasons: Record<string, string> = {
  when: "Its condition was not met.",
  upstream: "What it needs did not end well.",
};

/** An open stage of which nothing was begun is only queued, and nothing of a paused one is. */
function shownStatus(stage: Stage, paused: boolean): string {
  if (stage.status !== "processing") return stage.status;
  if (paused) return "paused";
  return stage.processing === 0 && doneOf(stage) === 0 ? "queued" : "processing";
}

interface StageCardProps {
  job: Job;
  stage: Stage;
  pace: Pace | undefined;
  paused: boolean;
  /** What it waits for is said in words, where no lines show it. */
  tells_order: boolean;
}

export function StageCard({ job, stage, pace, paused, tells_order }: StageCardProps) {
  const status = shownStatus(stage, paused);
  const ended = isTerminal(stage.status);
  const done = doneOf(stage);
  return (
    <>
      <header className="stage-head">
        <ShapeIcon status={status} size={16} />
        <h3>
          <Link href={to.job(job.job_id, "tasks", { stage: stage.name })} className="stage-link">
            <span className="muted">{stage.number}</span> <Safe text={stage.name} />
          </Link>
        </h3>
        <RetryButton job={job} stage={stage} />
      </header>
      <p className="stage-status small">
        {lookOf(status).label}
        {stage.importance !== "critical" && <span className="chip">{stage.importance}</span>}
        {stage.epoch > 1 && <span className="chip">epoch {stage.epoch}</span>}
      </p>
      {stage.total !== null && stage.total > 0 && (
        <>
          <StackedBar parts={barParts(stage)} total={stage.total} label={stage.name} />
          <p className="stage-counts">
            <strong className="number">{count(ended ? stage.completed : done)}</strong> of{" "}
            <span className="number">{count(stage.total)}</span> {ended ? "completed" : "done"}
          </p>
          <Counts stage={stage} />
        </>
      )}
      {pace !== undefined && !paused && (
        <p className="stage-pace small number">
          {rate(pace.per_s)}
          {pace.eta_s !== null && ` · ${roughly(pace.eta_s)} left`}
        </p>
      )}
      {tells_order && <Order job={job} stage={stage} />}
      <Notes stage={stage} />
      <NextRetry stage={stage} />
      <Gate job={job} stage={stage} />
      <p className="stage-type muted small">
        <Safe text={stage.task_type} /> · {stage.parallelism.replaceAll("_", " ")}
      </p>
    </>
  );
}

/** In a list the one before is taken for granted. */
function Order({ job, stage }: { job: Job; stage: Stage }) {
  if (stage.after.length === 0 || (stage.after.length === 1 && stage.after[0] === stage.number - 1)) return null;
  const names = stage.after.map((number) => job.stages.find((one) => one.number === number)?.name ?? String(number));
  return (
    <p className="muted small">
      after <Safe text={names.join(", ")} />
    </p>
  );
}

function Counts({ stage }: { stage: Stage }) {
  const shown = barParts(stage).filter(({ status, n }) => n > 0 && status !== "completed" && status !== "queued");
  if (shown.length === 0) return null;
  return (
    <ul className="stage-chips small">
      {shown.map(({ status, n }) => (
        <li key={status}>
          <ShapeIcon status={status} size={10} /> <span className="number">{count(n)}</span> {lookOf(status).label}
        </li>
      ))}
    </ul>
  );
}

function Notes({ stage }: { stage: Stage }) {
  const { skip_reason, budget, failed, when, error, status, decision, total } = stage;
  const lines: { key: string; text: string; bad?: boolean }[] = [];
  if (skip_reason !== null)
    lines.push({
      key: "skip",
      text: Object.hasOwn(skip_reasons, skip_reason) ? (skip_reasons[skip_reason] as string) : skip_reason,
    });
  if (when !== null && !isTerminal(status))
    lines.push({
      key: "when",
      text: when.path === undefined ? "Only if its condition holds." : `Only if ${when.path} finds something.`,
    });
  if (budget !== null) {
    const forgives = budget.allowed ?? budget.count;
    const text =
      forgives === null
        ? `Forgives ${budget.percent} % of its tasks.`
        : `Forgives ${count(forgives)} failed; ${count(failed)} used.`;
    lines.push({ key: "budget", text, bad: forgives !== null && failed > forgives });
  }
  if (decision !== null)
    lines.push({
      key: "decision",
      text: `${decision.approved ? "Approved" : "Rejected"} by ${decision.by}${decision.why === null ? "" : `: ${decision.why}`}`,
    });
  // Failed tasks are grouped on their own page; a stage may also fail as a whole.
  if (error !== null && (failed === 0 || total === null))
    lines.push({ key: "error", text: error.message ?? error.code ?? "failed", bad: true });
  if (lines.length === 0) return null;
  return (
    <ul className="stage-notes small">
      {lines.map(({ key, text, bad }) => (
        <li key={key} className={bad === true ? "bad" : "muted"}>
          <Safe text={text} limit={300} />
        </li>
      ))}
    </ul>
  );
}

/** The task that is due first among those that wait for another attempt. */
function NextRetry({ stage: { next_retry, status } }: { stage: Stage }) {
  if (next_retry === null || isTerminal(status)) return null;
  const { task_id, attempt, max_attempts, run_at, gives_up_at, error } = next_retry;
  return (
    <p className="stage-notes small muted">
      <Link href={to.task(task_id)}>Attempt {ofMost(attempt, max_attempts)}</Link> <Time at={run_at} />
      {gives_up_at !== null && (
        <>
          , given up <Time at={gives_up_at} />
        </>
      )}
      {typeof error?.message === "string" && (
        <>
          : <Safe text={error.message} limit={200} />
        </>
      )}
    </p>
  );
}

function Gate({ job, stage }: { job: Job; stage: Stage }) {
  // The dialog stays when the stage begins: it says so.
  const [verb, setVerb] = useState<"approve" | "reject" | null>(null);
  const forbidden = useForbidden("operate");
  return (
    <>
      {stage.status === "waiting_approval" ? (
        <div className="stage-gate">
          {stage.gate !== null && stage.gate.message !== "" && (
            <p>
              <Safe text={stage.gate.message} limit={1000} />
            </p>
          )}
          <div className="row">
            <Button kind="primary" forbidden={forbidden} onClick={() => setVerb("approve")}>
              Approve
            </Button>
            <Button forbidden={forbidden} onClick={() => setVerb("reject")}>
              Reject
            </Button>
          </div>
        </div>
      ) : (
        stage.gate !== null &&
        stage.decision === null &&
        !isTerminal(stage.status) && <p className="muted small">A person must approve it before it begins.</p>
      )}
      {verb !== null && (
        <DecideDialog
          verb={verb}
          job_id={job.job_id}
          stage={stage.name}
          message={stage.gate?.message}
          onClose={() => setVerb(null)}
        />
      )}
    </>
  );
}

function RetryButton({ job, stage }: { job: Job; stage: Stage }) {
  const [open, setOpen] = useState(false);
  const forbidden = useForbidden("operate");
  const not = whyNotThisStage(job, stage) ?? forbidden;
  return (
    <>
      {isTerminal(job.status) && stage.opened_at !== null && (
        <IconButton
          label={`Retry stage ${stage.name}`}
          className="copy stage-retry"
          forbidden={not}
          onClick={() => setOpen(true)}
        >
          ↻
        </IconButton>
      )}
      {open && <RetryStageDialog job={job} stage={stage.name} onClose={() => setOpen(false)} />}
    </>
  );
}
