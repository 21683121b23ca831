// Gives back what would wait too long in this worker: elsewhere a slot, or memory, may be free.
import type { ReleaseItem } from "../engine/commands.js";
import { AHEAD_MS, msPerStart, SHARED_AHEAD_MS, startingWithin, surplus } from "./batch.js";
import type { Finisher } from "./finish.js";
import type { Registration } from "./registration.js";
import type { Runner } from "./run.js";

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
    let oldest = now;
    for (const { claim } of holdings.waiting()) oldest = Math.min(oldest, claim.claimed_at);
    const count = surplus({
      slots,
      queue: this.queue(),
      running: runner.running.size,
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
