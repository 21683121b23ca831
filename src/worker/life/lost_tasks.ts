// The database says what is no longer this worker's: it is aborted, and nothing of it will be finished.
import type { HeartbeatReply } from "../../engine/work/commands.js";
import { taskFacts } from "../finish/task_end.js";
import type { Incarnation } from "./incarnation.js";

type Lost = Pick<HeartbeatReply, "lost" | "abort">;

export function stopLost({ holdings, runner, log }: Incarnation, { lost = [], abort = [] }: Lost): void {
  const gone = new Set(lost.map((claim_id) => holdings.lose(claim_id)));
  const aborted = new Set(abort.map(([claim_id, ordinal]) => `${claim_id}-${ordinal}`));
  for (const ctx of runner.running) {
    const is_lost = gone.has(ctx.claim);
    if (!is_lost && !aborted.has(`${ctx.claim.claim_id}-${ctx.ordinal}`)) continue;
    // Its own finish may be what has ended the claim.
    if (ctx.phase === "committing") continue;
    const why = is_lost ? "the task was given to others" : "the task was cancelled";
    log.info(taskFacts(ctx), why);
    ctx.abort(is_lost ? "lost" : "cancelled", new DOMException(why, "AbortError"));
  }
}
