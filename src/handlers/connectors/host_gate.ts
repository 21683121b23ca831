// Asks the database, for all workers together, whether a host may be called now, and tells it what came of the call.

import { classify, Throttled } from "../../core/errors/errors.js";
import type { CommonConfig } from "../../core/places/connector_config.js";
import type { SqlSession, TaskContext } from "../../core/task/context.js";

export interface Entered {
  granted: boolean;
  slot_id?: number;
  reason?: string;
  retry_after_s?: number;
}

export interface Gate {
  /** What shares the limits: a host, or a configuration. */
  scope: string;
  limits?: CommonConfig["limits"];
  breaker?: CommonConfig["breaker"];
  /** The longest the call may take: a worker that dies in it gives its place back after that. */
  lease_s: number;
}

/** What nobody has set: kind to hosts that have said nothing about themselves. */
const usual = { max_concurrent: 20, failures: 5, window_s: 60, cool_down_s: 30 };

const words: Readonly<Record<string, string>> = {
  asked_to_wait: "it has asked to wait",
  circuit_open: "it has failed too often lately, and is left alone for a while",
  circuit_probing: "it has failed too often lately, and one call is trying it",
  busy: "as many calls as allowed are under way",
  rate: "as many calls as allowed were made",
};

/** Throws Throttled where it may not be called now: that spends no attempt. */
export async function enterHost(session: SqlSession, gate: Gate): Promise<number> {
  const { max_concurrent = usual.max_concurrent, rate_per_s, burst } = gate.limits ?? {};
  const { failures = usual.failures, window_s = usual.window_s, cool_down_s = usual.cool_down_s } = gate.breaker ?? {};
  const request = {
    scope: gate.scope,
    lease_s: gate.lease_s,
    max_concurrent,
    rate_per_s,
    burst,
    break_after: failures,
    window_s,
    cool_down_s,
  };
  const [row] = await session.sql<{
    reply: Entered;
  }>`select app.host_enter(${JSON.stringify(request)}::text::json) as reply`;
  const { granted, slot_id, reason = "", retry_after_s } = row!.reply;
  if (granted && slot_id !== undefined) return slot_id;
  throw new Throttled(retry_after_s, `${gate.scope} is not called now: ${words[reason] ?? reason}`, {
    code: `host_${reason}`,
  });
}

/** Never throws: a place that could not be given back comes back by itself. */
export async function leaveHost(ctx: TaskContext, slot_id: number, error: unknown): Promise<void> {
  const request = JSON.stringify({ slot_id, ...outcomeOf(ctx, error) });
  try {
    await ctx.db((session) => session.sql`select app.host_leave(${request}::text::json) as reply`);
  } catch (problem) {
    if (!ctx.signal.aborted) ctx.log.debug("the place at the host was not given back", { problem: String(problem) });
  }
}

/** What the host is to blame for. A refusal of ours and a task that was stopped say nothing about it. */
function outcomeOf(ctx: TaskContext, error: unknown): { outcome: string; retry_after_s?: number } {
  if (error === undefined) return { outcome: "ok" };
  const { category, code, retry_after_s } = classify(error);
  if (ctx.signal.aborted || ignored.has(code)) return { outcome: "ignored" };
  if (category === "throttled") return { outcome: "throttled", retry_after_s };
  if (/^http_[234]/.test(code)) return { outcome: code === "http_408" || code === "http_425" ? "failed" : "ok" };
  return { outcome: "failed" };
}

const ignored: ReadonlySet<string> = new Set([
  "outbound_refused",
  "bad_request",
  "response_too_large",
  "unexpected_answer",
  "storage",
]);
