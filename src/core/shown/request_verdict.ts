// How a request stands, in one sentence, as verdict.ts says it of a job. Pure: the caller says what time it is.
import { count, took } from "./figures.js";
import { cut, type Tone, type Verdict } from "./verdict.js";

export interface VerdictRequest {
  status: string;
  epoch: number;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  run_at: string | null;
  error: Readonly<Record<string, unknown>> | null;
  waits_for_approval: string | null;
  jobs: readonly {
    name: string;
    sequence: number;
    status: string;
    gate: string | null;
    stage: string | null;
    total: number | null;
    completed: number | null;
    failed: number | null;
    skipped: number | null;
    skip_reason: string | null;
  }[];
}

type Job = VerdictRequest["jobs"][number];

export interface RequestFacts {
  now_ms: number;
  /** The approval of its release: pending_review, approved, rejected, revoked; null: there is no release, or another request makes it. */
  approval?: string | null;
  /** How many addresses of what it made it answers with. */
  services?: number;
}

export function requestVerdict(request: VerdictRequest, facts: RequestFacts): Verdict {
  const say = (tone: Tone, ...parts: string[]): Verdict => ({
    tone,
    text: parts.filter((one) => one !== "").join(" · "),
  });
  const { jobs, status } = request;
  const completed = jobs.filter((job) => job.status === "completed");
  const review = facts.approval === "pending_review" ? "its release waits for a review" : "";
  const gone =
    facts.approval === "revoked"
      ? "its release was revoked"
      : facts.approval === "rejected"
        ? "its release was rejected"
        : "";
  switch (status) {
    case "completed":
      return say(
        review === "" ? (gone === "" ? "well" : "over") : "waits",
        `Completed${tookText(request)}`,
        jobsText(completed.length),
        (facts.services ?? 0) > 0
          ? `${count(facts.services!)} ${facts.services === 1 ? "address" : "addresses"} of what it made`
          : "",
        review,
        gone,
      );
    case "partial_success":
      return say("partly", `Partly succeeded${tookText(request)}`, missingText(jobs), review, gone);
    case "failed":
      return say("badly", ...failedParts(request));
    case "cancelled":
      return say("over", `Cancelled${tookText(request)}${why(request)}`, keptText(completed.length));
  }
  const asking = jobs.find((job) => job.status === "waiting_approval");
  if (asking !== undefined) {
    return say(
      "waits",
      `${which(jobs, asking)} waits for approval${asking.gate === null || asking.gate === "" ? "" : `: ${cut(asking.gate)}`}`,
    );
  }
  if (request.run_at !== null && Date.parse(request.run_at) > facts.now_ms && request.started_at === null) {
    return say("waits", `Waits for its time, in ${took((Date.parse(request.run_at) - facts.now_ms) / 1000)}`);
  }
  const open = jobs.filter(
    (job) => job.status === "processing" || job.status === "queued" || job.status === "planning",
  );
  if (open.length === 0) return say("busy", "The next job is about to start");
  return say(
    open.every((job) => job.status === "queued") ? "waits" : "busy",
    ...open.slice(0, 3).map((job) => jobText(jobs, job)),
  );
}

function jobText(jobs: readonly Job[], job: Job): string {
  if (job.status === "planning") return `${which(jobs, job)} is being planned`;
  if (job.status === "queued") return `${which(jobs, job)} waits for a worker`;
  const done = (job.completed ?? 0) + (job.failed ?? 0) + (job.skipped ?? 0);
  const tasks = job.total === null || job.total === 0 ? "" : `, ${count(done)} of ${count(job.total)} tasks done`;
  const failed = (job.failed ?? 0) > 0 ? `, ${count(job.failed ?? 0)} failed` : "";
  return `${which(jobs, job)} runs${job.stage === null ? "" : ` at ${cut(job.stage, 63)}`}${tasks}${failed}`;
}

/** Jobs of one step run in parallel. */
function which(jobs: readonly Job[], job: Job): string {
  return `Step ${job.sequence} of ${Math.max(...jobs.map(({ sequence }) => sequence))} (${cut(job.name, 63)})`;
}

function failedParts(request: VerdictRequest): string[] {
  const { jobs, error } = request;
  const name = typeof error?.job === "string" ? error.job : null;
  const job = jobs.find((one) => one.name === name) ?? jobs.find(({ status }) => status === "failed");
  const message = typeof error?.message === "string" ? cut(error.message) : "";
  if (job === undefined) return [`Failed${tookText(request)}`, message];
  return [`Failed${tookText(request)} at ${which(jobs, job).replace(/^S/, "s")}`, message];
}

function missingText(jobs: readonly Job[]): string {
  const parts = jobs.flatMap(({ name, status, failed, skip_reason }) => {
    const short = cut(name, 63);
    if (status === "failed" || status === "cancelled") return [short];
    if (status === "partial_success") return [`${count(failed ?? 0)} ${failed === 1 ? "task" : "tasks"} of ${short}`];
    return status === "skipped" && skip_reason === "upstream" ? [`${short} (skipped: what it needs failed)`] : [];
  });
  return parts.length === 0 ? "" : `missing: ${parts.join(", ")}`;
}

const jobsText = (n: number) => (n === 1 ? "1 job" : `${count(n)} jobs`);
const keptText = (n: number) => (n === 0 ? "" : `${jobsText(n)} completed before, and ${n === 1 ? "stays" : "stay"}`);

function why({ error }: VerdictRequest): string {
  const message = typeof error?.message === "string" ? error.message : "";
  return message === "" ? "" : `: ${cut(message)}`;
}

function tookText({ epoch, created_at, started_at, finished_at }: VerdictRequest): string {
  if (finished_at === null) return "";
  const text = took(Math.max(0, Date.parse(finished_at) - Date.parse(started_at ?? created_at)) / 1000);
  return epoch > 1 ? ` in epoch ${epoch}, ${text} after it first started` : ` in ${text}`;
}
