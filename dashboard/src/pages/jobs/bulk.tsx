// One verb for the selected jobs, or for all that fit the filter: counted first, done page by page, and it can be stopped in between.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { BodyIn } from "../../../../src/core/api/endpoint.js";
import type { BulkAction, job_bulk_api } from "../../../../src/core/api/job_bulk.js";
import { type BulkSum, type Refused, withPage } from "../../../../src/core/shown/bulk_sum.js";
import type { JobQuery } from "../../../../src/core/shown/job_filter_query.js";
import { call, type Reply } from "../../api/call.js";
import { bulkCommands } from "../../api/commands.js";
import { pageBase } from "../../api/page_base.js";
import { useForbidden } from "../../api/session.js";
import { announce, Button, CliAndCurl, Dialog, ProblemNote, Safe, Skeleton, TextArea } from "../../ui/index.js";

type Asked = BodyIn<typeof job_bulk_api.bulk>;
type Counted = Reply<"jobs.bulk">;

/** Which jobs are meant. */
export type Target = { job_ids: string[] } | { filter: JobQuery; text: string };

const actions: Record<BulkAction, { verb: string; done: string; about: string; danger?: boolean }> = {
  pause: {
    verb: "Pause",
    done: "paused",
    about: "Nothing of them is started until they are continued; what runs may finish.",
  },
  continue: { verb: "Continue", done: "continued", about: "Those that are paused go on." },
  resume: {
    verb: "Resume",
    done: "resumed",
    about: "Those that did not end well go on: what completed stays, what failed or never ran runs again.",
  },
  cancel: {
    verb: "Cancel",
    done: "cancelled",
    about: "Those that are open end now. What completed stays, and they can be resumed.",
    danger: true,
  },
};

interface BulkBarProps {
  selected: number;
  /** All that fit the filter are meant. */
  all: boolean;
  /** How many those are, in words. */
  matching: string;
  onAll(): void;
  onClear(): void;
  onAct(action: BulkAction): void;
}

export function BulkBar({ selected, all, matching, onAll, onClear, onAct }: BulkBarProps) {
  const forbidden = useForbidden("operate");
  return (
    <section className="bulk-bar" aria-label="Selected jobs">
      <strong className="number">
        {all ? `All ${matching} that match` : `${selected.toLocaleString("en-US")} selected`}
      </strong>
      {!all && (
        <button type="button" className="bulk-all" onClick={onAll}>
          Select all {matching} that match
        </button>
      )}
      <span className="row ends">
        {(Object.keys(actions) as BulkAction[]).map((action) => (
          <Button key={action} className="small-button" forbidden={forbidden} onClick={() => onAct(action)}>
            {actions[action].verb}
          </Button>
        ))}
        <Button className="small-button" onClick={onClear}>
          Clear
        </Button>
      </span>
    </section>
  );
}

export function BulkDialog({ action, target, onClose }: { action: BulkAction; target: Target; onClose(): void }) {
  const { verb, done: done_word, about, danger = false } = actions[action];
  const client = useQueryClient();
  const [counted, setCounted] = useState<Counted | null>(null);
  const [sum, setSum] = useState<BulkSum | null>(null);
  const [state, setState] = useState<"asking" | "running" | "stopped" | "done">("asking");
  const [problem, setProblem] = useState<unknown>(null);
  const [text, setText] = useState("");
  const stop = useRef<AbortController | null>(null);
  const reason = text.trim() === "" ? {} : { reason: text.trim() };
  const who: Partial<Asked> = "job_ids" in target ? { job_ids: target.job_ids } : { filter: target.filter };
  const ask = (more: Partial<Asked>) => call("jobs.bulk", { action, ...who, ...more });

  // biome-ignore lint/correctness/useExhaustiveDependencies: counted once, when it is opened
  useEffect(() => {
    let here = true;
    ask({ dry_run: true }).then(
      (answer) => here && setCounted(answer),
      (error) => here && setProblem(error),
    );
    return () => {
      here = false;
      stop.current?.abort();
    };
  }, []);

  const run = async () => {
    if (counted === null) return;
    const stopping = new AbortController();
    stop.current = stopping;
    setState("running");
    setProblem(null);
    let so_far: BulkSum = sum ?? { touched: 0, skipped: [], failed: [] };
    let cursor: string | null = null;
    try {
      do {
        const page: Counted = await ask({ ...reason, before: counted.before, cursor: cursor ?? undefined });
        so_far = withPage(so_far, page);
        setSum(so_far);
        cursor = page.next;
      } while (cursor !== null && !stopping.signal.aborted);
      setState(cursor === null ? "done" : "stopped");
      announce(`${so_far.touched.toLocaleString("en-US")} jobs ${done_word}`);
    } catch (error) {
      setProblem(error);
      setState("stopped");
    } finally {
      void client.invalidateQueries();
    }
  };

  const amount = counted === null ? "" : `${counted.touched.toLocaleString("en-US")}${counted.at_least ? "+" : ""}`;
  return (
    <Dialog title={`${verb} jobs`} onClose={onClose}>
      <p>{about}</p>
      {"text" in target && (
        <p className="muted">
          All that match: <code>{target.text === "" ? "every job" : <Safe text={target.text} />}</code>
        </p>
      )}
      {counted === null && problem === null && <Skeleton lines={1} />}
      {counted !== null && state === "asking" && (
        <div className="note" role="status">
          {counted.touched === 0 ? (
            "None of them is as this needs it: nothing would be touched."
          ) : (
            <>
              <strong>{amount === "1" ? "1 job" : `${amount} jobs`}</strong> would be {done_word}
              {"job_ids" in target &&
                counted.touched < target.job_ids.length &&
                ` of ${target.job_ids.length.toLocaleString("en-US")} selected`}
              . Jobs created from now on are left alone.
            </>
          )}
        </div>
      )}
      {sum !== null && (
        <div className={state === "done" ? "note ok" : "note"} role="status">
          <p>
            <strong>{sum.touched.toLocaleString("en-US")}</strong> {sum.touched === 1 ? "job" : "jobs"} {done_word}
            {state === "running" && ` of ${amount}`}
            {state === "stopped" && ", then stopped. What is left can be done by starting again"}.
          </p>
          <progress
            className="bulk-progress"
            aria-label="Progress"
            max={Math.max(counted?.touched ?? 0, sum.touched, 1)}
            value={state === "done" ? Math.max(counted?.touched ?? 0, sum.touched, 1) : sum.touched}
          />
          <Told title="Left as they are" list={sum.skipped} />
          <Told title="Went wrong" list={sum.failed} />
        </div>
      )}
      <ProblemNote error={problem} />
      {state === "asking" && (
        <TextArea
          label="Why (optional, for the record)"
          rows={2}
          maxLength={1000}
          value={text}
          onChange={({ target: field }) => setText(field.value)}
        />
      )}
      <CliAndCurl
        {...bulkCommands(pageBase(), action, "text" in target ? target : { job_ids: target.job_ids }, {
          reason: reason.reason,
          before: counted?.before,
        })}
      />
      <footer className="dialog-foot row">
        {state === "running" ? (
          <Button onClick={() => stop.current?.abort()}>Stop</Button>
        ) : (
          <Button kind={state === "done" ? "primary" : "plain"} onClick={onClose}>
            {state === "asking" ? "Leave it" : "Close"}
          </Button>
        )}
        {state !== "done" && (
          <Button
            kind={danger ? "danger" : "primary"}
            busy={state === "running"}
            disabled={counted === null || counted.touched === 0}
            onClick={() => void run()}
            data-verb="run"
          >
            {state === "stopped" ? "Go on" : `${verb}${amount === "" || amount === "0" ? "" : ` ${amount}`}`}
          </Button>
        )}
      </footer>
    </Dialog>
  );
}

function Told({ title, list }: { title: string; list: Refused[] }) {
  if (list.length === 0) return null;
  return (
    <>
      <p className="muted">{title}:</p>
      <ul>
        {list.map(({ kind, jobs, message }) => (
          <li key={kind}>
            {jobs.toLocaleString("en-US")}: <Safe text={message} limit={300} />
          </li>
        ))}
      </ul>
    </>
  );
}
