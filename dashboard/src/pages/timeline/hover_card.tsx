// What is under the pointer.
import { count } from "../../../../src/core/shown/figures.js";
import { Safe, ShapeIcon, StatusBadge } from "../../ui/index.js";
import { clockText } from "./draw.js";
import { type Bar, type Row, type Timeline, workerNames } from "./layout.js";
import { durationWords, segment_words } from "./words.js";

export interface Hovered {
  row: Row;
  bar: Bar | null;
  x: number;
  y: number;
}

const CARD_WIDTH = 270;

interface HoverCardProps {
  hovered: Hovered;
  timeline: Timeline;
  width: number;
  height: number;
  now: number;
}

export function HoverCard({ hovered: { row, bar, x, y }, timeline, width, height, now }: HoverCardProps) {
  if (bar === null && row.kind !== "stage" && row.kind !== "density") return null;
  const left = Math.max(4, Math.min(x + 14, width - CARD_WIDTH - 8));
  const below = y < height / 2;
  const place = below ? { left, top: y + 18 } : { left, bottom: height - y + 12 };
  return (
    <div className="tl-card" style={place} aria-hidden="true">
      {bar !== null ? <OfBar bar={bar} timeline={timeline} /> : <OfStage row={row} now={now} />}
    </div>
  );
}

function OfBar({ bar, timeline }: { bar: Bar; timeline: Timeline }) {
  const { kind, task, stage, run, from, to } = bar;
  const origin = Date.parse(timeline.origin);
  const name =
    run?.worker_id === null || run?.worker_id === undefined ? null : workerNames(timeline).get(run.worker_id);
  const clock = (at: number) => clockText(new Date(origin + at), 4000);
  return (
    <>
      <p>
        <strong>
          <Safe text={task.index} limit={80} />
        </strong>{" "}
        <StatusBadge status={task.status} />
      </p>
      <p className="muted small">
        stage {stage.number} <Safe text={stage.name} />
      </p>
      <p>
        {run !== undefined && kind !== "late" && `attempt ${run.attempt} `}
        {segment_words[kind]}: <strong>{durationWords(to - from)}</strong>
        {run?.from === null && " at most"}
      </p>
      <p className="muted small number">
        {clock(from)} – {run?.to === null ? "now" : clock(to)}
      </p>
      {run?.code !== null && run?.code !== undefined && (
        <p className="small">
          <Safe text={run.code} limit={80} />
        </p>
      )}
      {name !== null && name !== undefined && (
        <p className="muted small">
          worker <Safe text={name} limit={60} />
        </p>
      )}
      {bar.on_path && (
        <p className="small">
          <strong>On the slowest path.</strong>
        </p>
      )}
    </>
  );
}

function OfStage({ row, now }: { row: Row; now: number }) {
  if (row.kind !== "stage" && row.kind !== "density") return null;
  const { stage } = row;
  return (
    <>
      <p>
        <ShapeIcon status={stage.status} />{" "}
        <strong>
          {stage.number} <Safe text={stage.name} />
        </strong>
      </p>
      {stage.total !== null && <p>{count(stage.total)} tasks</p>}
      {stage.opened !== null && (
        <p className="muted small">open {durationWords((stage.closed ?? now) - stage.opened)}</p>
      )}
      {stage.median_ms !== null && (
        <p className="muted small">
          half took at most {durationWords(stage.median_ms)}
          {stage.p95_ms !== null && `, 95 of 100 at most ${durationWords(stage.p95_ms)}`}
        </p>
      )}
      {row.kind === "density" && <p className="small">at most {count(Math.max(...row.running))} ran at once</p>}
    </>
  );
}
