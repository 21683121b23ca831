// A handler that asked for secrets may have put one into what it returns, hands over or delivers.
import { resultToOutcome } from "../core/outcomes.js";
import type { TaskContext } from "./context.js";

/** It is read thoroughly first: it may be anything. */
export function redacted(value: unknown, ctx: TaskContext): unknown {
  const { redaction } = ctx;
  if (redaction === undefined) return value;
  if (ctx.delivered !== undefined) ctx.delivered = redaction.value(ctx.delivered) as typeof ctx.delivered;
  if (resultToOutcome({ next_stage_params: ctx.handed_over }).success) ctx.handed_over = redactedJson(ctx.handed_over);
  // What is no good result stays as it was, and is redacted as a failure.
  return resultToOutcome(value).success ? redactedJson(value) : value;

  function redactedJson(given: unknown): unknown {
    return given === undefined ? undefined : JSON.parse(redaction!.json(JSON.stringify(given)));
  }
}
