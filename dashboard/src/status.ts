// How a status looks: colour, shape and word, the same in lists, bars, heat map, map and timeline. Colours are told apart by
// colour-blind readers (after Okabe and Ito), and no two statuses that stand side by side have the same shape.
import type { JobStatus, StageStatus, TaskStatus } from "../../src/core/shown/statuses.js";

export type Shape =
  | "circle"
  | "ring"
  | "half"
  | "square"
  | "diamond"
  | "triangle"
  | "cross"
  | "dash"
  | "pause"
  | "retry";

export interface Look {
  label: string;
  /** A custom property of theme/tokens.css. */
  colour: string;
  shape: Shape;
}

/** As the heat map tells tasks apart: those that wait for another attempt, or for a later time, are not simply queued. */
export type ShownTaskStatus = TaskStatus | "retrying" | "later";

export const task_look: Record<ShownTaskStatus, Look> = {
  queued: { label: "queued", colour: "--st-queued", shape: "ring" },
  later: { label: "later", colour: "--st-later", shape: "ring" },
  processing: { label: "running", colour: "--st-processing", shape: "half" },
  retrying: { label: "retrying", colour: "--st-retrying", shape: "retry" },
  completed: { label: "completed", colour: "--st-completed", shape: "circle" },
  failed: { label: "failed", colour: "--st-failed", shape: "cross" },
  skipped: { label: "skipped", colour: "--st-skipped", shape: "dash" },
  cancelled: { label: "cancelled", colour: "--st-cancelled", shape: "square" },
};

export const job_look: Record<JobStatus | "paused", Look> = {
  queued: task_look.queued,
  processing: task_look.processing,
  completed: task_look.completed,
  partial_success: { label: "partial success", colour: "--st-partial", shape: "diamond" },
  failed: task_look.failed,
  cancelled: task_look.cancelled,
  paused: { label: "paused", colour: "--st-later", shape: "pause" },
};

export const stage_look: Record<StageStatus, Look> = {
  waiting: { label: "waiting", colour: "--st-queued", shape: "ring" },
  waiting_approval: { label: "waiting for approval", colour: "--st-retrying", shape: "triangle" },
  planning: { label: "planning", colour: "--st-processing", shape: "half" },
  processing: task_look.processing,
  completed: task_look.completed,
  partial_success: job_look.partial_success,
  failed: task_look.failed,
  skipped: task_look.skipped,
  cancelled: task_look.cancelled,
};

/** A request is pending before its first job is opened. */
const request_look: Record<"pending", Look> = {
  pending: { label: "pending", colour: "--st-queued", shape: "ring" },
};

/** What a person decided about a release. */
export const approval_look: Record<"pending_review" | "approved" | "rejected" | "revoked", Look> = {
  pending_review: { label: "waits for review", colour: "--st-retrying", shape: "triangle" },
  approved: { label: "approved", colour: "--st-completed", shape: "circle" },
  rejected: { label: "rejected", colour: "--st-failed", shape: "cross" },
  revoked: { label: "revoked", colour: "--st-cancelled", shape: "square" },
};

/** How a worker is, and how it went. */
export const worker_look: Record<"live" | "draining" | "silent" | "stopped" | "lost", Look> = {
  live: { label: "live", colour: "--st-completed", shape: "circle" },
  draining: { label: "draining", colour: "--st-retrying", shape: "half" },
  silent: { label: "silent", colour: "--st-failed", shape: "triangle" },
  stopped: { label: "stopped", colour: "--st-cancelled", shape: "square" },
  lost: { label: "lost", colour: "--st-failed", shape: "cross" },
};

/** What a check found. */
export const check_look: Record<"ok" | "warn" | "fail", Look> = {
  ok: { label: "ok", colour: "--st-completed", shape: "circle" },
  warn: { label: "look at this", colour: "--st-retrying", shape: "triangle" },
  fail: { label: "wrong", colour: "--st-failed", shape: "cross" },
};

const unknown: Look = { label: "unknown", colour: "--st-queued", shape: "ring" };

export function lookOf(status: string): Look {
  const looks: Record<string, Look> = {
    ...check_look,
    ...worker_look,
    ...approval_look,
    ...request_look,
    ...stage_look,
    ...task_look,
    ...job_look,
  };
  return Object.hasOwn(looks, status) ? (looks[status] as Look) : { ...unknown, label: status };
}

/** The real colour behind a custom property, for canvas and map. */
export function colourOf(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || "#888888";
}
