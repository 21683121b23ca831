// What a worker says of itself with each heartbeat.
import type { WorkerState } from "../../engine/work/commands.js";
import { timeoutOf } from "../run/overtime.js";
import type { Incarnation } from "./incarnation.js";

export function stateOf({ shared, runner, holdings, leaving }: Incarnation): WorkerState {
  const now = performance.now();
  const running = Array.from(runner.running, (ctx) => ({
    claim_id: ctx.claim.claim_id,
    stage_id: ctx.claim.stage.stage_id,
    ordinal: ctx.ordinal,
    // From when its time-out counts: a process of its own has to start first.
    elapsed_s: Number.isFinite(ctx.timed_from) ? Math.round(now - ctx.timed_from) / 1000 : 0,
    timeout_s: timeoutOf(ctx, shared.engine.registry.handlers),
    progress: ctx.progress_made,
    progress_age_s: ctx.progress_made === null ? null : Math.round(now - ctx.progress_at) / 1000,
  }));
  const { memory } = shared;
  return {
    running,
    claims: [...holdings.claims.keys()],
    rss_mb: Math.round(process.memoryUsage.rss() / 1_048_576),
    memory_used_mb: memory.needs.size === 0 ? undefined : memory.used_mb,
    draining: leaving.has_begun || undefined,
  };
}
