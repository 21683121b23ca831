// A job, or a request, as OGC API Processes sees it: one record of how it is. A partial success is successful, and says in its message what is
// missing; a state of its own for it there is none.
import type { RequestStatus } from "../../../../core/api/platform/requests.js";
import { NotFound } from "../../../../core/errors/errors.js";
import type { JobStatus } from "../../../../core/shown/statuses.js";
import type { Engine } from "../../../../engine/engine.js";
import type { JobRecord, ListedJobs } from "../../../../engine/verbs/records.js";
import type { RequestPage, RequestRecord } from "../../../../engine/verbs/requests.js";
import { jobView } from "../../../jobs/job_view.js";
import { json, type Link, type OgcLinks, ogc_rel } from "../links.js";
import { NoSuchJob } from "./exceptions.js";
import type { Execution } from "./inputs.js";
import { recipe_prefix } from "./process.js";

export type Status = "accepted" | "running" | "successful" | "failed" | "dismissed";
export const statuses: readonly Status[] = ["accepted", "running", "successful", "failed", "dismissed"];

const status_of: Record<JobStatus | RequestStatus, Status> = {
  queued: "accepted",
  pending: "accepted",
  processing: "running",
  completed: "successful",
  partial_success: "successful",
  failed: "failed",
  cancelled: "dismissed",
};

export interface Run {
  id: string;
  process_id: string;
  own_status: JobStatus | RequestStatus;
  message: string;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  updated_at: string;
  /** 0 to 100; null where a list does not tell. */
  progress: number | null;
  is_request: boolean;
  error: { code?: string | undefined; message?: string | null | undefined } | null;
}

/** How a job is shown that was executed in another way: whatever it gave, in one document. */
export const usual_execution: Execution = { response: "document", outputs: null };

export async function findRun(engine: Engine, id: string, links: OgcLinks): Promise<JobRecord | RequestRecord> {
  try {
    if (/^[0-9a-f]{64}$/.test(id)) return await engine.status(id);
    if (/^[0-9a-f]{32}$/.test(id)) return await engine.requests.get(id);
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
  throw new NoSuchJob(id, links);
}

export const isRequest = (record: JobRecord | RequestRecord): record is RequestRecord => "request_id" in record;

export function runOf(record: JobRecord | RequestRecord): Run {
  return isRequest(record) ? ofRequest(record) : ofJob(record);
}

function ofJob(job: JobRecord): Run {
  const { job_id, job_type, status, created_at, started_at, finished_at, updated_at } = job;
  // Where its stages failed the job, they know more.
  const errors = [job.error, ...job.outcomes.filter((one) => one.status === "failed").map((one) => one.error)];
  const error = errors.find((one) => one?.code !== undefined) ?? job.error;
  const { progress } = jobView(job, null);
  const { failed, total } = progress;
  return {
    id: job_id,
    process_id: job_type,
    own_status: status,
    message: messageOf(status, failed, total, error, job.hint),
    created_at,
    started_at,
    finished_at,
    updated_at,
    progress: Math.floor(progress.fraction * 100),
    is_request: false,
    error,
  };
}

export function ofListedJob(job: ListedJobs["jobs"][number]): Run {
  const { job_id, job_type, status, created_at, started_at, finished_at, error, progress } = job;
  return {
    id: job_id,
    process_id: job_type,
    own_status: status,
    message: messageOf(status, progress?.failed ?? 0, progress?.total ?? 0, error, ""),
    created_at,
    started_at,
    finished_at,
    updated_at: finished_at ?? started_at ?? created_at,
    progress: progress === null ? null : listedPercent(status, progress),
    is_request: false,
    error,
  };
}

function listedPercent(
  status: JobStatus,
  { stages, stages_ended, open_stages }: NonNullable<ListedJobs["jobs"][number]["progress"]>,
) {
  if (status === "completed") return 100;
  const done = open_stages.reduce(
    (sum, one) => sum + (one.completed + one.failed + one.skipped) / Math.max(1, one.total),
    stages_ended,
  );
  return Math.floor(Math.min(1, done / Math.max(1, stages)) * 100);
}

type ListedRequest = RequestPage["requests"][number];

export function ofRequest(request: ListedRequest | RequestRecord): Run {
  const { request_id, data_type, status, created_at, started_at, finished_at, updated_at, error, jobs } = request;
  const ended = jobs.filter(
    ({ status: one }) => !["waiting", "waiting_approval", "queued", "processing"].includes(one),
  );
  const waits = "waits_for_approval" in request ? request.waits_for_approval : null;
  const failed = jobs.filter((one) => one.status === "failed" || one.status === "partial_success").length;
  return {
    id: request_id,
    process_id: `${recipe_prefix}${data_type}`,
    own_status: status,
    message: waits === null ? messageOf(status, failed, jobs.length, error, "") : `It waits for a person: ${waits}`,
    created_at,
    started_at,
    finished_at,
    updated_at,
    progress: status === "completed" ? 100 : Math.floor((ended.length / Math.max(1, jobs.length)) * 100),
    is_request: true,
    error: error as Run["error"],
  };
}

function messageOf(
  status: JobStatus | RequestStatus,
  failed: number,
  total: number,
  error: Run["error"],
  hint: string,
): string {
  const why = error?.message ?? error?.code ?? "";
  if (status === "partial_success")
    return `Partial success: ${failed} of ${total} failed; the rest is there. A resume tries them again.`;
  if (status === "failed" || status === "cancelled") return why === "" ? status : why;
  if (status === "completed") return "Completed";
  return hint === "" ? (statusWords[status] ?? status) : hint;
}

const statusWords: Partial<Record<string, string>> = {
  queued: "It waits for a worker",
  pending: "Its jobs are about to start",
  processing: "Under way",
};

export function statusInfo(run: Run, links: OgcLinks) {
  const { created_at, started_at, finished_at, updated_at, progress } = run;
  const status = status_of[run.own_status];
  return {
    processID: run.process_id,
    type: "process" as const,
    jobID: run.id,
    status,
    message: run.message,
    created: utc(created_at),
    ...(started_at === null ? {} : { started: utc(started_at) }),
    ...(finished_at === null ? {} : { finished: utc(finished_at) }),
    updated: utc(updated_at),
    ...(progress === null ? {} : { progress }),
    links: linksOf(run, status, links),
  };
}

export const statusOf = ({ own_status }: Run): Status => status_of[own_status];

function linksOf(run: Run, status: Status, links: OgcLinks): Link[] {
  const own = links.job(run.id);
  const of_us = `${links.base}/api/${run.is_request ? "platform/status" : "jobs"}/${run.id}`;
  const made = links.here(own, "This job");
  made.push({ rel: "up", href: `${links.root}/jobs`, type: json, title: "All jobs" });
  if (status === "successful")
    made.push({ rel: `${ogc_rel}/results`, href: `${own}/results`, type: json, title: "What it gave" });
  else if (status === "failed" || status === "dismissed")
    made.push({ rel: `${ogc_rel}/exceptions`, href: `${own}/results`, type: json, title: "Why it gave nothing" });
  else made.push({ rel: "monitor", href: own, type: json, title: "Ask again here" });
  made.push({ rel: "related", href: of_us, type: json, title: "Everything about it" });
  if (["failed", "cancelled", "partial_success"].includes(run.own_status)) made.push(resumeLink(run, links));
  return made;
}

/** A POST there lets it go on with what failed, and keep what completed. */
function resumeLink({ id, is_request }: Run, { base }: OgcLinks): Link {
  const href = is_request ? `${base}/api/platform/requests/${id}/resubmit` : `${base}/api/jobs/${id}/resume`;
  return { rel: `${base}/api/docs#resume`, href, type: json, title: "POST here to let it go on with what failed" };
}

/** RFC 3339, as validators of date-time read it. */
function utc(moment: string): string {
  return new Date(moment).toISOString();
}
