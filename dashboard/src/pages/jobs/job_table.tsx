// The rows. Progress of what runs follows the stream; a row keeps its place while it is looked at.
import { type ReactNode, useEffect, useRef } from "react";
import { Link } from "wouter";
import { useProgress } from "../../live/live.js";
import { to } from "../../routes.js";
import {
  type Column,
  Count,
  Duration,
  Safe,
  StackedBar,
  StatusBadge,
  Table,
  Time,
  useKeys,
  useNow,
} from "../../ui/index.js";
import { type ListedJob, liveProgress, standing } from "./rows.js";

interface JobTableProps {
  rows: readonly ListedJob[];
  selected: ReadonlySet<string>;
  onSelect(job_ids: readonly string[], on: boolean): void;
  /** A label that was clicked becomes part of the filter. */
  onLabel(key: string, value: string): void;
}

export function JobTable({ rows, selected, onSelect, onLabel }: JobTableProps) {
  useKeys([
    {
      keys: "x",
      what: "Select the row, or let it go",
      run: () =>
        document.activeElement?.closest("tr")?.querySelector<HTMLInputElement>("input[type=checkbox]")?.click(),
    },
  ]);
  const last = useRef<string | null>(null);
  const pick = (job_id: string, on: boolean, whole_range: boolean) => {
    const ids = rows.map((row) => row.job_id);
    const [a, b] = [ids.indexOf(last.current ?? ""), ids.indexOf(job_id)];
    last.current = job_id;
    onSelect(whole_range && a >= 0 ? ids.slice(Math.min(a, b), Math.max(a, b) + 1) : [job_id], on);
  };
  const columns: Column<ListedJob>[] = [
    {
      id: "select",
      title: <SelectPage rows={rows} selected={selected} onSelect={onSelect} />,
      cell: ({ job_id, job_type }) => (
        <input
          type="checkbox"
          className="pick"
          aria-label={`Select ${job_type} ${job_id.slice(0, 8)}`}
          checked={selected.has(job_id)}
          onChange={({ target, nativeEvent }) =>
            pick(job_id, target.checked, (nativeEvent as MouseEvent).shiftKey === true)
          }
        />
      ),
    },
    { id: "status", title: "Status", cell: (job) => <Status job={job} /> },
    {
      id: "job",
      title: "Job",
      cell: ({ job_id, job_type, run }) => (
        <Link href={to.job(job_id)} className="job-link">
          <strong>
            <Safe text={job_type} />
          </strong>{" "}
          <span className="mono muted">{job_id.slice(0, 8)}</span>
          {run > 1 && <span className="muted small"> run {run}</span>}
        </Link>
      ),
    },
    { id: "progress", title: "Progress", cell: (job) => <Progress job={job} /> },
    { id: "labels", title: "Labels", cell: ({ labels }) => <Labels labels={labels} onLabel={onLabel} /> },
    { id: "created", title: "Created", cell: ({ created_at }) => <Time at={created_at} />, align: "right" },
    { id: "took", title: "Took", cell: (job) => <Took job={job} />, align: "right" },
  ];
  return (
    <Table
      caption="Jobs, newest first"
      columns={columns}
      rows={rows}
      rowKey={({ job_id }) => job_id}
      href={({ job_id }) => to.job(job_id)}
      rowClass={({ job_id }) => (selected.has(job_id) ? "job-row selected" : "job-row")}
    />
  );
}

interface SelectPageProps {
  rows: readonly ListedJob[];
  selected: ReadonlySet<string>;
  onSelect(job_ids: readonly string[], on: boolean): void;
}

function SelectPage({ rows, selected, onSelect }: SelectPageProps) {
  const box = useRef<HTMLInputElement>(null);
  const n = rows.filter(({ job_id }) => selected.has(job_id)).length;
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = n > 0 && n < rows.length;
  }, [n, rows.length]);
  return (
    <input
      ref={box}
      type="checkbox"
      className="pick"
      aria-label="Select all jobs on this page"
      checked={rows.length > 0 && n === rows.length}
      onChange={({ target }) =>
        onSelect(
          rows.map(({ job_id }) => job_id),
          target.checked,
        )
      }
    />
  );
}

function Status({ job }: { job: ListedJob }) {
  if (job.finished_at === null && job.paused_at !== null) return <StatusBadge status="paused" />;
  if (job.progress?.approval === true) return <StatusBadge status="waiting_approval" label="needs approval" />;
  if (job.progress?.retrying === true && job.status === "processing") return <StatusBadge status="retrying" />;
  return <StatusBadge status={job.status} />;
}

function Progress({ job }: { job: ListedJob }) {
  const live = useProgress(job.job_id);
  const counted = liveProgress(job, live);
  const text = standing(job, counted);
  const is_open = job.finished_at === null;
  const message = job.error?.message ?? job.error?.code ?? null;
  return (
    <div className="job-progress">
      {is_open && counted !== null && counted.total > 0 && job.waits_for === 0 && (
        <StackedBar
          total={counted.total}
          parts={[
            { status: "completed", n: counted.completed },
            { status: "failed", n: counted.failed },
            { status: "skipped", n: counted.skipped },
            { status: "processing", n: Math.min(counted.processing, counted.total - counted.completed) },
          ]}
        />
      )}
      {text !== "" && <span className="small muted number">{text}</span>}
      {message !== null && message !== "" && (
        <span className="job-error small" title={message.slice(0, 500)}>
          <Safe text={message.split("\n")[0]} limit={200} />
        </span>
      )}
    </div>
  );
}

const SHOWN_LABELS = 3;

interface LabelsProps {
  labels: Record<string, string>;
  onLabel(key: string, value: string): void;
}

function Labels({ labels, onLabel }: LabelsProps): ReactNode {
  const all = Object.entries(labels);
  return (
    <span className="job-labels">
      {all.slice(0, SHOWN_LABELS).map(([key, value]) => (
        <button
          key={key}
          type="button"
          className="job-label"
          title={`Only jobs with ${key}=${value}`.slice(0, 300)}
          onClick={() => onLabel(key, value)}
        >
          <span className="muted">
            <Safe text={key} limit={30} />
          </span>{" "}
          <Safe text={value} limit={40} />
        </button>
      ))}
      {all.length > SHOWN_LABELS && (
        <span
          className="muted small"
          title={all
            .map(([key, value]) => `${key}=${value}`)
            .join("\n")
            .slice(0, 1000)}
        >
          +<Count n={all.length - SHOWN_LABELS} />
        </span>
      )}
    </span>
  );
}

function Took({ job: { started_at, finished_at } }: { job: ListedJob }) {
  const now = useNow();
  if (started_at === null) return <span className="muted">–</span>;
  const until = finished_at === null ? now : Date.parse(finished_at);
  return <Duration ms={Math.max(0, until - Date.parse(started_at))} />;
}
