// What this worker holds: its claims, and of these the tasks that have not started (the local queue). No I/O.
// A claim stays known until each of its tasks is finished, handed back or lost, so that the heartbeat can name it.
import { Tally } from "../../core/task/work_counts.js";
import type { ClaimedBatch, ClaimedStage, ClaimedTask, ReleaseItem } from "../../engine/work/commands.js";
import type { HandlerPace } from "./batch.js";
import { HeldOfTenant, shareSlots } from "./shared_slots.js";

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
  /** Counts what its tenant has here. */
  tenant = new HeldOfTenant();

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

  get is_plan(): boolean {
    return this.tasks[0]?.[0] === -1;
  }

  get is_data_plan(): boolean {
    return this.is_plan && this.stage.planner === "data";
  }
}

const always = () => true;

export class Holdings {
  readonly claims = new Map<number, HeldClaim>();
  /** Tasks that have not started. */
  queued = 0;
  /** Data plans that wait or are made; the database makes them, and they take no slot. */
  readonly plans = new Set<HeldClaim>();
  private readonly tenants = new Map<string, HeldOfTenant>();
  private readonly waiting_plans = new HeldOfTenant();

  add(claim: HeldClaim): void {
    const { tenant_id } = claim.stage;
    let tenant = claim.is_data_plan ? this.waiting_plans : this.tenants.get(tenant_id);
    if (tenant === undefined) {
      tenant = new HeldOfTenant();
      this.tenants.set(tenant_id, tenant);
    }
    if (claim.is_data_plan) this.plans.add(claim);
    tenant.claimed_at = claim.claimed_at;
    claim.tenant = tenant;
    this.claims.set(claim.claim_id, claim);
    tenant.queue.push(claim);
    this.count(claim, claim.end - claim.next);
  }

  /** See shared_slots.ts. */
  shareSlots(slots: number, now: number): void {
    shareSlots(this.tenants, slots, now);
  }

  get is_shared(): boolean {
    return this.tenants.size > 1;
  }

  private count(claim: HeldClaim, more: number): void {
    this.queued += more;
    claim.tenant.queued += more;
  }

  /**
   * The claim whose next task starts: a data plan, or, where a slot is free, the first that may start of the tenant with the fewest
   * slots, so that nobody waits here behind what another tenant has piled up. The caller takes it with `start`.
   */
  first(has_slot = true, mayStart: (claim: HeldClaim) => boolean = always): HeldClaim | undefined {
    if (this.waiting_plans.queued > 0) return this.waiting_plans.first(always);
    if (!has_slot) return undefined;
    let first: HeldClaim | undefined;
    for (const tenant of this.tenants.values()) {
      if (tenant.running >= tenant.most || (first !== undefined && tenant.running > first.tenant.running)) continue;
      const claim = tenant.first(mayStart);
      if (claim === undefined) continue;
      if (first === undefined || tenant.running < first.tenant.running || claim.claim_id < first.claim_id)
        first = claim;
    }
    return first;
  }

  /** Of these tenants nothing more is claimed, and what waits of them keeps no slot from others. */
  full(ahead_ms: number, now: number): ReadonlyMap<string, HeldOfTenant> {
    const full = new Map<string, HeldOfTenant>();
    if (this.is_shared)
      for (const [tenant_id, tenant] of this.tenants) if (tenant.isFull(ahead_ms, now)) full.set(tenant_id, tenant);
    return full;
  }

  /** The next task of a claim takes a slot, which `end` gives back. */
  start(claim: HeldClaim, now = performance.now()): ClaimedTask {
    claim.tenant.running++;
    claim.tenant.moved_at = now;
    this.count(claim, -1);
    return claim.tasks[claim.next++]!;
  }

  end(claim: HeldClaim, now = performance.now()): void {
    claim.tenant.running--;
    claim.tenant.moved_at = now;
  }

  /** By tenant: tasks that run or wait. */
  get shares(): Record<string, number> {
    const shares: Record<string, number> = {};
    for (const [tenant_id, { running, queued }] of this.tenants)
      if (running + queued > 0) shares[tenant_id] = running + queued;
    return shares;
  }

  /** What waits, claim by claim, in starting order within a tenant. */
  *waiting(): Generator<{ claim: HeldClaim; count: number }> {
    for (const { queue } of [this.waiting_plans, ...this.tenants.values()]) {
      for (const claim of queue) if (claim.next < claim.end) yield { claim, count: claim.end - claim.next };
    }
  }

  /** Takes `count` tasks out of the local queue, to be handed back: the last ones of the tenant that has the most. */
  takeFromEnd(count: number): ReleaseItem[] {
    const items: ReleaseItem[] = [];
    const tenants = [this.waiting_plans, ...this.tenants.values()].sort((a, b) => b.queued - a.queued);
    for (const { queue } of tenants) {
      for (let at = queue.length - 1; at >= 0 && count > 0; at--) {
        const claim = queue[at]!;
        const take = Math.min(count, claim.end - claim.next);
        if (take <= 0) continue;
        count -= take;
        items.push(this.take(claim, take));
      }
    }
    return items;
  }

  private take(claim: HeldClaim, count: number): ReleaseItem {
    const o = claim.tasks.slice(claim.end - count, claim.end).map((task) => task[0]);
    claim.end -= count;
    this.count(claim, -count);
    return { c: claim.claim_id, o };
  }

  /** Takes all of a claim that has not started out of the local queue, to be handed back. */
  takeRest(claim: HeldClaim): ReleaseItem {
    return this.take(claim, claim.end - claim.next);
  }

  /** The database knows what became of `count` tasks of this claim. */
  settle(claim: HeldClaim, count: number): void {
    claim.open -= count;
    if (claim.open <= 0) this.forget(claim);
  }

  lose(claim_id: number): HeldClaim | undefined {
    const claim = this.claims.get(claim_id);
    if (claim === undefined) return undefined;
    claim.lost = true;
    this.count(claim, claim.next - claim.end);
    claim.end = claim.next;
    this.forget(claim);
    return claim;
  }

  private forget(claim: HeldClaim): void {
    this.claims.delete(claim.claim_id);
    this.plans.delete(claim);
  }

  loseAll(): void {
    for (const claim_id of [...this.claims.keys()]) this.lose(claim_id);
  }
}
