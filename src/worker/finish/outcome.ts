// From what a handler returned to what the finish says: JSON text, a reference to a spilled file, or a failure.
// Small flat results take a short way, because at a hundred thousand a second a thorough walk is most of the work.
import { classify } from "../../core/errors/errors.js";
import { type Failure, failureOf } from "../../core/errors/failures.js";
import { resultToOutcome } from "../../core/task/outcomes.js";
import type { TaskContext } from "../run/context.js";
import type { DoneExtra } from "./finish_batch.js";
import { isLarge, type Spill, spilled } from "./spill.js";

export const HAND_OVER_BYTES = 256 * 1024;

export interface Done {
  /** JSON text. */
  result: string;
  extra: DoneExtra;
}

/** The result as JSON text (of any size, where `spill` is null), with what else there is to tell, or why there is none. A promise only when a file is written. */
export function outcomeOf(
  value: unknown,
  ctx: TaskContext,
  spill: Spill | null,
): string | Done | Failure | Promise<Done> {
  try {
    return read(ctx.redacted(value), ctx, spill);
  } catch (error) {
    return { ...classify(error), category: "contract" };
  }
}

function read(value: unknown, ctx: TaskContext, spill: Spill | null): string | Done | Failure | Promise<Done> {
  // What is still being said would be lost without a word.
  if (ctx.recorded !== undefined && ctx.recorded.open > 0) {
    return contract("the handler returned before ctx.db(…, { with_finish: true }) did: await it", "not_awaited");
  }
  if (ctx.handed_over === undefined && ctx.delivered === undefined) {
    if (value === undefined) return "null";
    if (isSimple(value)) return JSON.stringify(value);
  }
  const given = resultToOutcome(value);
  if (!given.success) return given.failure;
  let handed_over = given.next_stage_params;
  if (ctx.handed_over !== undefined) {
    const own = resultToOutcome({ next_stage_params: ctx.handed_over });
    if (!own.success) return own.failure;
    handed_over = own.next_stage_params;
  }
  const extra: DoneExtra = {};
  if (handed_over !== undefined) {
    const hand_over = handOver(handed_over);
    if (typeof hand_over !== "string") return hand_over;
    extra.next_stage_params = hand_over;
  }
  if (ctx.delivered !== undefined) extra.deliverables = JSON.stringify(ctx.delivered);
  const result = JSON.stringify(given.result) ?? "null";
  if (spill === null || !isLarge(result)) return { result, extra };
  return spilled(result, ctx, spill).then((ref) => ({ result: "null", extra: { ...extra, spill: ref } }));
}

function handOver(value: unknown): string | Failure {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return contract("next_stage_params must be an object");
  }
  const json = JSON.stringify(value);
  const bytes = Buffer.byteLength(json);
  if (bytes <= HAND_OVER_BYTES) return json;
  const limit = `the limit is ${HAND_OVER_BYTES}`;
  return contract(`next_stage_params has ${bytes} bytes; ${limit}: put the data into storage, pass a reference`);
}

function contract(message: string, code = "bad_result"): Failure {
  return failureOf({ message }, { category: "contract", code });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what Postgres cannot store
const unusual = /[\u0000\ud800-\udfff]/;

function isSimpleScalar(value: unknown): boolean {
  switch (typeof value) {
    case "boolean":
      return true;
    case "number":
      return value - value === 0 && value <= Number.MAX_SAFE_INTEGER && value >= -Number.MAX_SAFE_INTEGER;
    case "string":
      return value.length < 1000 && !unusual.test(value);
    default:
      return value === null;
  }
}

/** True only for what is certainly good JSON without a meaning of its own: scalars, and flat objects of them. */
function isSimple(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return isSimpleScalar(value);
  try {
    return isFlat(value);
  } catch {
    // A getter threw: the thorough way reports it.
    return false;
  }
}

function isFlat(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype) return false;
  let keys = 0;
  for (const key in value) {
    if (++keys > 20 || key === "success" || key === "next_stage_params" || key === "__proto__") return false;
    if (!isSimpleScalar((value as Record<string, unknown>)[key])) return false;
    if (key.length > 100 || unusual.test(key)) return false;
  }
  return true;
}
