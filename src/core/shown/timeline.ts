// A job over time: what each task did when, and which chain of tasks the job waited for. The server tells the chain and the dashboard
// draws by it, so both read it here. All times are milliseconds after the job was submitted. Pure.

export interface TimelineRun {
  /** null: when it began is not known (its worker was lost, or the task never ran). */
  from: number | null;
  /** null: it runs. */
  to: number | null;
  outcome: string;
  attempt: number;
  epoch: number;
  worker_id: string | null;
  /** When it was to be tried again. */
  retry_at: number | null;
  code: string | null;
}

export interface TimelineTask {
  ordinal: number;
  index: string;
  status: string;
  attempt: number | null;
  /** Since when it could run; of a stage that was opened again, since then. */
  ready: number | null;
  /** When a task that waits may start at the earliest. */
  run_at: number | null;
  runs: readonly TimelineRun[];
}

export interface TimelineStage {
  stage_id: number;
  number: number;
  name: string;
  status: string;
  after: readonly number[];
  opened: number | null;
  closed: number | null;
  approved: number | null;
  last_ordinal: number | null;
  median_ms: number | null;
  tasks: readonly TimelineTask[];
}

export type SegmentKind = "waiting" | "retry_gap" | "running" | "completed" | "failed" | "lost" | "released" | "late";

export interface Segment {
  kind: SegmentKind;
  from: number;
  to: number;
  run?: TimelineRun;
}

const run_kinds: Readonly<Record<string, SegmentKind>> = {
  completed: "completed",
  processing: "running",
  failed: "failed",
  lost: "lost",
  released: "released",
};

/**
 * What a task did, in order of time: waiting from when it could run to when it was taken, each run, and between a failure and the
 * next try first the gap that was ordered and then waiting again. A result that came too late overlaps the others and comes last.
 * A run of which only the end is known fills the time in which it must have been.
 */
export function segmentsOf(task: TimelineTask, now: number): Segment[] {
  const told: Segment[] = [];
  const late: Segment[] = [];
  // Since when it could have been taken; null: nobody knows (an earlier epoch), or it cannot.
  let free: number | null = null;
  let epoch: number | null = null;
  const runs = [...task.runs].sort((a, b) => (a.to ?? Infinity) - (b.to ?? Infinity));
  const last_epoch = runs.reduce((most, run) => Math.max(most, run.epoch), 0);
  const waiting = (until: number) => {
    if (free !== null && until > free) told.push({ kind: "waiting", from: free, to: until });
  };
  for (const run of runs) {
    const to = run.to ?? now;
    if (run.outcome === "refused") {
      late.push({ kind: "late", from: run.from ?? to, to, run });
      continue;
    }
    if (run.epoch !== epoch) {
      epoch = run.epoch;
      free = epoch === last_epoch && task.ready !== null && task.ready <= to ? task.ready : null;
    }
    const kind = run_kinds[run.outcome];
    if (kind === undefined) {
      // Skipped or cancelled: it did not run.
      waiting(to);
      free = null;
      continue;
    }
    const from = Math.min(run.from ?? free ?? to, to);
    waiting(from);
    told.push({ kind, from, to, run });
    free = kind === "completed" || (kind === "failed" && run.retry_at === null) ? null : to;
    if (run.retry_at !== null) {
      const again = Math.max(to, run.retry_at);
      const next = runs[runs.indexOf(run) + 1];
      const until = Math.min(again, next?.from ?? next?.to ?? Math.max(now, to));
      if (until > to) told.push({ kind: "retry_gap", from: to, to: until });
      free = again;
    }
  }
  if (task.status === "queued") {
    if (runs.length === 0 || (epoch !== null && task.ready !== null && task.ready > (told.at(-1)?.to ?? -Infinity))) {
      free = task.ready;
    }
    // Not before its time: until then it is not waiting for anybody.
    if (free !== null && task.run_at !== null && task.run_at > free) {
      const until = Math.min(task.run_at, now);
      if (until > free) told.push({ kind: "retry_gap", from: free, to: until });
      free = task.run_at;
    }
    waiting(now);
  }
  return [...told, ...late];
}

export interface PathStep {
  stage_id: number;
  stage: string;
  number: number;
  task_id: string;
  index: string;
  status: string;
  /** From the end of the stage before to the end of this task. */
  from: number;
  to: number;
  /** Waited for a person's approval, and for the stage to be planned. */
  approval_ms: number;
  planning_ms: number;
  /** Ready to run, and no worker had taken it. */
  waiting_ms: number;
  /** Between failures and the tries that followed them. */
  retry_ms: number;
  /** In attempts that came to nothing. */
  lost_ms: number;
  running_ms: number;
  failures: number;
  /** Half of the stage's tasks took no longer. */
  median_ms: number | null;
  largest: "approval" | "planning" | "waiting" | "retry" | "lost" | "running";
}

/**
 * The chain of tasks the job waited for: from the stage that ended last (or is still open) back along the stages it followed, each time
 * the one that closed last, and of each the task that finished last. Anything else could have been slower without the job noticing.
 */
export function slowestPath(stages: readonly TimelineStage[], now: number): PathStep[] {
  const taken = stages.filter((stage) => stage.opened !== null && taskOf(stage) !== undefined);
  const end = (stage: TimelineStage) => stage.closed ?? Infinity;
  const latest = (some: readonly TimelineStage[]) =>
    some.reduce<TimelineStage | null>((best, stage) => (best === null || isLater(stage, best) ? stage : best), null);
  const isLater = (a: TimelineStage, b: TimelineStage) =>
    end(a) !== end(b) ? end(a) > end(b) : end(a) === Infinity ? a.opened! < b.opened! : a.number > b.number;
  const chain: TimelineStage[] = [];
  for (let stage = latest(taken); stage !== null; ) {
    chain.unshift(stage);
    const { after } = stage;
    stage = latest(before(taken, stages, after).filter((candidate) => !chain.includes(candidate)));
  }
  return chain.map((stage, position) => stepOf(stage, chain[position - 1]?.closed ?? 0, now));
}

/** The stages among these that are followed, through stages that were skipped where need be. */
function before(
  taken: readonly TimelineStage[],
  stages: readonly TimelineStage[],
  numbers: readonly number[],
): TimelineStage[] {
  const found = new Set<TimelineStage>();
  const seen = new Set<number>();
  const open = [...numbers];
  for (let number = open.pop(); number !== undefined; number = open.pop()) {
    if (seen.has(number)) continue;
    seen.add(number);
    const stage = stages.find((candidate) => candidate.number === number);
    if (stage === undefined) continue;
    if (taken.includes(stage)) found.add(stage);
    else open.push(...stage.after);
  }
  return [...found];
}

function taskOf(stage: TimelineStage): TimelineTask | undefined {
  return stage.tasks.find(({ ordinal }) => ordinal === stage.last_ordinal);
}

function stepOf(stage: TimelineStage, began: number, now: number): PathStep {
  const task = taskOf(stage)!;
  const opened = Math.max(stage.opened ?? began, began);
  const ready = Math.max(task.ready ?? opened, opened);
  const segments = segmentsOf(task, now).filter(({ kind, to }) => kind !== "late" && to > began);
  const sum = (...kinds: SegmentKind[]) =>
    segments
      .filter(({ kind }) => kinds.includes(kind))
      .reduce((total, { from, to }) => total + to - Math.max(from, began), 0);
  const is_over = task.status === "failed" || task.status === "completed";
  const final = segments.findLast(({ kind }) => kind === "completed" || kind === "running" || kind === "failed");
  const running_ms =
    final !== undefined && (is_over || final.kind === "running") ? final.to - Math.max(final.from, began) : 0;
  const approval_ms = stage.approved === null ? 0 : Math.max(0, Math.min(stage.approved, opened) - began);
  const parts = {
    approval: approval_ms,
    planning: Math.max(0, ready - opened),
    waiting: sum("waiting"),
    retry: sum("retry_gap"),
    lost: Math.max(0, sum("failed", "lost", "released", "completed", "running") - running_ms),
    running: running_ms,
  };
  const failures = segments.filter(
    ({ kind, run }) => (kind === "failed" && (run?.retry_at !== null || run !== final?.run)) || kind === "lost",
  ).length;
  const largest = (Object.entries(parts) as [PathStep["largest"], number][]).reduce(
    (best, [part, ms]) => (ms > parts[best] ? part : best),
    "running" as PathStep["largest"],
  );
  return {
    stage_id: stage.stage_id,
    stage: stage.name,
    number: stage.number,
    status: task.status,
    index: task.index,
    task_id: `${stage.stage_id}-${task.ordinal}`,
    from: began,
    to: segments.at(-1)?.to ?? Math.max(began, opened),
    approval_ms: parts.approval,
    planning_ms: parts.planning,
    waiting_ms: parts.waiting,
    retry_ms: parts.retry,
    lost_ms: parts.lost,
    running_ms,
    failures,
    median_ms: stage.median_ms,
    largest,
  };
}
