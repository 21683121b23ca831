// A job at a glance: why it waits, its stages, what came of them, and what it made.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { count } from "../../../../src/core/shown/figures.js";
import { isTerminal } from "../../../../src/core/shown/statuses.js";
import { callText, urlOf } from "../../api/call.js";
import { useSession } from "../../api/session.js";
import { to } from "../../routes.js";
import { Button, Card, Json, JsonOf, ProblemNote, Safe, ShapeIcon, Skeleton, useNow } from "../../ui/index.js";
import { placeOf } from "./deliverable_place.js";
import type { LiveJob } from "./live_job.js";
import type { Job } from "./records.js";
import { StageGraph } from "./stage_graph.js";
import { WhyPanel } from "./why_panel.js";

/** A job all of whose stages move needs no explanation. */
const STILL_MS = 5_000;

export function Overview({ live, job }: { live: LiveJob; job: Job }) {
  return (
    <>
      <Why live={live} job={job} />
      <StageGraph job={job} paces={live.paces} />
      <div className="job-columns">
        <Outcomes job={job} />
        <Deliverables job={job} />
      </div>
      <Result job={job} />
    </>
  );
}

function Why({ live: { moved_at }, job }: { live: LiveJob; job: Job }) {
  const now = useNow();
  const waits =
    job.paused_at !== null ||
    job.waits_for > 0 ||
    job.status === "queued" ||
    job.stages.some(({ status }) => status === "waiting_approval");
  const asked = isTerminal(job.status) ? job.status !== "completed" : waits || now - moved_at > STILL_MS;
  return <WhyPanel job_id={job.job_id} enabled={asked} />;
}

const outcome_signs: Record<Job["outcomes"][number]["status"], { sign: string; word: string }> = {
  succeeded: { sign: "completed", word: "succeeded" },
  partly_succeeded: { sign: "partial_success", word: "partly succeeded" },
  failed: { sign: "failed", word: "failed" },
  skipped: { sign: "skipped", word: "skipped" },
  cancelled: { sign: "cancelled", word: "cancelled" },
  pending: { sign: "waiting", word: "pending" },
};

function Outcomes({ job }: { job: Job }) {
  return (
    <Card title="Outcomes">
      <ul className="stack bare-list outcomes">
        {job.outcomes.map(
          ({ stage, number, objective, importance, status, total, completed, failed, skipped, error }) => {
            const { sign, word } = outcome_signs[status];
            return (
              <li key={number}>
                <ShapeIcon status={sign} />
                <div className="grow">
                  <p>
                    <Link href={to.job(job.job_id, "tasks", { stage })}>
                      <Safe text={objective} limit={300} />
                    </Link>{" "}
                    <span className="muted">
                      {word}
                      {importance !== "critical" && ` · ${importance}`}
                    </span>
                  </p>
                  <p className="small muted number">
                    {total > 0 && `${count(completed)} of ${count(total)}`}
                    {failed > 0 && ` · ${count(failed)} failed`}
                    {skipped > 0 && ` · ${count(skipped)} skipped`}
                  </p>
                  {error !== null && (
                    <p className="small bad">
                      <Safe text={error.message ?? error.code ?? "failed"} limit={300} />{" "}
                      {error.task_id !== undefined && <Link href={to.task(error.task_id)}>task {error.task_id}</Link>}
                    </p>
                  )}
                </div>
              </li>
            );
          },
        )}
      </ul>
    </Card>
  );
}

function Deliverables({ job }: { job: Job }) {
  const { catalog } = useSession();
  return (
    <Card title="Deliverables">
      {job.deliverables.length === 0 ? (
        <p className="muted">
          {isTerminal(job.status) ? "No task said that it delivered anything." : "Nothing was delivered yet."} A handler
          tells it with <code>ctx.deliver</code>.
        </p>
      ) : (
        <ul className="stack bare-list outcomes">
          {job.deliverables.map(({ name, stage, count: n, location, locations, usable, tasks, at_least }) => (
            <li key={`${stage} ${name}`}>
              <ShapeIcon status={usable ? "completed" : "failed"} />
              <div className="grow">
                <p>
                  <strong className="number">
                    {at_least && "at least "}
                    {count(Number(n))}
                  </strong>{" "}
                  <Safe text={name} /> {!usable && <span className="bad">not usable</span>}
                </p>
                {(location === null ? (locations ?? []) : [location]).map((one) => (
                  <p key={one} className="small">
                    <DeliverablePlace location={one} catalog={catalog} />
                  </p>
                ))}
                <p className="small muted">
                  from {count(tasks)} {tasks === 1 ? "task" : "tasks"} of <Safe text={stage} />
                </p>
              </div>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

export function DeliverablePlace({ location, catalog }: { location: string; catalog: boolean }) {
  const place = placeOf(location);
  if (place.kind === "web") {
    return (
      <a href={place.href} target="_blank" rel="noopener noreferrer">
        <Safe text={location} />
      </a>
    );
  }
  if (place.kind === "file") {
    return (
      <a href={urlOf(place.path)} download>
        <Safe text={location} />
      </a>
    );
  }
  if (place.kind === "collection" && catalog) {
    return (
      <Link href={to.catalog(place.collection_id, place.item_id)}>
        <Safe text={location} />
      </Link>
    );
  }
  return (
    <code>
      <Safe text={location} />
    </code>
  );
}

function Result({ job }: { job: Job }) {
  const [wanted, setWanted] = useState(false);
  const { data, error } = useQuery({
    queryKey: ["result", job.job_id, job.epoch],
    queryFn: ({ signal }) => callText("jobs.result", { job_id: job.job_id }, signal),
    enabled: wanted,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (job.result === null && job.result_spill === null) return null;
  return (
    <Card title="Result">
      {job.result !== null ? (
        <JsonOf value={job.result} name={`result-${job.job_id.slice(0, 12)}`} />
      ) : data !== undefined ? (
        <Json text={data} name={`result-${job.job_id.slice(0, 12)}`} />
      ) : wanted && error === null ? (
        <Skeleton lines={2} />
      ) : (
        <p className="row">
          <span className="muted">It is large, and lies in storage.</span>
          <Button onClick={() => setWanted(true)}>Read it</Button>
        </p>
      )}
      <ProblemNote error={error} />
    </Card>
  );
}
