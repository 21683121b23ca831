// What is done about the selected tasks: each is counted first, and each can be done from the terminal.

import { useState } from "react";
import { tasks as tasksWord, whatFollows } from "../../../../src/core/shown/figures.js";
import type { Reply } from "../../api/call.js";
import { pageBase } from "../../api/page_base.js";
import { useForbidden } from "../../api/session.js";
import type { Selection } from "../../selection.js";
import { announce, Button, Count, copyText, download, Safe, VerbDialog } from "../../ui/index.js";
import { csvText } from "./csv.js";
import { type HeatTask, readTasks } from "./hover_card.js";
import { firstOf, most_ranges, pagesOf, selectionCommands } from "./ranges.js";
import { lookedAt } from "./words.js";

type Retried = Reply<"cells.retry">;
type Skipped = Reply<"cells.skip">;

interface VerbsBarProps {
  job_id: string;
  job_ended: boolean;
  stage: string;
  stage_id: number;
  selection: Selection;
  onDone(): void;
}

const MOST_COPIED = 20_000;
const MOST_DOWNLOADED = 50_000;

export function VerbsBar({ job_id, job_ended, stage, stage_id, selection, onDone }: VerbsBarProps) {
  const [shown, setShown] = useState<"retry" | "skip" | null>(null);
  const forbidden = useForbidden("operate");
  const { ranges, size } = selection;
  if (size === 0) return null;
  const scattered = ranges.length > most_ranges ? "This selection is in too many pieces: select fewer tasks." : null;
  const fields = { job_id, stage, ranges: pairs(selection) };
  const close = () => setShown(null);
  const commands = (name: "retry" | "skip", reason: string | undefined) =>
    selectionCommands(pageBase(), name, { job_id, stage, ranges }, reason);
  return (
    <section className="heat-verbs" aria-label="Selected tasks">
      <strong>
        <Count n={size} /> {size === 1 ? "task" : "tasks"} selected
      </strong>
      <Button
        kind="primary"
        forbidden={
          forbidden ??
          scattered ??
          (job_ended ? null : "The job is under way: its tasks can be run again once it has ended.")
        }
        onClick={() => setShown("retry")}
      >
        Retry…
      </Button>
      <Button forbidden={forbidden ?? scattered} onClick={() => setShown("skip")}>
        Skip…
      </Button>
      <Button
        onClick={async () => {
          const ids = idsOf(stage_id, selection);
          const copied = await copyText(ids.join("\n"));
          announce(copied ? `${tasksWord(ids.length)} copied` : "The browser does not allow copying");
        }}
        forbidden={size > MOST_COPIED ? `At most ${MOST_COPIED.toLocaleString("en-US")} ids are copied at once.` : null}
      >
        Copy ids
      </Button>
      <CsvButton job_id={job_id} stage={stage} selection={selection} />
      <Button className="ends" onClick={selection.clear}>
        Clear
      </Button>
      {!job_ended && <p className="muted heat-why">Tasks can be run again once the job has ended.</p>}
      {shown === "retry" && (
        <VerbDialog
          does="cells.retry"
          fields={fields}
          title={`Run ${tasksWord(size)} again`}
          verb="Run again"
          tell={(answer) => <RetryTold answer={answer} />}
          commands={(reason) => commands("retry", reason)}
          onDone={onDone}
          onClose={close}
        >
          Of the selected tasks, those that failed, were skipped or never ran are run again, and what follows them. What
          completed stays.
        </VerbDialog>
      )}
      {shown === "skip" && (
        <VerbDialog
          does="cells.skip"
          fields={fields}
          title={`Skip ${tasksWord(size)}`}
          verb="Skip"
          danger
          reason="needed"
          tell={(answer) => <SkipTold answer={answer} />}
          commands={(reason) => commands("skip", reason)}
          onDone={onDone}
          onClose={close}
        >
          Of the selected tasks, those that wait, failed or never ran count as done, without a result. What runs goes
          on.
        </VerbDialog>
      )}
    </section>
  );
}

function pairs({ ranges }: Selection): number[][] {
  return ranges.map(([lo, hi]) => [lo, hi]);
}

function idsOf(stage_id: number, { ranges }: Selection): string[] {
  return firstOf(ranges, MOST_COPIED).flatMap(([lo, hi]) =>
    Array.from({ length: hi - lo }, (_, at) => `${stage_id}-${lo + at}`),
  );
}

function RetryTold({ answer }: { answer: Retried }) {
  const { again, touched, left, dry_run, stages } = answer;
  const asked = Object.values(touched).reduce((sum, n) => sum + n, 0);
  const behind = whatFollows(stages);
  return (
    <>
      <p>
        <strong>{tasksWord(asked)}</strong> {dry_run ? "would run again" : asked === 1 ? "runs again" : "run again"} (
        {byStatus(touched)}).
        {again > asked &&
          ` ${tasksWord(again - asked)} that never ran ${again - asked === 1 ? "runs" : "run"} too: the stage cannot end without.`}
      </p>
      {behind !== "" && <p>Then what follows: {behind}.</p>}
      <Left left={left} />
    </>
  );
}

function SkipTold({ answer }: { answer: Skipped }) {
  const { tasks, touched, left, dry_run, changed } = answer;
  return (
    <>
      <p>
        {tasks === 0 && !changed ? (
          "All that could be skipped is skipped already."
        ) : (
          <>
            <strong>{tasksWord(tasks)}</strong> {dry_run ? "would be" : tasks === 1 ? "is" : "are"} skipped (
            {byStatus(touched)}).
          </>
        )}
      </p>
      <Left left={left} />
    </>
  );
}

function byStatus(touched: Record<string, number>): string {
  return Object.entries(touched)
    .map(([status, n]) => `${n.toLocaleString("en-US")} ${lookedAt(status)}`)
    .join(", ");
}

function Left({ left }: { left: Retried["left"] }) {
  if (left.length === 0) return null;
  return (
    <>
      <p>Left as they are:</p>
      <ul>
        {left.map(({ reason, tasks, text }) => (
          <li key={reason}>
            {tasksWord(tasks)}: <Safe text={text} />
          </li>
        ))}
      </ul>
    </>
  );
}

const columns = `task_id ordinal index status attempt duration_ms worker_id created_at finished_at
  error_code error_message`.split(/\s+/);

function CsvButton({ job_id, stage, selection }: { job_id: string; stage: string; selection: Selection }) {
  const [read, setRead] = useState<number | null>(null);
  const too_many = selection.size > MOST_DOWNLOADED;
  const save = async () => {
    setRead(0);
    try {
      const tasks = await allTasks(job_id, stage, selection, setRead);
      const rows = tasks.map((task) => [
        task.task_id,
        task.ordinal,
        task.index,
        task.status,
        task.attempt,
        task.duration_ms,
        task.worker_id,
        task.created_at,
        task.finished_at,
        task.error?.code,
        task.error?.message,
      ]);
      download(csvText(columns, rows), `${stage}-${job_id.slice(0, 12)}.csv`, "text/csv;charset=utf-8");
      announce(`${tasksWord(rows.length)} downloaded`);
    } catch (error) {
      announce(`The download failed: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      setRead(null);
    }
  };
  return (
    <Button
      busy={read !== null}
      forbidden={too_many ? `At most ${MOST_DOWNLOADED.toLocaleString("en-US")} tasks are downloaded at once.` : null}
      onClick={save}
    >
      {read === null ? "Download CSV" : `Reading ${read.toLocaleString("en-US")}…`}
    </Button>
  );
}

/** Page by page; pages lie where the selection does. */
async function allTasks(job_id: string, stage: string, selection: Selection, tell: (n: number) => void) {
  const tasks: HeatTask[] = [];
  for (const [from, to] of pagesOf(selection.ranges, 300)) {
    let cursor: string | null = null;
    do {
      const page = await readTasks(job_id, stage, { from, to, limit: 1000, cursor: cursor ?? undefined });
      tasks.push(...page.tasks.filter(({ ordinal }) => selection.has(ordinal)));
      tell(tasks.length);
      cursor = page.next;
    } while (cursor !== null);
  }
  return tasks;
}
