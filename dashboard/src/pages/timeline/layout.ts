// Where everything of a timeline is drawn: rows, bars in them, and the axis. Pure.

import { type Segment, segmentsOf } from "../../../../src/core/shown/timeline.js";
import type { Reply } from "../../api/call.js";

export type Timeline = Reply<"timeline.of_job">;
export type Stage = Timeline["stages"][number];
export type Task = Stage["tasks"][number];
export type Step = Timeline["path"][number];

export interface View {
  /** Milliseconds after the origin. */
  from: number;
  to: number;
}

export interface Bar extends Segment {
  task: Task;
  stage: Stage;
  task_id: string;
  on_path: boolean;
}

export type Row =
  | { kind: "stage"; key: string; label: string; height: number; stage: Stage }
  | {
      kind: "density";
      key: string;
      label: string;
      height: number;
      stage: Stage;
      running: readonly number[];
      failed: readonly number[];
    }
  | {
      kind: "task";
      key: string;
      label: string;
      height: number;
      stage: Stage;
      task: Task;
      task_id: string;
      on_path: boolean;
      bars: Bar[];
    }
  | { kind: "worker"; key: string; label: string; height: number; worker_id: string; bars: Bar[]; first: boolean };

export const heights = { stage: 26, density: 34, task: 18, worker: 16 } as const;

export function taskId(stage: Stage, task: Task): string {
  return `${stage.stage_id}-${task.ordinal}`;
}

interface Choice {
  retried: boolean;
}

/** More than one run, or a run that was lost: what somebody who looks for trouble wants to see. */
export function isRetried({ runs, attempt }: Task): boolean {
  return (attempt ?? 1) > 1 || runs.filter(({ outcome }) => outcome !== "refused" && outcome !== "skipped").length > 1;
}

function barsOf(timeline: Timeline, stage: Stage, task: Task, on_path: boolean, now: number): Bar[] {
  const task_id = taskId(stage, task);
  return segmentsOf(task, Math.max(now, timeline.now)).map((segment) => ({
    ...segment,
    task,
    stage,
    task_id,
    on_path,
  }));
}

function pathIds(timeline: Timeline): Set<string> {
  return new Set(timeline.path.map(({ task_id }) => task_id));
}

/** A row for each task under its stage, in the order in which they began. */
export function rowsByTask(timeline: Timeline, { retried }: Choice, now: number): Row[] {
  const path = pathIds(timeline);
  return timeline.stages.flatMap((stage): Row[] => {
    const tasks = stage.tasks.filter((task) => !retried || isRetried(task) || path.has(taskId(stage, task)));
    const rows = tasks
      .map((task): Extract<Row, { kind: "task" }> => {
        const task_id = taskId(stage, task);
        const on_path = path.has(task_id);
        const bars = barsOf(timeline, stage, task, on_path, now);
        return {
          kind: "task",
          key: task_id,
          label: task.index,
          height: heights.task,
          stage,
          task,
          task_id,
          on_path,
          bars,
        };
      })
      // What the job waited for comes first: of hundreds of rows it is the one to see.
      .sort(
        (a, b) =>
          Number(b.on_path) - Number(a.on_path) ||
          beginning(a.bars) - beginning(b.bars) ||
          a.task.ordinal - b.task.ordinal,
      );
    const density = densityOf(stage);
    return [
      {
        kind: "stage",
        key: `stage ${stage.stage_id}`,
        label: `${stage.number} ${stage.name}`,
        height: heights.stage,
        stage,
      },
      ...(density === null
        ? []
        : [
            {
              kind: "density" as const,
              key: `density ${stage.stage_id}`,
              label: "all tasks",
              height: heights.density,
              stage,
              ...density,
            },
          ]),
      ...rows,
    ];
  });
}

function beginning(bars: readonly Bar[]): number {
  const first = bars.find(({ kind }) => kind !== "waiting" && kind !== "retry_gap") ?? bars[0];
  return first?.from ?? Infinity;
}

/** How many tasks ran in each part of the time, from what began and what ended. */
export function densityOf({ bins }: Pick<Stage, "bins">): { running: number[]; failed: number[] } | null {
  if (bins === null) return null;
  let running = 0;
  const most = bins.started.map((started, at) => {
    running += started;
    const at_once = running;
    running -= bins.ended[at] ?? 0;
    return Math.max(0, at_once);
  });
  return { running: most, failed: bins.failed };
}

/** Rows for each worker: as many as it ran tasks at once. Waiting has no worker and is left out. */
export function rowsByWorker(timeline: Timeline, { retried }: Choice, now: number): Row[] {
  const path = pathIds(timeline);
  const by_worker = new Map<string, Bar[]>();
  for (const stage of timeline.stages) {
    for (const task of stage.tasks) {
      if (retried && !isRetried(task)) continue;
      for (const bar of barsOf(timeline, stage, task, path.has(taskId(stage, task)), now)) {
        const worker = bar.run?.worker_id ?? null;
        if (worker === null) continue;
        const known = by_worker.get(worker);
        if (known === undefined) by_worker.set(worker, [bar]);
        else known.push(bar);
      }
    }
  }
  const names = workerNames(timeline);
  return [...by_worker].flatMap(([worker_id, bars]): Row[] =>
    packed(bars).map((lane, position) => ({
      kind: "worker",
      key: `${worker_id} ${position}`,
      label: position === 0 ? (names.get(worker_id) ?? worker_id.slice(0, 8)) : "",
      height: heights.worker,
      worker_id,
      bars: lane,
      first: position === 0,
    })),
  );
}

export function workerNames({ workers }: Pick<Timeline, "workers">): Map<string, string> {
  return new Map(
    // The id besides: one process may hold several workers.
    workers.map(({ worker_id, host, pid }) => [
      worker_id,
      [worker_id.slice(0, 8), host, pid].filter((part) => part !== null).join(" "),
    ]),
  );
}

/** Bars that overlap go into lanes of their own; each goes into the first lane that is free. */
export function packed(bars: readonly Bar[]): Bar[][] {
  const lanes: { free: number; bars: Bar[] }[] = [];
  for (const bar of [...bars].sort((a, b) => a.from - b.from || a.to - b.to)) {
    const lane = lanes.find(({ free }) => free <= bar.from);
    if (lane === undefined) lanes.push({ free: bar.to, bars: [bar] });
    else {
      lane.bars.push(bar);
      lane.free = bar.to;
    }
  }
  return lanes.map((lane) => lane.bars);
}

/** The top of every row, and the height of all. */
export function placed(rows: readonly Row[]): { tops: number[]; height: number } {
  let top = 0;
  const tops = rows.map(({ height }) => {
    const at = top;
    top += height;
    return at;
  });
  return { tops, height: top };
}

/** The row at a height, by halving. */
export function rowAt(tops: readonly number[], y: number): number {
  let [low, high] = [0, tops.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tops[middle] as number) <= y) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The whole of it, with a little room behind what still runs. */
export function wholeView(timeline: Pick<Timeline, "from" | "to" | "finished">, now: number): View {
  const to = timeline.finished === null ? Math.max(now, timeline.to) * 1.02 : timeline.to;
  return { from: timeline.from, to: Math.max(to, timeline.from + 100) };
}

export function zoomed({ from, to }: View, factor: number, at: number, whole: View): View {
  const width = Math.min(Math.max((to - from) * factor, 20), (whole.to - whole.from) * 1.2);
  const share = (at - from) / (to - from);
  return kept({ from: at - width * share, to: at + width * (1 - share) }, whole);
}

export function moved({ from, to }: View, by: number, whole: View): View {
  return kept({ from: from + by, to: to + by }, whole);
}

/** What is shown stays beside what there is. */
function kept({ from, to }: View, whole: View): View {
  const width = to - from;
  const room = (whole.to - whole.from) * 0.1;
  const start = Math.min(Math.max(from, whole.from - room), Math.max(whole.to + room - width, whole.from - room));
  return { from: start, to: start + width };
}

const steps_s = [
  0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600,
  43_200, 86_400, 172_800, 604_800,
];

/** Round times of the reader's clock, so that no two labels touch. `zone_ms`: what the reader's clock is ahead of UTC. */
export function ticksOf(view: View, origin: number, width: number, zone_ms: number, label_px = 76): number[] {
  const span = view.to - view.from;
  const least = (span / Math.max(width, 1)) * label_px;
  const step = (steps_s.find((s) => s * 1000 >= least) ?? Math.ceil(least / 604_800_000) * 604_800) * 1000;
  const offset = origin + zone_ms;
  const first = Math.ceil((view.from + offset) / step) * step - offset;
  const ticks: number[] = [];
  for (let at = first; at <= view.to && ticks.length < 100; at += step) ticks.push(at);
  return ticks;
}
