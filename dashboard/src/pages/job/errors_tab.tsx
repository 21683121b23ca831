// What went wrong, by kind of error: how often, since when, where, an example, and running just those again.
import { useState } from "react";
import { Link } from "wouter";
import { count } from "../../../../src/core/shown/figures.js";
import { isTerminal } from "../../../../src/core/shown/statuses.js";
import { verbCommands } from "../../api/commands.js";
import { useGet } from "../../api/hooks.js";
import { pageBase } from "../../api/page_base.js";
import { useForbidden } from "../../api/session.js";
import { to, useQueryState } from "../../routes.js";
import {
  Button,
  CliAndCurl,
  Copy,
  Empty,
  IconButton,
  ProblemNote,
  Safe,
  ShapeIcon,
  Skeleton,
  Time,
} from "../../ui/index.js";
import { JobVerbDialog } from "./job_dialogs.js";
import type { ErrorGroup, Job } from "./records.js";
import { RetryGroupDialog, TaskVerbDialog } from "./task_dialogs.js";
import { why_not } from "./verb_rules.js";
import "./error_groups.css";

const AGAIN_MS = 5_000;

export function useErrorGroups(job: Job | undefined, enabled: boolean) {
  const open = job !== undefined && !isTerminal(job.status);
  return useGet(
    "errors",
    { job_id: job?.job_id ?? "" },
    {
      enabled: enabled && job !== undefined,
      when: (event) => event.job_id === job?.job_id,
      ...(open ? { every_ms: AGAIN_MS } : {}),
    },
  );
}

type Doing =
  | { kind: "resume" }
  | { kind: "group"; signature: string }
  | { kind: "task"; verb: "retry" | "skip"; task_id: string };

/** The dialogs stay when what they are about is gone from the page: they say what was done. */
export function ErrorsTab({ job }: { job: Job }) {
  const [doing, setDoing] = useState<Doing | null>(null);
  const close = () => setDoing(null);
  return (
    <>
      <Groups job={job} start={setDoing} />
      {doing?.kind === "resume" && <JobVerbDialog verb="resume" job_id={job.job_id} onClose={close} />}
      {doing?.kind === "group" && <RetryGroupDialog job_id={job.job_id} signature={doing.signature} onClose={close} />}
      {doing?.kind === "task" && <TaskVerbDialog verb={doing.verb} task_id={doing.task_id} onClose={close} />}
    </>
  );
}

function Groups({ job, start }: { job: Job; start(doing: Doing): void }) {
  const { data, error } = useErrorGroups(job, true);
  const [{ signature }, setQuery] = useQueryState({ signature: "" });
  const operate = useForbidden("operate");
  const commands = verbCommands(pageBase(), "errors", { job_id: job.job_id });
  if (error !== null && data === undefined) return <ProblemNote error={error} />;
  if (data === undefined || data.job_id !== job.job_id) return <Skeleton lines={4} />;
  if (data.groups.length === 0) {
    return (
      <Empty title="No task has failed" command={`fanfold status ${job.job_id.slice(0, 12)}`}>
        {job.error === null ? (
          "Attempts that failed and are retried are told on the page of their task."
        ) : (
          <Safe text={job.error.message ?? job.error.code ?? ""} />
        )}
      </Empty>
    );
  }
  const { failed, looked_at, group_count, groups } = data;
  const shown = signature === "" ? groups : groups.filter((group) => group.signature === signature);
  return (
    <section className="stack" aria-label="Error groups">
      <div className="row">
        <p>
          <strong className="number">{count(failed)}</strong> {failed === 1 ? "task has" : "tasks have"} failed, in{" "}
          <strong className="number">{count(group_count)}</strong> {group_count === 1 ? "group" : "groups"}.
          {looked_at < failed && (
            <span className="muted">
              {" "}
              {count(looked_at)} of them were looked at, from both ends of their stages: counts are at least these.
            </span>
          )}
          {groups.length < group_count && <span className="muted"> The {count(groups.length)} largest are shown.</span>}
        </p>
        <Button
          className="ends"
          kind="primary"
          forbidden={why_not.resume(job) ?? operate}
          onClick={() => start({ kind: "resume" })}
        >
          Retry all that failed
        </Button>
      </div>
      {signature !== "" && (
        <p className="note row" role="status">
          {shown.length === 0
            ? "The group that was asked for is not among these: its tasks may have been retried since."
            : "Only the group that was asked for is shown."}
          <Button className="small-button" onClick={() => setQuery({ signature: "" })}>
            Show all groups
          </Button>
        </p>
      )}
      <ol className="stack bare-list groups">
        {shown.map((group) => (
          <Group
            key={`${group.signature} ${group.category} ${group.code}`}
            job={job}
            group={group}
            of={Math.max(1, looked_at)}
            partial={looked_at < failed}
            start={start}
          />
        ))}
      </ol>
      <CliAndCurl cli={commands.cli} curl={commands.curl} />
    </section>
  );
}

interface GroupProps {
  job: Job;
  group: ErrorGroup;
  of: number;
  partial: boolean;
  start(doing: Doing): void;
}

function Group({ job, group, of, partial, start }: GroupProps) {
  const operate = useForbidden("operate");
  const share = group.tasks / of;
  return (
    <li className="card group" data-signature={group.signature}>
      <header className="group-head">
        <div className="group-count">
          <strong className="number">
            {partial && "≥ "}
            {count(group.tasks)}
          </strong>
          <span className="muted small">
            {share >= 0.995 ? "all of them" : `${share < 0.01 ? "under 1" : Math.round(share * 100)} %`}
          </span>
        </div>
        <div className="grow">
          <h3 className="group-message">
            <Safe
              text={group.message === null || group.message === "" ? (group.code ?? "no message") : group.message}
              limit={600}
            />
          </h3>
          <div className="share" aria-hidden="true">
            <span style={{ width: `${Math.max(0.5, share * 100)}%` }} />
          </div>
        </div>
        <Button
          kind="primary"
          forbidden={why_not.retry_group(job) ?? operate}
          onClick={() => start({ kind: "group", signature: group.signature })}
        >
          Retry this group
        </Button>
      </header>
      <div className="row small">
        {group.category !== null && (
          <span className="chip">
            <Safe text={group.category} />
          </span>
        )}
        {group.code !== null && group.code !== group.category && (
          <span className="chip mono">
            <Safe text={group.code} limit={80} />
          </span>
        )}
        {group.quarantined && (
          <span className="chip bad" title="It crashed too often, and is not tried again by itself">
            <ShapeIcon status="waiting_approval" size={11} /> quarantined
          </span>
        )}
        {group.stages.map((stage) => (
          <Link key={stage} className="chip" href={to.job(job.job_id, "tasks", { stage, status: "failed" })}>
            <Safe text={stage} />
          </Link>
        ))}
        <span className="muted">
          first <Time at={group.first_at} /> · last <Time at={group.last_at} />
        </span>
        <span className="muted mono nowrap">
          {group.signature} <Copy text={group.signature} label="Copy the signature" />
        </span>
      </div>
      {group.sample !== null && group.sample !== group.message && (
        <details open={group.sample.length < 400}>
          <summary className="muted small">For example</summary>
          <pre className="sample">
            <Safe text={group.sample} limit={8_000} />
          </pre>
        </details>
      )}
      <ul className="group-tasks small" aria-label="Examples">
        {group.task_ids.map((task_id) => (
          <li key={task_id}>
            <Link href={to.task(task_id)}>{task_id}</Link>
            <IconButton
              label={`Retry task ${task_id}`}
              className="copy"
              forbidden={why_not.retry_group(job) ?? operate}
              onClick={() => start({ kind: "task", verb: "retry", task_id })}
            >
              ↻
            </IconButton>
            <IconButton
              label={`Skip task ${task_id}`}
              className="copy"
              forbidden={operate}
              onClick={() => start({ kind: "task", verb: "skip", task_id })}
            >
              ⇥
            </IconButton>
          </li>
        ))}
        {group.tasks > group.task_ids.length && (
          <li className="muted">and {count(group.tasks - group.task_ids.length)} more</li>
        )}
      </ul>
    </li>
  );
}
