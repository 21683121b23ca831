// Who a job is, how it stands in one sentence, and what can be done with it.

import { type ReactNode, useRef, useState } from "react";
import { Link } from "wouter";
import { standingDeadline } from "../../../../src/core/declare/deadline.js";
import { count } from "../../../../src/core/shown/figures.js";
import { isTerminal } from "../../../../src/core/shown/statuses.js";
import type { Verdict } from "../../../../src/core/shown/verdict.js";
import { withoutSecretKeys } from "../../../../src/core/values/redaction.js";
import { useForbidden } from "../../api/session.js";
import { filterOf, to } from "../../routes.js";
import { Button, Copy, Duration, download, Safe, StatusBadge, Time, useKeys, useNow } from "../../ui/index.js";
import { ForceDialog, JobVerbDialog, type JobVerbName } from "./job_dialogs.js";
import type { Job } from "./records.js";
import { RetryStageDialog } from "./task_dialogs.js";
import { why_not } from "./verb_rules.js";
import { VerifyDialog } from "./verify_dialog.js";

export function JobHeading({ job }: { job: Job }) {
  const paused = job.paused_at !== null && !isTerminal(job.status);
  return (
    <span className="job-heading">
      <Safe text={job.job_type} />
      <code className="job-id" title={job.job_id}>
        {job.job_id.slice(0, 12)}
      </code>
      <Copy text={job.job_id} label="Copy the whole id" />
      {job.run > 1 && <span className="chip">run {count(job.run)}</span>}
      {job.epoch > 1 && (
        <span className="chip" title={`It was opened again ${count(job.resume_count)} times`}>
          epoch {count(job.epoch)}
        </span>
      )}
      <StatusBadge status={paused ? "paused" : job.status} />
    </span>
  );
}

export function VerdictLine({ verdict }: { verdict: Verdict }) {
  return (
    <p className={`job-verdict ${verdict.tone}`} data-verdict>
      <Safe text={verdict.text} />
    </p>
  );
}

export function JobFacts({ job }: { job: Job }) {
  const now = useNow();
  const { started_at, finished_at, deadline_at, correlation_id, group_id, depends_on, labels } = job;
  const standing = standingDeadline(job);
  const took = started_at === null ? null : Date.parse(finished_at ?? "") - Date.parse(started_at);
  return (
    <dl className="job-facts">
      <Fact name="Created">
        <Time at={job.created_at} />
      </Fact>
      {started_at !== null && (
        <Fact name={finished_at === null ? "Running for" : "Took"}>
          <Duration ms={finished_at === null ? Math.max(0, now - Date.parse(started_at)) : took} />
        </Fact>
      )}
      {finished_at !== null && (
        <Fact name="Ended">
          <Time at={finished_at} />
        </Fact>
      )}
      {finished_at === null && (deadline_at !== null || standing !== null) && (
        <Fact name="Deadline">{deadline_at === null ? standing : <Time at={deadline_at} />}</Fact>
      )}
      {job.priority !== 0 && <Fact name="Priority">{job.priority}</Fact>}
      {job.paused_at !== null && finished_at === null && (
        <Fact name="Paused">
          <Time at={job.paused_at} /> by <Safe text={job.paused_by ?? "somebody"} />
          {job.pause_reason !== null && (
            <>
              : <Safe text={job.pause_reason} limit={300} />
            </>
          )}
        </Fact>
      )}
      {group_id !== null && (
        <Fact name="Group">
          <Link href={to.groups(group_id)}>
            <Safe text={group_id} />
          </Link>
        </Fact>
      )}
      {correlation_id !== null && (
        <Fact name="Correlation">
          <Link href={to.jobs({ q: filterOf({ correlation: correlation_id }) })}>
            <Safe text={correlation_id} limit={80} />
          </Link>
        </Fact>
      )}
      {depends_on.length > 0 && (
        <Fact name="Depends on">
          <span className="row">
            {depends_on.slice(0, 5).map(({ job_id, job_type, status }) => (
              <Link key={job_id} href={to.job(job_id)} className="dependency" title={job_type ?? "It is no more"}>
                {status !== null && <StatusBadge status={status} label="" />}
                <code>{job_id.slice(0, 12)}</code>
              </Link>
            ))}
            {depends_on.length > 5 && <span className="muted">and {count(depends_on.length - 5)} more</span>}
          </span>
        </Fact>
      )}
      {Object.keys(labels).length > 0 && (
        <Fact name="Labels">
          <span className="row">
            {Object.entries(labels).map(([key, value]) => (
              <Link key={key} className="chip" href={to.jobs({ q: filterOf({ labels: [{ key, value }] }) })}>
                <Safe text={`${key}=${value}`} limit={120} />
              </Link>
            ))}
          </span>
        </Fact>
      )}
    </dl>
  );
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

type Open = JobVerbName | "retry_stage" | "force" | "verify" | null;

export function JobVerbs({ job }: { job: Job }) {
  const [open, setOpen] = useState<Open>(null);
  const operate = useForbidden("operate");
  const submit = useForbidden("submit");
  const ended = isTerminal(job.status);
  const first_stage =
    job.stages.find(({ status }) => status === "failed" || status === "partial_success") ?? job.stages[0];
  const close = () => setOpen(null);
  const may_resume = why_not.resume(job) === null && operate === null;
  useKeys(may_resume ? [{ keys: "r", what: "Resume the job", run: () => setOpen("resume") }] : []);
  return (
    <>
      <Button
        kind={job.resumable ? "primary" : "plain"}
        forbidden={why_not.resume(job) ?? operate}
        onClick={() => setOpen("resume")}
      >
        Resume
      </Button>
      <Button forbidden={why_not.retry_stage(job) ?? operate} onClick={() => setOpen("retry_stage")}>
        Retry a stage
      </Button>
      {job.paused_at !== null && !ended ? (
        <Button kind="primary" forbidden={why_not.continue(job) ?? operate} onClick={() => setOpen("continue")}>
          Continue
        </Button>
      ) : (
        <Button forbidden={why_not.pause(job) ?? operate} onClick={() => setOpen("pause")}>
          Pause
        </Button>
      )}
      <Button
        kind={ended ? "plain" : "danger"}
        forbidden={why_not.cancel(job) ?? operate}
        onClick={() => setOpen("cancel")}
      >
        Cancel
      </Button>
      <More
        items={[
          { text: "Run it once more", forbidden: submit, run: () => setOpen("force") },
          { text: "Verify", run: () => setOpen("verify") },
          {
            text: "Download status",
            // It is sent to others: what stands under a key that sounds like a secret is left out.
            run: () =>
              download(
                JSON.stringify(withoutSecretKeys(job), null, 2),
                `job-${job.job_id.slice(0, 12)}.json`,
                "application/json",
              ),
          },
        ]}
      />
      {open !== null && open !== "retry_stage" && open !== "force" && open !== "verify" && (
        <JobVerbDialog verb={open} job_id={job.job_id} onClose={close} />
      )}
      {open === "retry_stage" && first_stage !== undefined && (
        <RetryStageDialog job={job} stage={first_stage.name} choose onClose={close} />
      )}
      {open === "force" && <ForceDialog job={job} onClose={close} />}
      {open === "verify" && <VerifyDialog job_id={job.job_id} onClose={close} />}
    </>
  );
}

interface Item {
  text: string;
  forbidden?: string | null;
  run(): void;
}

/** What is done seldom. It closes when something is chosen, and when the focus leaves it. */
export function More({ items }: { items: readonly Item[] }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const close = () => menu.current?.removeAttribute("open");
  return (
    <details
      ref={menu}
      className="menu"
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) close();
      }}
    >
      <summary className="button" aria-label="More to do">
        ⋯
      </summary>
      <div className="menu-items">
        {items.map(({ text, forbidden = null, run }) => (
          <Button
            key={text}
            forbidden={forbidden}
            onClick={() => {
              close();
              run();
            }}
          >
            {text}
          </Button>
        ))}
      </div>
    </details>
  );
}
