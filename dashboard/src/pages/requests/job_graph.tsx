// The jobs of a request by their sequence, each with how far it is; at a gate the question and both answers.
import { Link } from "wouter";
import { count } from "../../../../src/core/shown/figures.js";
import { isTerminal, type StageStatus } from "../../../../src/core/shown/statuses.js";
import { useProgress } from "../../live/live.js";
import { to } from "../../routes.js";
import { lookOf } from "../../status.js";
import { durationText, Safe, ShapeIcon, StackedBar, useNow } from "../../ui/index.js";
import { Graph } from "../job/graph.js";
import { Decide } from "./decide.js";
import type { Request, RequestJob, Review } from "./records.js";

export function JobGraph({ request, review }: { request: Request; review: Review | undefined }) {
  const numbers = new Map(request.jobs.map(({ name, number }) => [name, number]));
  return (
    <Graph
      label="Jobs"
      nodes={request.jobs.map((job) => ({
        number: job.number,
        after: job.after.flatMap((name) => numbers.get(name) ?? []),
        key: job.name,
        status: job.status,
        ended: isTerminal(job.status as StageStatus),
        job,
      }))}
      card={({ job }, tells_order) => <JobCard request={request} review={review} job={job} tells_order={tells_order} />}
    />
  );
}

const skip_reasons: Record<string, string> = {
  when: "Its condition was not met.",
  upstream: "What it needs did not end well.",
};

interface JobCardProps {
  request: Request;
  review: Review | undefined;
  job: RequestJob;
  tells_order: boolean;
}

function JobCard({ request, review, job, tells_order }: JobCardProps) {
  const { name, job_id, job_type, status, sequence, importance, after } = job;
  const parallel = request.jobs.filter((one) => one.sequence === sequence).length > 1;
  return (
    <>
      <header className="stage-head">
        <ShapeIcon status={status} size={16} />
        <h3>
          {job_id === null ? (
            <span>
              <span className="muted">{sequence}</span> <Safe text={name} />
            </span>
          ) : (
            <Link href={to.job(job_id)} className="stage-link">
              <span className="muted">{sequence}</span> <Safe text={name} />
            </Link>
          )}
        </h3>
      </header>
      <p className="stage-status small">
        {lookOf(status).label}
        {importance !== "critical" && <span className="chip">{importance}</span>}
        {parallel && <span className="chip">in parallel</span>}
      </p>
      <Progress job={job} />
      {tells_order && after.length > 0 && (
        <p className="muted small">
          after <Safe text={after.join(", ")} />
        </p>
      )}
      <Notes job={job} />
      <Gate request={request} review={review} job={job} />
      <p className="stage-type muted small">
        <Safe text={job_type} />
        <Took job={job} />
      </p>
    </>
  );
}

/** The bar is of all its stages; the line below follows the one that runs as the stream tells it. */
function Progress({ job }: { job: RequestJob }) {
  const live = useProgress(job.job_id ?? "");
  const { total, completed, failed, skipped } = job;
  if (total === null || total === 0) return null;
  const running = [...live.values()].find(({ stage }) => stage === job.stage);
  const ended = isTerminal(job.status as StageStatus);
  return (
    <>
      <StackedBar
        label={job.name}
        total={total}
        parts={[
          { status: "completed", n: completed ?? 0 },
          { status: "failed", n: failed ?? 0 },
          { status: "skipped", n: skipped ?? 0 },
          { status: "processing", n: ended ? 0 : (running?.processing ?? 0) },
        ]}
      />
      <p className="stage-counts">
        <strong className="number">{count(completed ?? 0)}</strong> of <span className="number">{count(total)}</span>{" "}
        tasks completed{(failed ?? 0) > 0 && `, ${count(failed ?? 0)} failed`}
      </p>
      {!ended && job.stage !== null && (
        <p className="small muted number">
          at <Safe text={job.stage} />
          {running !== undefined && running.total !== null && running.total > 0 && (
            <>
              : {count(running.completed + running.failed + running.skipped)} of {count(running.total)}
            </>
          )}
        </p>
      )}
    </>
  );
}

function Took({ job: { started_at, finished_at, status } }: { job: RequestJob }) {
  const now = useNow();
  if (started_at === null || status === "skipped") return null;
  const until = finished_at === null ? now : Date.parse(finished_at);
  return <span className="number"> · {durationText(Math.max(0, until - Date.parse(started_at)))}</span>;
}

function Notes({ job }: { job: RequestJob }) {
  const { skip_reason, error, decision, superseded } = job;
  const lines: { key: string; text: string; bad?: boolean }[] = [];
  if (skip_reason !== null)
    lines.push({
      key: "skip",
      text: Object.hasOwn(skip_reasons, skip_reason) ? (skip_reasons[skip_reason] as string) : skip_reason,
    });
  if (decision !== null) {
    const why = typeof decision.why === "string" && decision.why !== "" ? `: ${decision.why}` : "";
    const by = typeof decision.by === "string" ? decision.by : "somebody";
    lines.push({ key: "decision", text: `${decision.approved === true ? "Approved" : "Rejected"} by ${by}${why}` });
  }
  if (error !== null && job.status !== "completed")
    lines.push({ key: "error", text: String(error.message ?? error.code ?? "failed"), bad: true });
  if (superseded.length > 0)
    lines.push({
      key: "before",
      text: `It had ${superseded.length === 1 ? "another job" : `${superseded.length} other jobs`} before a repair.`,
    });
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

function Gate({ request, review, job }: Omit<JobCardProps, "tells_order">) {
  const release = review?.makes_it_now === true ? review.release : null;
  const asks = job.status === "waiting_approval";
  return (
    <>
      {!asks && job.gate !== null && job.decision === null && job.status === "waiting" && (
        <p className="muted small">A person may have to approve it before it begins.</p>
      )}
      <div className={asks ? "stage-gate" : undefined}>
        {asks && job.gate !== null && job.gate !== "" && (
          <p>
            <Safe text={job.gate} limit={1000} />
          </p>
        )}
        {asks && review !== undefined && (
          <p className="small">
            <Link href={to.request(request.request_id, "review")} className="stage-above">
              {review.before === null ? "See what it makes" : "See what is different from before"}
            </Link>
          </p>
        )}
        {job.gate !== null && (
          <div className="row">
            <Decide request={request} release={release} offered={asks} />
          </div>
        )}
      </div>
    </>
  );
}
