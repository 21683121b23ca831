// What a worker over HTTP says of a task's end, judged task by task and written in the columns the database reads. Pure.

import { largest_hand_over, largest_result } from "../../core/api/work/limits.js";
import type { FinishedTask } from "../../core/api/work.js";
import type { Retry } from "../../core/declare/retry.js";
import { classify } from "../../core/errors/errors.js";
import { type Failure, failure_code, failureOf, storableText } from "../../core/errors/failures.js";
import { formatProblems } from "../../core/errors/problems.js";
import type { Ref } from "../../core/places/store.js";
import type { Deliverable } from "../../core/task/context.js";
import { checkedDeliverable } from "../../core/task/deliverable.js";
import { jsonProblems, result_limits } from "../../core/values/json_values.js";
import type { FailedItem, FinishRequest } from "./commands.js";

/** What a completed task may have besides: hand-over (n), its result's file (s), deliverables (v). `i` is its position, from 1. */
interface DoneExtra {
  i: number;
  n?: unknown;
  s?: Ref;
  v?: unknown;
}

/** `retry`: what the handler says of another attempt. */
type Failed = Failure & { retry?: Retry };

export type EndItem =
  | { done: true; duration_ms: number; result: string; extra: Omit<DoneExtra, "i"> | null }
  | { done: false; duration_ms: number; failure: Omit<Failed, "detail"> & { detail?: unknown } };

export interface TaskEnd {
  task_id: string;
  stage_id: number;
  ordinal: number;
  claim_id: number;
  attempt: number;
  item: EndItem;
}

/** The end of a task that fails here, whatever was told of it. */
export function failedItem(task: FinishedTask, failure: Failure): EndItem {
  return { done: false, duration_ms: Math.round(task.duration_ms), failure };
}

/** `problem`: why what was told cannot be stored, so that the task fails. */
export function storableItem(task: FinishedTask): { item: EndItem; problem: string | null } {
  const duration_ms = Math.round(task.duration_ms);
  if (task.error !== undefined)
    return { item: { done: false, duration_ms, failure: failed(task.error) }, problem: null };
  const read = done(task);
  if (!("category" in read)) return { item: { done: true, duration_ms, ...read }, problem: null };
  return { item: { done: false, duration_ms, failure: read }, problem: read.message };
}

function failed({ message, code, category, retry_after_s, detail, retry }: NonNullable<FinishedTask["error"]>): Failed {
  const word = failure_code.test(code) ? code : "failed";
  const failure: Failed = { ...failureOf({ message }, { category, code: word, retry_after_s }), retry };
  if (detail === undefined) return failure;
  const text = jsonProblems(detail, result_limits).length === 0 ? JSON.stringify(detail) : "";
  const kept = text === "" || text.length > 16 * 1024 ? { left_out: "a detail that cannot be stored" } : detail;
  return { ...failure, detail: kept as Failure["detail"] };
}

function done(task: FinishedTask): { result: string; extra: Omit<DoneExtra, "i"> | null } | Failure {
  const { result = null, next_stage_params = null, deliverables = [] } = task;
  const problems = [...jsonProblems(result, result_limits), ...jsonProblems(next_stage_params, result_limits)];
  if (problems.length > 0) {
    return contract("bad_result", formatProblems("The worker sent what cannot be stored", problems));
  }
  const text = JSON.stringify(result);
  const bytes = Buffer.byteLength(text);
  if (bytes > largest_result) {
    const size = `the result has ${bytes} bytes; the limit is ${largest_result}`;
    return contract("result_too_large", `${size}: spill it, or put the data into storage and return a reference`);
  }
  const extra: Omit<DoneExtra, "i"> = {};
  if (task.spill !== undefined) extra.s = { store: "file", ...task.spill };
  if (next_stage_params !== null) {
    const size = Buffer.byteLength(JSON.stringify(next_stage_params));
    if (typeof next_stage_params !== "object" || Array.isArray(next_stage_params)) {
      return contract("bad_result", "next_stage_params must be an object");
    }
    if (size > largest_hand_over) {
      return contract("bad_result", `next_stage_params has ${size} bytes; the limit is ${largest_hand_over}`);
    }
    extra.n = next_stage_params;
  }
  try {
    if (deliverables.length > 0) extra.v = deliverables.map((one): Deliverable => checkedDeliverable(one));
  } catch (error) {
    return { ...classify(error), category: "contract" };
  }
  return { result: text, extra: Object.keys(extra).length === 0 ? null : extra };
}

export function contract(code: string, message: string): Failure {
  return failureOf({ message: storableText(message, 4000) }, { category: "contract", code });
}

export function finishRequest(worker_id: string, ends: readonly TaskEnd[], logs: string): FinishRequest {
  const claims = new Map<number, { c: number; g: number; a: number }>();
  const columns = {
    claims: [] as number[],
    ordinals: [] as number[],
    durations: [] as number[],
    results: [] as string[],
  };
  const extras: DoneExtra[] = [];
  const failures: FailedItem[] = [];
  for (const { claim_id: c, stage_id: g, attempt: a, ordinal: o, item } of ends) {
    if (!claims.has(c)) claims.set(c, { c, g, a });
    if (!item.done) {
      failures.push({ c, o, d: item.duration_ms, ...item.failure });
      continue;
    }
    columns.claims.push(c);
    columns.ordinals.push(o);
    columns.durations.push(item.duration_ms);
    columns.results.push(item.result);
    if (item.extra !== null) extras.push({ i: columns.claims.length, ...item.extra });
  }
  return {
    worker_id,
    claims: JSON.stringify([...claims.values()]),
    done: {
      claims: columns.claims.join(),
      ordinals: columns.ordinals.join(),
      durations: columns.durations.join(),
      results: columns.results.join(),
      extras: JSON.stringify(extras),
    },
    failed: JSON.stringify(failures),
    logs,
  };
}
