// The history checker. It holds what handlers did (effect log) against what the database says happened, and returns every
// rule that does not hold. Pure, so that a test can hand it a broken history for each rule. That a task ran twice is allowed,
// and counted; that it counted twice is not.
import type { Ack, Effect } from "./effects.js";

export interface History {
  /** Jobs whose submit was answered. */
  acknowledged: string[];
  jobs: { job_id: string; status: string }[];
  stages: StageFacts[];
  results: ResultFacts[];
  attempts: AttemptFacts[];
  events: { event_id: number; kind: string; job_id: string; stage_id: number | null }[];
  /** What is still in `ready` or `claims`. */
  unfinished: { place: "ready" | "claims"; stage_id: number; range: string }[];
  /** What app.verify_stage says does not hold. */
  violations: string[];
  /** Workers that were declared lost, and how long the database had not heard of them then, by its own clock. */
  rescues: { worker_id: string; lease_s: number; silent_s: number }[];
  effects: Effect[];
  /** Finishes that were confirmed to a worker. */
  acks: Ack[];
}

export interface StageFacts {
  stage_id: number;
  /** Null for the stage in which tasks without a job live; it never closes. */
  job_id: string | null;
  number: number;
  name: string;
  status: string;
  total: number;
  max_attempts: number;
  /** In which it was last opened. */
  epoch: number;
}

export interface ResultFacts {
  stage_id: number;
  ordinal: number;
  status: string;
  attempt: number;
  worker_id: string | null;
  /** The execution that the result itself, as a consumer reads it, says it is from. */
  run: string | null;
}

export interface AttemptFacts {
  stage_id: number;
  ordinal: number;
  attempt: number;
  epoch: number;
  outcome: string;
  worker_id: string | null;
}

export interface Verdict {
  problems: string[];
  counts: {
    tasks: number;
    executions: number;
    /** Executions beyond one per task, by failed attempts and by faults. */
    duplicates: number;
    /** Executions that never ended: their process died. */
    cut_off: number;
    lost: number;
    refused: number;
    released: number;
    failed_attempts: number;
    /**
     * Executions under a claim's id that had run the task before: a claim commits without waiting for the disk, so that a
     * server crash may forget it, and give its id out again.
     */
    reused_claims: number;
  };
}

/** A task held through three crashes is failed (take_back.sql). */
const crash_budget = 3;
const terminal = new Set(["completed", "partial_success", "failed", "skipped", "cancelled"]);

/** What an operator did to have an ended job go on. */
const opens_epoch = new Set(["job.resumed", "job.retried"]);

export function checkHistory(history: History): Verdict {
  const runs = runsOf(history.effects);
  const problems = [
    ...history.violations.map((text) => `verify_stage: ${text}`),
    ...lostSubmits(history),
    ...lostFinishes(history, runs),
    ...earlyRescues(history),
    ...notAtRest(history),
    ...strayResults(history, runs),
    ...overlaps(history, runs),
    ...stageOrder(history, runs),
    ...transitions(history),
    ...bounds(history),
    ...effectKeys(runs),
  ];
  const outcome = (name: string) => history.attempts.filter((row) => row.outcome === name).length;
  const counts = {
    tasks: new Set(runs.map((run) => taskOf(run))).size,
    executions: runs.length,
    duplicates: runs.length - new Set(runs.map((run) => taskOf(run))).size,
    cut_off: runs.filter(({ ended_at }) => ended_at === null).length,
    lost: outcome("lost"),
    refused: outcome("refused"),
    released: outcome("released"),
    failed_attempts: outcome("failed"),
    reused_claims: runs.length - new Set(runs.map((run) => `${run.claim_id}/${taskOf(run)}`)).size,
  };
  return { problems, counts };
}

interface Run extends Effect {
  started_at: number;
  ended_at: number | null;
}

const taskOf = ({ stage_id, ordinal }: { stage_id: number; ordinal: number }) => `${stage_id}-${ordinal}`;

/** Once through all rows: half an hour of faults leaves hundreds of thousands. */
function grouped<Row, Key>(rows: readonly Row[], keyOf: (row: Row) => Key): (key: Key) => readonly Row[] {
  const groups = new Map<Key, Row[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return (key) => groups.get(key) ?? [];
}

function runsOf(effects: Effect[]): Run[] {
  const runs = new Map<string, Run>();
  for (const effect of effects) {
    if (effect.what === "start") runs.set(effect.run, { ...effect, started_at: effect.at, ended_at: null });
    else Object.assign(runs.get(effect.run)!, { ended_at: effect.at, outcome: effect.outcome });
  }
  return [...runs.values()];
}

function lostSubmits({ acknowledged, jobs }: History): string[] {
  const known = new Set(jobs.map(({ job_id }) => job_id));
  return acknowledged.filter((job_id) => !known.has(job_id)).map((job_id) => `acknowledged job ${job_id} is lost`);
}

/**
 * A confirmed finish is there for ever, as the execution that it was about made it; unless it is on record that somebody
 * had the task run again, or that its stage was closed before it.
 */
function lostFinishes({ acks, results, attempts }: History, runs: Run[]): string[] {
  const claim_of = new Map(runs.map(({ run, claim_id }) => [run, claim_id]));
  const kept = new Map(results.map((result) => [taskOf(result), result.run ?? ""]));
  const made_by = new Map(runs.map((run) => [`${taskOf(run)} ${run.claim_id}`, `${taskOf(run)} ${run.worker_id}`]));
  const undone = new Set(
    attempts
      .filter(({ outcome }) => outcome === "superseded" || outcome === "refused")
      .map((row) => `${taskOf(row)} ${row.worker_id}`),
  );
  return acks
    .filter((ack) => {
      if (undone.has(made_by.get(`${taskOf(ack)} ${ack.claim_id}`) ?? "")) return false;
      const run = kept.get(taskOf(ack));
      return run === undefined || (ack.run === null ? claim_of.get(run) !== ack.claim_id : run !== ack.run);
    })
    .map((ack) => `the confirmed finish of task ${taskOf(ack)} by ${ack.run} under claim ${ack.claim_id} is lost`);
}

function earlyRescues({ rescues }: History): string[] {
  return rescues
    .filter(({ silent_s, lease_s }) => silent_s < lease_s)
    .map(
      ({ worker_id, silent_s, lease_s }) => `worker ${worker_id} was declared lost after ${silent_s} s of ${lease_s}`,
    );
}

function notAtRest({ jobs, stages, unfinished }: History): string[] {
  return [
    ...jobs.filter(({ status }) => !terminal.has(status)).map((job) => `job ${job.job_id} is ${job.status} at rest`),
    ...stages
      .filter(({ job_id, status }) => job_id !== null && !terminal.has(status))
      .map((stage) => `stage ${stage.stage_id} is ${stage.status} at rest`),
    ...unfinished.map(({ place, stage_id, range }) => `${range} of stage ${stage_id} is in ${place} at rest`),
  ];
}

/** One result per task, and each is of an execution that ended well, of the worker and the attempt the row names. */
function strayResults({ results, stages }: History, runs: Run[]): string[] {
  const problems: string[] = [];
  const by_name = new Map(runs.map((run) => [run.run, run]));
  const seen = new Set<string>();
  const used = new Map<string, string>();
  for (const result of results) {
    const task = taskOf(result);
    if (seen.has(task)) problems.push(`task ${task} has two accepted finishes`);
    seen.add(task);
    if (result.status !== "completed") continue;
    const run = result.run === null ? undefined : by_name.get(result.run);
    if (run === undefined || taskOf(run) !== task) {
      problems.push(`the result of task ${task} is of "${result.run}", which never ran it`);
      continue;
    }
    if (run.outcome !== "returned") problems.push(`the result of task ${task} is of ${run.run}, which did not return`);
    if (run.worker_id !== result.worker_id || run.attempt !== result.attempt) {
      const [ran, stored] = [run, result].map(({ worker_id, attempt }) => `${worker_id} attempt ${attempt}`);
      problems.push(`the result of task ${task} names ${stored}, but ${ran} made it`);
    }
    if (used.has(run.run)) problems.push(`${run.run} made the results of ${used.get(run.run)} and ${task}`);
    used.set(run.run, task);
  }
  const by_stage = grouped(results, ({ stage_id }) => stage_id);
  for (const { stage_id, name, total, status } of stages) {
    if (!["completed", "partial_success"].includes(status)) continue;
    const found = by_stage(stage_id).length;
    if (found !== total) problems.push(`stage "${name}" (${stage_id}) has ${found} results of ${total} tasks`);
  }
  return problems;
}

/** Executions the database took a word from, as a result or as a failed attempt. */
function acceptedRuns({ results, attempts }: History, runs: Run[]): Run[] {
  const made = new Set(results.flatMap(({ run }) => (run === null ? [] : [run])));
  const key = (row: { stage_id: number; ordinal: number; attempt: number; worker_id: string | null }) =>
    `${taskOf(row)} ${row.attempt} ${row.worker_id}`;
  const failed = new Set(attempts.filter(({ outcome }) => outcome === "failed").map(key));
  return runs.filter((run) => made.has(run.run) || (run.outcome === "threw" && failed.has(key(run))));
}

function overlaps(history: History, runs: Run[]): string[] {
  const problems: string[] = [];
  const last = new Map<string, Run>();
  for (const run of acceptedRuns(history, runs).sort((a, b) => a.started_at - b.started_at)) {
    const before = last.get(taskOf(run));
    if (before !== undefined && run.started_at < (before.ended_at ?? Number.POSITIVE_INFINITY)) {
      problems.push(`accepted attempts of task ${taskOf(run)} overlap: ${before.run} and ${run.run}`);
    }
    last.set(taskOf(run), run);
  }
  return problems;
}

/**
 * Nothing of a stage starts before every accepted execution of the stage before has ended. Not asked of a job that was
 * repaired: what was kept there is older than what ran again before it.
 */
function stageOrder(history: History, runs: Run[]): string[] {
  const acceptedOf = grouped(acceptedRuns(history, runs), ({ stage_id }) => stage_id);
  const runsIn = grouped(runs, ({ stage_id }) => stage_id);
  const stagesOf = grouped(history.stages, ({ job_id }) => job_id);
  const repaired = new Set(history.events.filter(({ kind }) => opens_epoch.has(kind)).map(({ job_id }) => job_id));
  return history.stages.flatMap((stage) => {
    if (stage.job_id !== null && repaired.has(stage.job_id)) return [];
    const before = stagesOf(stage.job_id).find(({ number }) => number === stage.number - 1);
    if (before === undefined) return [];
    const ends = acceptedOf(before.stage_id).map(({ ended_at }) => ended_at ?? 0);
    const closed_at = ends.reduce((latest, at) => Math.max(latest, at), 0);
    return runsIn(stage.stage_id)
      .filter((run) => run.started_at < closed_at)
      .map((run) => `task ${taskOf(run)} of "${stage.name}" started before "${before.name}" had closed`);
  });
}

/** In every epoch of a job its stages close at most once, in order, and then it ends, once; every stage closes in some. */
function transitions({ jobs, stages, events }: History): string[] {
  const problems: string[] = [];
  const eventsOf = grouped(events, ({ job_id }) => job_id);
  const stagesOf = grouped(stages, ({ job_id }) => job_id);
  for (const { job_id, status } of jobs) {
    const own = eventsOf(job_id);
    const own_stages = [...stagesOf(job_id)].sort((a, b) => a.number - b.number);
    const epochs = epochsOf(own);
    for (const [number, epoch] of epochs.entries()) {
      const ends = epoch.filter(({ kind }) => isEnd(kind, "job"));
      const over = terminal.has(status) || number < epochs.length - 1;
      if (over && ends.length !== 1) problems.push(`job ${job_id} ended ${ends.length} times in epoch ${number + 1}`);
      let last = 0;
      for (const stage of own_stages) {
        const [event, ...more] = closings(epoch, stage);
        if (more.length > 0) problems.push(`stage "${stage.name}" (${stage.stage_id}) closed ${more.length + 1} times`);
        else if ((event?.event_id ?? last) < last) {
          problems.push(`stage "${stage.name}" (${stage.stage_id}) closed out of order`);
        }
        last = event?.event_id ?? last;
      }
      if (ends[0] !== undefined && ends[0].event_id < last) problems.push(`job ${job_id} ended before its last stage`);
    }
    for (const stage of own_stages) {
      // A stage that never opened, of a job that ended before, is cancelled without an event of its own.
      if (stage.status !== "cancelled" && terminal.has(stage.status) && closings(own, stage).length === 0) {
        problems.push(`stage "${stage.name}" (${stage.stage_id}) closed 0 times`);
      }
    }
  }
  return problems;
}

const isEnd = (kind: string, name: "stage" | "job") =>
  kind.startsWith(`${name}.`) && terminal.has(kind.slice(name.length + 1));

const closings = (events: readonly History["events"][number][], { stage_id }: StageFacts) =>
  events.filter((event) => event.stage_id === stage_id && isEnd(event.kind, "stage"));

function epochsOf(events: readonly History["events"][number][]): History["events"][] {
  const epochs: History["events"][] = [[]];
  for (const event of [...events].sort((a, b) => a.event_id - b.event_id)) {
    if (opens_epoch.has(event.kind)) epochs.push([]);
    else epochs.at(-1)!.push(event);
  }
  return epochs;
}

/** Tries ≤ max_attempts + crash budget, for every task, in each epoch of its stage. */
function bounds({ stages, attempts, results }: History): string[] {
  const problems: string[] = [];
  const stage_of = new Map(stages.map((stage) => [stage.stage_id, stage]));
  const tries = new Map<string, { task: string; stage_id: number; failed: number; lost: number; done: number }>();
  const triesOf = (row: { stage_id: number; ordinal: number; epoch?: number }) => {
    const key = `${taskOf(row)} ${row.epoch ?? stage_of.get(row.stage_id)?.epoch}`;
    const found = tries.get(key) ?? { task: taskOf(row), stage_id: row.stage_id, failed: 0, lost: 0, done: 0 };
    tries.set(key, found);
    return found;
  };
  for (const row of attempts) {
    if (row.outcome === "failed") triesOf(row).failed++;
    if (row.outcome === "lost") triesOf(row).lost++;
  }
  for (const row of results) if (row.status === "completed") triesOf(row).done++;
  for (const { task, stage_id, failed, lost, done } of tries.values()) {
    const most = stage_of.get(stage_id)?.max_attempts ?? 0;
    if (failed + done > most) problems.push(`task ${task} had ${failed + done} attempts of ${most}`);
    if (lost > crash_budget) problems.push(`task ${task} was lost ${lost} times; the budget is ${crash_budget}`);
  }
  return problems;
}

/** The effect key is the task's own, whatever the attempt. */
function effectKeys(runs: Run[]): string[] {
  const problems: string[] = [];
  const keys = new Map<string, string>();
  const owners = new Map<string, string>();
  for (const run of runs) {
    const task = taskOf(run);
    if ((keys.get(task) ?? run.effect_key) !== run.effect_key) problems.push(`task ${task} has two effect keys`);
    keys.set(task, run.effect_key);
    if ((owners.get(run.effect_key) ?? task) !== task) {
      problems.push(`tasks ${owners.get(run.effect_key)} and ${task} share an effect key`);
    }
    owners.set(run.effect_key, task);
  }
  return problems;
}
