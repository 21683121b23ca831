// Gives back what would wait too long in this worker: elsewhere a slot, or memory, may be free.
import type { ReleaseItem } from "../../engine/work/commands.js";
import type { Finisher } from "../finish/finish.js";
import type { Registration } from "../life/registration.js";
import type { Runner } from "../run/run.js";
import { AHEAD_MS, msPerStart, SHARED_AHEAD_MS } from "./batch.js";

/** Above this estimated wait the surplus goes back. Twice the aim, so that a small misjudgement does not make tasks travel. */
const HAND_BACK_MS = 2 * AHEAD_MS;

export interface SurplusParts extends Registration {
  slots: number;
  runner: Runner;
  finisher: Finisher;
}

export class Surplus {
  constructor(private readonly parts: SurplusParts) {}

  /** Gives back what would not start within about a second. */
  handBack(now: number): void {
    const { holdings, runner, slots, finisher, log } = this.parts;
    if (holdings.queued === 0) return;
    this.handBackBlocked(now);
    this.handBackFull(now);
    let oldest = now;
    for (const { claim } of holdings.waiting()) oldest = Math.min(oldest, claim.claimed_at);
    const count = surplus({
      slots,
      queue: this.queue(),
      running: runner.occupied,
      // Neither counts before the tasks themselves have waited: they may have come after the last start.
      since_start_ms: Math.min(now - runner.last_start_at, now - oldest),
      youngest_ms: now - oldest >= AHEAD_MS ? runner.youngest(now) : 0,
    });
    if (count === 0) return;
    log.debug({ count, queued: holdings.queued }, "handing back tasks that would wait here");
    void finisher.release(holdings.takeFromEnd(count));
  }

  /** Jobs or tenants turn out to share this worker: what is not needed soon goes back before theirs stand behind it. */
  handBackShared(): void {
    const { holdings, finisher } = this.parts;
    const kept = startingWithin(this.queue(), SHARED_AHEAD_MS);
    if (kept < holdings.queued) void finisher.release(holdings.takeFromEnd(holdings.queued - kept));
  }

  private queue(): { count: number; ms_per_start: number | null }[] {
    const { holdings, slots } = this.parts;
    return Array.from(holdings.waiting(), ({ claim, count }) => {
      return { count, ms_per_start: msPerStart(claim.pace, slots) };
    });
  }

  /** What waits behind long tasks of its own tenant, which has all slots it may have here. */
  private handBackFull(now: number): void {
    const { holdings, finisher } = this.parts;
    const items: ReleaseItem[] = [];
    for (const { queue, queued, moved_at } of holdings.full(AHEAD_MS, now).values()) {
      if (queued === 0 || now - moved_at < AHEAD_MS) continue;
      for (const claim of queue) if (claim.next < claim.end) items.push(holdings.takeRest(claim));
    }
    void finisher.release(items);
  }

  /** Tasks that were expected to be short and are not may find memory elsewhere, if they wait for it here. */
  private handBackBlocked(now: number): void {
    const { holdings, memory, finisher, log } = this.parts;
    if (memory.needs.size === 0) return;
    const items: ReleaseItem[] = [];
    for (const { claim } of [...holdings.waiting()]) {
      if (claim.memory_mb === 0 || !memory.isBlocked(claim.stage.task_type, now)) continue;
      if (now - Math.max(claim.claimed_at, memory.freed_at) >= 2 * AHEAD_MS) items.push(holdings.takeRest(claim));
    }
    if (items.length === 0) return;
    log.debug({ claims: items.length }, "handing back tasks that would wait here for memory");
    void finisher.release(items);
  }
}

/** How many of these tasks, in the order in which they will start, will do so within this time. */
function startingWithin(queue: Waiting["queue"], ms: number, least_ms = 0): number {
  let wait_ms = 0;
  let count = 0;
  for (const part of queue) {
    const each = Math.max(part.ms_per_start ?? 0, least_ms);
    count += Math.min(part.count, each > 0 ? Math.max(0, Math.floor((ms - wait_ms) / each)) : part.count);
    wait_ms += each * part.count;
  }
  return count;
}

interface Waiting {
  slots: number;
  running: number;
  /** What waits, in the order in which it will start. */
  queue: readonly { count: number; ms_per_start: number | null }[];
  /** Since a task was last started. */
  since_start_ms: number;
  /** The shortest time any running task has run. */
  youngest_ms: number;
}

/** How many tasks, counted from the end of the queue, to hand back. */
export function surplus(waiting: Waiting): number {
  let queued = 0;
  for (const part of waiting.queue) queued += part.count;
  if (queued === 0 || waiting.running < waiting.slots) return 0;
  if (waiting.since_start_ms >= AHEAD_MS) return queued;
  const least = waiting.youngest_ms / waiting.slots;
  if (startingWithin(waiting.queue, HAND_BACK_MS, least) === queued) return 0;
  return queued - startingWithin(waiting.queue, AHEAD_MS, least);
}
