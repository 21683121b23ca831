// What this worker holds: its claims, and of these the tasks that have not started (the local queue). No I/O.
// A claim stays known until each of its tasks is finished, handed back or lost, so that the heartbeat can name it.
import { Tally } from "../../core/task/work_counts.js";
import type { ClaimedBatch, ClaimedStage, ClaimedTask, ReleaseItem } from "../../engine/work/commands.js";
import type { HandlerPace } from "./batch.js";

export class HeldClaim {
  readonly claim_id: number;
  readonly attempt: number;
  readonly tasks: readonly ClaimedTask[];
  /** Position of the first task that has not started. */
  next = 0;
  /** Position behind the last task of the local queue: what was handed back lies beyond it. */
  end: number;
  /** Tasks whose fate the database does not know yet. */
  open: number;
  /** The database gave it to others, or we can no longer be sure that it did not: nothing of it may be finished. */
  lost = false;
  /** Its attempts are spans of a trace. */
  traced = false;
  /** What each of its tasks needs of the worker's memory; 0 where it is no matter. */
  memory_mb = 0;

  constructor(
    batch: ClaimedBatch,
    readonly stage: ClaimedStage,
    readonly pace: HandlerPace,
    readonly claimed_at: number,
    /** Counts for its task type. */
    readonly tally = new Tally(),
  ) {
    this.claim_id = batch.claim_id;
    this.attempt = batch.attempt;
    this.tasks = batch.tasks;
    this.end = batch.tasks.length;
    this.open = batch.tasks.length;
  }
}

const always = () => true;

export class Holdings {
  readonly claims = new Map<number, HeldClaim>();
  /** Tasks that have not started. */
  queued = 0;
  private readonly queue: HeldClaim[] = [];

  add(claim: HeldClaim): void {
    this.claims.set(claim.claim_id, claim);
    this.queue.push(claim);
    this.queued += claim.end - claim.next;
  }

  /** The first claim whose next task may start; the caller moves `next`. */
  first(mayStart: (claim: HeldClaim) => boolean = always): HeldClaim | undefined {
    for (let at = 0; ; ) {
      const claim = this.queue[at];
      if (claim === undefined) return undefined;
      if (claim.next >= claim.end) {
        // Let go at once: in a busy queue, which is never empty, the parameters of a whole stage would stay in memory.
        if (at === 0) this.queue.shift();
        else this.queue.splice(at, 1);
      } else if (mayStart(claim)) return claim;
      else at++;
    }
  }

  /** What waits, claim by claim, in starting order. */
  *waiting(): Generator<{ claim: HeldClaim; count: number }> {
    for (const claim of this.queue) {
      if (claim.next < claim.end) yield { claim, count: claim.end - claim.next };
    }
  }

  /** Takes the last `count` tasks out of the local queue, to be handed back. */
  takeFromEnd(count: number): ReleaseItem[] {
    const items: ReleaseItem[] = [];
    for (let at = this.queue.length - 1; at >= 0 && count > 0; at--) {
      const claim = this.queue[at]!;
      const take = Math.min(count, claim.end - claim.next);
      if (take <= 0) continue;
      const ordinals = claim.tasks.slice(claim.end - take, claim.end).map((task) => task[0]);
      claim.end -= take;
      this.queued -= take;
      count -= take;
      items.push({ c: claim.claim_id, o: ordinals });
    }
    return items;
  }

  /** Takes all of a claim that has not started out of the local queue, to be handed back. */
  takeRest(claim: HeldClaim): ReleaseItem {
    const o = claim.tasks.slice(claim.next, claim.end).map((task) => task[0]);
    claim.end = claim.next;
    this.queued -= o.length;
    return { c: claim.claim_id, o };
  }

  /** The database knows what became of `count` tasks of this claim. */
  settle(claim: HeldClaim, count: number): void {
    claim.open -= count;
    if (claim.open <= 0) this.claims.delete(claim.claim_id);
  }

  lose(claim_id: number): HeldClaim | undefined {
    const claim = this.claims.get(claim_id);
    if (claim === undefined) return undefined;
    claim.lost = true;
    this.queued -= claim.end - claim.next;
    claim.end = claim.next;
    this.claims.delete(claim_id);
    return claim;
  }

  loseAll(): void {
    for (const claim_id of [...this.claims.keys()]) this.lose(claim_id);
  }
}
