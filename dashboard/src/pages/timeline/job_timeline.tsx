// A job over time: lanes by task or worker, the slowest path marked, read again while the job goes on.
import { useCallback, useEffect, useMemo, useState } from "react";
import { count } from "../../../../src/core/shown/figures.js";
import { slowestPath } from "../../../../src/core/shown/timeline.js";
import { printable } from "../../../../src/core/values/printable.js";
import { useGet } from "../../api/hooks.js";
import { useQueryState } from "../../routes.js";
import {
  Button,
  Checkbox,
  Empty,
  IconButton,
  ProblemNote,
  Segments,
  Select,
  Skeleton,
  useNow,
} from "../../ui/index.js";
import { AsTable } from "./as_table.js";
import { segmentColour } from "./draw.js";
import { rowsByTask, rowsByWorker, type Timeline, type View, wholeView, zoomed } from "./layout.js";
import { Pane } from "./pane.js";
import { SlowestPath } from "./slowest_path.js";
import "./timeline.css";

interface JobTimelineProps {
  job: { job_id: string };
  /** Only this one, and of the others the task they waited for; else the reader chooses. */
  stage?: { number: number } | undefined;
}

export function JobTimeline({ job: { job_id }, stage }: JobTimelineProps) {
  const [chosen, choose] = useQueryState({ lanes: "task", retried: "", stage: "" });
  const only = stage === undefined ? chosen.stage : String(stage.number);
  const retried = chosen.retried === "true";
  const [view, setView] = useState<View | null>(null);
  const closer = useCloser(view);
  const [first, setFirst] = useState<Timeline | null>(null);
  // Closer looks only help where not everything is shown anyway.
  const partial = first?.stages.some(({ bins }) => bins !== null) ?? false;
  const origin = first === null ? 0 : Date.parse(first.origin);
  const is_open = first === null || first.finished === null;
  const looked = first?.stages.reduce((all, { looked_at }) => all + looked_at, 0) ?? 0;
  const reading = {
    when: (event: { job_id: string | null; kind: string }) =>
      event.job_id === job_id && /^(job|stage|task)\./.test(event.kind),
    ...(is_open ? { every_ms: looked > 20_000 ? 10_000 : 2500 } : {}),
  };
  const base = {
    stage: only,
    ...(retried ? { retried: "true" as const } : {}),
  };
  const { data, error } = useGet("timeline.of_job", { job_id, ...base }, reading);
  useEffect(() => setFirst(data ?? null), [data]);
  const part = useGet(
    "timeline.of_job",
    {
      job_id,
      ...base,
      ...(closer !== null && {
        from: new Date(origin + closer.from).toISOString(),
        to: new Date(origin + closer.to).toISOString(),
      }),
    },
    { enabled: partial && closer !== null },
  );
  const timeline = useMemo(
    () =>
      data === undefined
        ? undefined
        : partial && closer !== null && part.data !== undefined
          ? joined(data, part.data)
          : data,
    [data, part.data, partial, closer],
  );
  const clock = useNow();
  const now =
    timeline === undefined
      ? 0
      : timeline.finished === null
        ? Math.max(timeline.now, clock - Date.parse(timeline.origin))
        : timeline.now;
  const lanes = chosen.lanes === "worker" ? "worker" : "task";
  const rows = useMemo(() => {
    if (timeline === undefined) return [];
    return (lanes === "worker" ? rowsByWorker : rowsByTask)(timeline, { retried }, now);
  }, [timeline, lanes, retried, now]);
  const whole = useMemo(() => (data === undefined ? { from: 0, to: 1 } : wholeView(data, now)), [data, now]);
  const show = useCallback((next: View | null) => setView(next), []);
  if (data === undefined || timeline === undefined || data.job_id.startsWith(job_id) === false) {
    return error === null ? <Skeleton lines={8} /> : <ProblemNote error={error} title="The timeline cannot be read" />;
  }
  // While it goes on, what it has taken by now.
  const path = data.finished === null ? (slowestPath(data.stages, now) as typeof data.path) : data.path;
  const singles = new Set(data.stages.filter(({ total }) => total === 1).map(({ stage_id }) => stage_id));
  const shown_view = view ?? whole;
  const middle = (shown_view.from + shown_view.to) / 2;
  // Only stages that are looked into: in the others one task is drawn on purpose.
  const looked_into = timeline.stages.filter(
    ({ number, name }) => only === "" || only === String(number) || only === name,
  );
  const total = looked_into.reduce((all, { total: one }) => all + (one ?? 0), 0);
  const drawn = looked_into.reduce((all, { tasks }) => all + tasks.length, 0);
  return (
    <div className="stack timeline">
      <ProblemNote error={error} title="The timeline cannot be read again" />
      <SlowestPath path={path} singles={singles} is_open={data.finished === null} />
      <div className="view-tools">
        <Segments label="Lanes" choices={lane_choices} current={lanes} onChoose={(next) => choose({ lanes: next })} />
        {stage === undefined && data.stages.length > 1 && (
          <Select
            label="Stage"
            value={chosen.stage}
            onChange={({ target }) => choose({ stage: target.value })}
            options={[
              { value: "", text: "All stages" },
              ...data.stages.map(({ number, name }) => ({
                value: String(number),
                text: `${number} · ${printable(name, 60)}`,
              })),
            ]}
          />
        )}
        <Checkbox
          label="Only tasks tried more than once"
          checked={retried}
          onChange={({ target }) => choose({ retried: target.checked ? "true" : "" })}
        />
        <div className="row ends">
          <IconButton label="Zoom out" onClick={() => show(zoomed(shown_view, 1.6, middle, whole))}>
            −
          </IconButton>
          <IconButton label="Zoom in" onClick={() => show(zoomed(shown_view, 0.6, middle, whole))}>
            +
          </IconButton>
          <Button disabled={view === null} onClick={() => show(null)}>
            Show all
          </Button>
        </div>
      </div>
      {rows.some(({ kind }) => kind === "task" || kind === "worker") ? (
        <>
          <Pane
            timeline={timeline}
            rows={rows}
            view={shown_view}
            whole={whole}
            now={now}
            setView={show}
            label={`Timeline of ${count(drawn)} tasks by ${lanes}. Arrow keys move, plus and minus zoom, Enter opens the task.`}
          />
          <Legend />
          <p className="muted small">
            {drawn < total && !retried && (
              <>
                {count(drawn)} of {count(total)} tasks are drawn: of wide stages the slowest, the last to finish, the
                failed, the most often tried and those that run. The green hills count all of them
                {data.stages.some(
                  ({ looked_at, total: one, closed }) => closed !== null && one !== null && looked_at < one * 0.9,
                )
                  ? ", by a sample where there are more than 100,000"
                  : ""}
                .{" "}
              </>
            )}
            Drag to move, Ctrl and the wheel to zoom. Times are those of your clock.
          </p>
        </>
      ) : (
        <Empty title={retried ? "No task was tried more than once" : "Nothing has run yet"}>
          {retried
            ? "Every task that ended did so at the first attempt."
            : "Bars appear here as soon as a worker takes a task."}
        </Empty>
      )}
      <AsTable rows={rows} path={path} />
    </div>
  );
}

const lane_choices = [
  { value: "task", text: "By task" },
  { value: "worker", text: "By worker" },
] as const;

const CLOSER_MS = 300;

/** The part that is looked at, once it has not moved for a moment. */
function useCloser(view: View | null): View | null {
  const [settled, setSettled] = useState<View | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(view), CLOSER_MS);
    return () => clearTimeout(timer);
  }, [view]);
  return settled;
}

/** What a closer look found, besides what was known. */
function joined(whole: Timeline, part: Timeline): Timeline {
  return {
    ...whole,
    workers: [
      ...whole.workers,
      ...part.workers.filter(({ worker_id }) => !whole.workers.some((known) => known.worker_id === worker_id)),
    ],
    stages: whole.stages.map((stage) => {
      const found = part.stages.find(({ stage_id }) => stage_id === stage.stage_id)?.tasks ?? [];
      const known = new Set(stage.tasks.map(({ ordinal }) => ordinal));
      return { ...stage, tasks: [...stage.tasks, ...found.filter(({ ordinal }) => !known.has(ordinal))] };
    }),
  };
}

const legend = [
  { kind: "waiting", word: "waiting" },
  { kind: "running", word: "running" },
  { kind: "completed", word: "completed" },
  { kind: "failed", word: "failed attempt" },
  { kind: "retry_gap", word: "until the next try" },
] as const;

function Legend() {
  return (
    <ul className="tl-legend small" aria-label="What the bars mean">
      {legend.map(({ kind, word }) => (
        <li key={kind}>
          <span
            className={`tl-swatch tl-${kind}`}
            style={kind === "waiting" ? undefined : { background: `var(${segmentColour(kind)})` }}
          />
          {word}
        </li>
      ))}
      <li>
        <span className="tl-swatch tl-outline" />
        on the slowest path
      </li>
    </ul>
  );
}
