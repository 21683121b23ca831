// Why something does not move, or ended as it did: the sentence, what proves it, since when, when it heals by itself, and the one
// action. For jobs and tasks; asked only while it is shown.
import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { useGet } from "../../api/hooks.js";
import { to } from "../../routes.js";
import { CommandLine, ProblemNote, Safe, ShapeIcon, Time } from "../../ui/index.js";
import { Evidence } from "./evidence.js";
import type { Why } from "./records.js";
import { actionsOf, capitalised, codeWords, type WhyAction } from "./why_action.js";
import { WhyVerb } from "./why_verb.js";
import "./why.css";

const AGAIN_MS = 5_000;
/** Nothing is wrong, and the page says so already. */
const quiet: ReadonlySet<string> = new Set(["RUNNING", "COMPLETED", "STARTING", "CLAIMED"]);

type WhyPanelProps = ({ job_id: string; task_id?: undefined } | { task_id: string; job_id?: undefined }) & {
  /** It is not asked while this is false. */
  enabled?: boolean;
  /** Also when all is well. */
  always?: boolean;
};

export function WhyPanel({ job_id, task_id, enabled = true, always = false }: WhyPanelProps) {
  const of_job = job_id !== undefined;
  const { data, error } = useGet<"why" | "tasks.why">(
    of_job ? "why" : "tasks.why",
    of_job ? { job_id } : { task_id: task_id ?? "" },
    { every_ms: AGAIN_MS, enabled, when: (event) => of_job && event.job_id === job_id },
  );
  // While one of its dialogs is open it stays as it was: what was done there changes the answer.
  const [held, hold] = useState<Why | null>(null);
  if (held !== null) return <WhyAnswer why={held} hold={hold} />;
  if (!enabled) return null;
  if (error !== null && data === undefined) return <ProblemNote error={error} title="Why cannot be told" />;
  // Answers of another job are kept while the next is read: they must not be shown as this one's.
  if (data === undefined || (of_job ? !data.id.startsWith(job_id) : data.id !== task_id)) return null;
  if (!always && quiet.has(data.code)) return null;
  return <WhyAnswer why={data} hold={hold} />;
}

const signs: Record<string, string> = {
  UPSTREAM_FAILED: "failed",
  FAILED: "failed",
  DEADLINE_PASSED: "failed",
  PAYLOAD_TOO_LARGE: "failed",
  RESULT_UNSTORABLE: "failed",
  QUARANTINED_POISON: "failed",
  UNKNOWN: "failed",
  CANCELLED: "cancelled",
  CANCELLING: "cancelled",
  JOB_PAUSED: "paused",
  QUEUE_PAUSED: "paused",
  WAITING_APPROVAL: "waiting_approval",
  BACKOFF: "retrying",
  COMPLETED: "completed",
  RUNNING: "processing",
};

export function WhyAnswer({ why, hold }: { why: Why; hold(why: Why | null): void }) {
  const { code, status, reason, evidence, since, heals_at, heals } = why;
  const actions = actionsOf(why);
  const forgiven = code === "UPSTREAM_FAILED" && status === "partial_success";
  const sign = forgiven ? status : Object.hasOwn(signs, code) ? (signs[code] as string) : "later";
  return (
    <section className={`why ${sign}`} aria-label="Why">
      <header className="row">
        <ShapeIcon status={sign} />
        <h2>{forgiven ? "What is missing" : codeWords(code)}</h2>
        {since !== null && (
          <span className="muted small">
            began <Time at={since} />
          </span>
        )}
      </header>
      <p className="why-reason">
        <Safe text={capitalised(reason)} />
      </p>
      {(heals !== null || heals_at !== null) && (
        <p className="muted small">
          {heals !== null && <Safe text={capitalised(heals)} />}
          {heals_at !== null && (
            <>
              {heals === null ? "" : " · "}expected <Time at={heals_at} />
            </>
          )}
        </p>
      )}
      {actions.length > 0 && (
        <div className="row why-actions">
          {actions.map((action) => (
            <Action key={JSON.stringify(action)} action={action} onOpen={(open) => hold(open ? why : null)} />
          ))}
        </div>
      )}
      {hasRows(evidence) && (
        <details>
          <summary className="muted">Evidence</summary>
          <Evidence value={evidence} />
        </details>
      )}
    </section>
  );
}

function hasRows(evidence: unknown): boolean {
  return typeof evidence === "object" && evidence !== null && Object.keys(evidence).length > 0;
}

const page_names = { workers: "Look at the workers", limits: "Look at the limits", health: "Look at the health page" };

function Action({ action, onOpen }: { action: WhyAction; onOpen(open: boolean): void }): ReactNode {
  switch (action.kind) {
    case "command":
      return <CommandLine text={action.command} />;
    case "page":
      return (
        <Link className="button" href={to[action.page]()}>
          {page_names[action.page]}
        </Link>
      );
    case "open_job":
      return (
        <Link className="button" href={to.job(action.job_id)}>
          Open job {action.job_id.slice(0, 12)}
        </Link>
      );
    case "open_task":
      return (
        <Link className="button" href={to.task(action.task_id)}>
          Open task {action.task_id}
        </Link>
      );
    default:
      return <WhyVerb action={action} onOpen={onOpen} />;
  }
}
