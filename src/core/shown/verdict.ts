// How a job stands, in one sentence: for the page of a job and for the command line. The words are the same in both. Pure: the
// caller gives what it knows and says what time it is.
import type { z } from "zod";
import type { job_record } from "../api/job_records.js";
import { count, took } from "./figures.js";
import { doneOf, type Pace } from "./pace.js";

type Job = z.output<typeof job_record>;
export type VerdictStage = Pick<
  Job["stages"][number],
  | ("number" | "name" | "importance" | "skip_reason" | "gate" | "total" | "eta_s")
  | ("completed" | "failed" | "skipped" | "cancelled" | "processing" | "queued" | "retrying")
> & { status: string; error: Failure | null };

export type VerdictJob = Pick<
  Job,
  | ("epoch" | "waits_for" | "created_at" | "started_at" | "finished_at")
  | ("paused_at" | "paused_by" | "pause_reason" | "cancelled_by")
> & {
  status: string;
  depends_on: readonly Pick<Job["depends_on"][number], "job_id" | "job_type" | "status" | "satisfied_at">[];
  error: Failure | null;
  deliverables: readonly Pick<Job["deliverables"][number], "name" | "count" | "usable" | "at_least">[];
  stages: readonly VerdictStage[];
};

type Failure = NonNullable<Job["error"]>;

export interface VerdictFacts {
  now_ms: number;
  /** By stage number; where there is none, what the status says of itself. */
  paces?: ReadonlyMap<number, Pace>;
  /** The failures by kind, largest first. */
  groups?: readonly { category?: string | null; code: string | null; message: string | null; tasks: number }[];
  /** Tasks of a cancelled job whose handlers have not stopped yet. */
  still_running?: number;
}

export type Tone = "busy" | "waits" | "well" | "partly" | "badly" | "over";

export interface Verdict {
  text: string;
  tone: Tone;
}

const open_statuses: ReadonlySet<string> = new Set(["planning", "processing", "waiting_approval"]);
const longest_quote = 160;

export function verdictOf(job: VerdictJob, facts: VerdictFacts): Verdict {
  const say = (tone: Tone, ...parts: (string | null)[]): Verdict => ({
    tone,
    text: parts.filter((part) => part !== null && part !== "").join(" · "),
  });
  switch (job.status) {
    case "completed":
      return say("well", `Completed${tookText(job)}`, workText(job), countText(sum(job, "skipped"), "skipped"));
    case "partial_success":
      return say("partly", `Partly succeeded${tookText(job)}`, usableText(job), missingText(job));
    case "failed":
      return say("badly", ...failedParts(job, facts));
    case "cancelled":
      return say("over", ...cancelledParts(job, facts));
  }
  if (job.paused_at !== null) return say("waits", ...pausedParts(job, facts));
  if (job.waits_for > 0) return say("waits", dependencyText(job));
  const asking = job.stages.filter(({ status }) => status === "waiting_approval");
  if (asking.length > 0) {
    const working = job.stages.filter(({ status }) => status === "processing" || status === "planning");
    const rest = working.length === 0 ? [] : progressParts(job, working, facts);
    return say("waits", ...asking.map((stage) => approvalText(job, stage)), ...rest);
  }
  const working = job.stages.filter(({ status }) => open_statuses.has(status));
  const untouched = working.every((stage) => doneOf(stage) + stage.processing === 0);
  if (job.started_at === null && untouched) return say("waits", ...queuedParts(job, working, facts));
  return say("busy", ...progressParts(job, working, facts));
}

/** "Stage 3 of 4 · 1,312 of 1,924 done · 7 retrying · about 4 min left"; of several that run at once, all together. */
function progressParts(job: VerdictJob, working: readonly VerdictStage[], facts: VerdictFacts): string[] {
  if (working.length === 0) return job.status === "processing" ? ["The next stage is about to start"] : [];
  const planned = working.filter(({ total, status }) => total !== null && status !== "planning");
  const total = planned.reduce((all, stage) => all + (stage.total ?? 0), 0);
  const done = planned.reduce((all, stage) => all + doneOf(stage), 0);
  const all = (name: "failed" | "retrying") => working.reduce((n, stage) => n + stage[name], 0);
  const planning = working.filter(({ status }) => status === "planning").map(({ name }) => name);
  return [
    whichStages(job, working),
    planned.length === 0 ? "" : `${count(done)} of ${count(total)} done`,
    planning.length === 0 ? "" : `planning ${listed(planning)}`,
    countText(all("failed"), "failed"),
    countText(all("retrying"), "retrying"),
    ...(planning.length > 0 || job.paused_at !== null ? [] : [leftText(planned, facts)]),
  ];
}

function whichStages({ stages }: VerdictJob, some: readonly VerdictStage[]): string {
  const numbers = some.map(({ number }) => String(number));
  return `Stage${numbers.length > 1 ? "s" : ""} ${listed(numbers)} of ${stages.length}`;
}

/** The slowest of those that run decides. Where nobody knows the pace of much of what is left, a guess would be no help. */
function leftText(stages: readonly VerdictStage[], { paces }: VerdictFacts): string {
  const left = stages.map((stage) => ({
    n: Math.max(0, (stage.total ?? 0) - doneOf(stage)),
    eta_s: paces?.get(stage.number)?.eta_s ?? stage.eta_s,
  }));
  const known = left.filter(({ n, eta_s }) => n > 0 && eta_s !== null);
  const all = left.reduce((sum, { n }) => sum + n, 0);
  if (known.length === 0 || known.reduce((sum, { n }) => sum + n, 0) < 0.9 * all) return "";
  return `${roughly(Math.max(...known.map(({ eta_s }) => eta_s as number)))} left`;
}

function queuedParts(job: VerdictJob, working: readonly VerdictStage[], { now_ms }: VerdictFacts): string[] {
  const waiting = working.reduce((all, { queued }) => all + queued, 0);
  return [
    `Queued for ${took((now_ms - Date.parse(job.created_at)) / 1000)}`,
    waiting > 0 ? `${tasksText(waiting)} ${waiting === 1 ? "waits" : "wait"} for a worker` : "waits for a worker",
  ];
}

function pausedParts(job: VerdictJob, facts: VerdictFacts): string[] {
  const working = job.stages.filter(({ status }) => open_statuses.has(status));
  const running = job.stages.reduce((all, { processing }) => all + processing, 0);
  return [
    `Paused${job.paused_by === null ? "" : ` by ${cut(job.paused_by, 60)}`}${job.pause_reason === null ? "" : `: ${cut(job.pause_reason)}`}`,
    ...progressParts(job, working, facts),
    running > 0 ? `${count(running)} still running` : "",
  ];
}

function dependencyText({ depends_on, waits_for }: VerdictJob): string {
  const missing = depends_on.filter(({ satisfied_at }) => satisfied_at === null);
  const first = missing[0];
  const example =
    first === undefined
      ? ""
      : ` · ${cut(first.job_type ?? "a job", 63)} ${first.job_id.slice(0, 12)} is ${words(first.status ?? "no more")}`;
  return `Waits for ${waits_for === 1 ? "another job" : `${count(waits_for)} other jobs`} to end well${example}`;
}

function approvalText(job: VerdictJob, stage: VerdictStage): string {
  const asks = stage.gate === null || stage.gate.message === "" ? "" : `: ${cut(stage.gate.message)}`;
  return `Stage ${stage.number} of ${job.stages.length} (${stage.name}) waits for approval${asks}`;
}

function failedParts(job: VerdictJob, facts: VerdictFacts): string[] {
  if (job.error?.code === "deadline") {
    return [`Failed${tookText(job)}: its deadline passed`, workText(job)];
  }
  const stage =
    job.stages.find(({ status, importance }) => status === "failed" && importance === "critical") ??
    job.stages.find(({ status }) => status === "failed");
  if (stage === undefined) return [`Failed${tookText(job)}`, job.error?.message ? cut(job.error.message) : ""];
  const where = `Failed${tookText(job)} in stage ${stage.number} of ${job.stages.length} (${stage.name})`;
  if (stage.failed === 0) return [where, cut(stage.error?.message ?? job.error?.message ?? "")];
  return [where, `${count(stage.failed)} of ${tasksText(stage.total ?? stage.failed)} failed`, mostly(stage, facts)];
}

/** What most of the failures are; where nobody has grouped them, the first one. */
function mostly(stage: VerdictStage, { groups }: VerdictFacts): string {
  const most = groups?.[0];
  if (most === undefined) return stage.error?.message ? `first: ${cut(stage.error.message)}` : "";
  // A failure without a code of its own has that of its category, which says nothing.
  const code = most.code === most.category ? null : most.code;
  const what = [code, most.message].filter((text) => text !== null && text !== "").join(": ");
  return `${groups?.length === 1 ? "all" : `${count(most.tasks)} of them`} with ${cut(what)}`;
}

function cancelledParts(job: VerdictJob, { still_running = 0 }: VerdictFacts): string[] {
  const by = job.cancelled_by === null ? "" : ` by ${cut(job.cancelled_by, 60)}`;
  const message = job.error?.message ?? "";
  // What SQL says when nobody gave a reason is no reason.
  const why = message === "" || message === "cancelled on request" ? "" : `: ${cut(message)}`;
  const kept = sum(job, "completed");
  return [
    `Cancelled${by}${tookText(job)}${why}`,
    still_running > 0 ? `${tasksText(still_running)} still to stop` : "",
    kept > 0 ? `${tasksText(kept)} completed before, and ${kept === 1 ? "stays" : "stay"}` : "",
  ];
}

function usableText(job: VerdictJob): string {
  const delivered = job.deliverables.filter(({ usable }) => usable);
  if (delivered.length > 0) {
    const named = delivered.map(
      ({ name, count: n, at_least }) => `${at_least ? "at least " : ""}${count(Number(n))} ${cut(name, 60)}`,
    );
    return `usable: ${listed(named)}`;
  }
  const stages = job.stages.filter(({ completed }) => completed > 0);
  if (stages.length === 0) return "";
  const named = stages.map(({ name, completed, total }) =>
    completed === total ? `all of ${name}` : `${count(completed)} of ${count(total ?? completed)} of ${name}`,
  );
  return `usable: ${listed(named)}`;
}

function missingText(job: VerdictJob): string {
  const parts = job.stages.flatMap(({ name, status, failed, cancelled, skip_reason }) => {
    if (failed + cancelled > 0) return [`${tasksText(failed + cancelled)} of ${name}`];
    if (status === "failed" || status === "cancelled") return [name];
    return skip_reason === "upstream" ? [`${name} (skipped: what it needs failed)`] : [];
  });
  return parts.length === 0 ? "" : `missing: ${listed(parts)}`;
}

function workText(job: VerdictJob): string {
  const done = sum(job, "completed");
  return done > 0 ? tasksText(done) : "";
}

function sum({ stages }: VerdictJob, name: "completed" | "skipped"): number {
  return stages.reduce((all, stage) => all + stage[name], 0);
}

/** A repaired job took as long as it took in all: what it did in between is in its events. */
function tookText({ epoch, started_at, finished_at }: VerdictJob): string {
  if (started_at === null || finished_at === null) return "";
  const text = took((Date.parse(finished_at) - Date.parse(started_at)) / 1000);
  return epoch > 1 ? ` in epoch ${epoch}, ${text} after it first started` : ` in ${text}`;
}

function tasksText(n: number): string {
  return n === 1 ? "1 task" : `${count(n)} tasks`;
}

function countText(n: number, word: string): string {
  return n > 0 ? `${count(n)} ${word}` : "";
}

function words(status: string): string {
  return status.replaceAll("_", " ");
}

function listed(items: readonly string[]): string {
  const most = 4;
  const shown = items.length > most ? [...items.slice(0, most - 1), `${items.length - most + 1} more`] : [...items];
  const last = shown.pop() ?? "";
  return shown.length === 0 ? last : `${shown.join(", ")} and ${last}`;
}

/** On one line, and not longer than may be quoted. */
export function cut(text: string, longest = longest_quote): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  const letters = [...line];
  return letters.length > longest ? `${letters.slice(0, longest - 1).join("")}…` : line;
}

/** How long something may take: nobody knows it to the second. */
export function roughly(s: number): string {
  if (s < 10) return "a few seconds";
  if (s < 55) return `about ${Math.round(s / 10) * 10 || 10} s`;
  if (s < 90 * 60) return `about ${Math.max(1, Math.round(s / 60))} min`;
  if (s < 36 * 3600) return `about ${Math.round(s / 3600)} h`;
  return `about ${count(Math.round(s / 86_400))} days`;
}
