// Claims ahead of the slots, so that they never wait for the network. Finding nothing, it writes itself idle, claims once more,
// and rests until a NOTIFY or the next poll.

import { isTracing } from "../../engine/tracing.js";
import type { ClaimedBatch, ClaimedStage, ClaimReply } from "../../engine/work/commands.js";
import { fault } from "../../fault.js";
import { answered } from "../finish/courier.js";
import { sendTrouble, waitBeforeTry } from "../finish/trouble.js";
import { PLANS_AT_ONCE } from "../life/connections.js";
import { deepFreeze } from "../run/freeze.js";
import type { Tallies } from "../stats.js";
import { AHEAD_MS, type HandlerPace, msPerStart, newPace, SHARED_AHEAD_MS, wantedBatch } from "./batch.js";
import { ClaimOrder, keepNewest } from "./claim_order.js";
import { HeldClaim } from "./held.js";
import { Polling, type PollingParts } from "./polling.js";
import { LOOK_AGAIN_MS, Rests } from "./rests.js";
import { Surplus, type SurplusParts } from "./surplus.js";
import type { TypeSlots } from "./type_slots.js";

const KNOWN_STAGES = 16;
/** What a claim may bring where tenants share the worker: while large parameters are read, nobody's tasks start. */
const SHARED_BYTES = 262_144;
/** The type under which stages wait whose plan is data. */
const DATA_PLANS = "#plan";

export interface FetcherParts extends SurplusParts, PollingParts {
  batch_max: number;
  type_slots: TypeSlots;
  poll_s: number;
  /** What is known about task types; outlives a registration. */
  paces: Map<string, HandlerPace>;
  tallies: Tallies;
  /** Tenants whose next data plan is not to be claimed yet. */
  resting(): Iterable<string>;
  /** The database has forgotten these claims: it gave out their numbers again. */
  onForgotten(claim_ids: number[]): void;
  /** Nothing to claim, nothing held. */
  onIdle(): void;
}

export class Fetcher {
  private claiming: Promise<void> | null = null;
  /** A hint came while a claim was under way, which may not have seen what the hint was about. */
  private again = false;
  /** The type that a hint named to an idle worker. */
  private hinted: string | null = null;
  /** The last claim found nothing, and hints are on: wait for one. */
  private waiting = false;
  private told_idle = false;
  private full_claims = 0;
  private last_batch = 0;
  private last_mix = new Map<HandlerPace, number>();
  private readonly order = new ClaimOrder();
  /** The last claim was shared by several jobs or tenants, and more of them may wait. */
  private shared = false;
  /** The facts of stages met lately: a wide stage and lone tasks are claimed again and again. */
  private readonly stages = new Map<number, ClaimedStage>();
  private readonly polling: Polling;
  readonly surplus: Surplus;
  private failures = 0;
  private stopped = false;
  /** Before the next claim of anything. */
  private pause: NodeJS.Timeout | undefined;
  private readonly rests = new Rests();
  /** Tenants that the last claim left out, because they have all they may have here. */
  private left_out: string[] = [];

  constructor(private readonly parts: FetcherParts) {
    this.polling = new Polling(parts, this);
    this.surplus = new Surplus(parts);
  }

  /** Something may have become runnable. */
  readonly wake = (): void => {
    this.again = true;
    this.waiting = false;
    this.consider();
  };

  /** A task of this type has become runnable: an idle worker looks there and nowhere else, which is quicker. */
  readonly hint = (task_type: string): void => {
    if (this.is_waiting) this.hinted = task_type;
    this.wake();
  };

  get is_waiting(): boolean {
    return this.waiting && this.claiming === null;
  }

  /** Claims if there is room and reason to. Called after every start and end of a task, so the refusals come first. */
  readonly consider = (): void => {
    if (this.claiming !== null || this.stopped || this.pause !== undefined) return;
    if (this.waiting && !this.isMissed()) return;
    const { parts } = this;
    if (parts.finisher.full || parts.finisher.unanswered > 4 * parts.batch_max) return;
    const limit = this.wanted();
    if (limit === 0) return;
    this.again = false;
    this.polling.pause();
    const began = performance.now();
    this.claiming = answered(parts, "claim", this.claim(limit, this.rests.now(began))).then(
      (found) => {
        if (parts.holdings.is_shared) this.pauseFor(this.rests.note(began, performance.now()));
        else this.rests.clear();
        this.claimed(found);
      },
      (error: unknown) => this.claimFailed(error),
    );
  };

  /** One that was left out has room again, and of its work nobody tells. */
  private isMissed(): boolean {
    if (this.left_out.length === 0) return false;
    const full = this.parts.holdings.full(SHARED_AHEAD_MS, performance.now());
    if (this.left_out.every((tenant) => full.has(tenant))) return false;
    this.left_out = [];
    this.waiting = false;
    return true;
  }

  private pauseFor(ms: number): void {
    const over = () => {
      this.pause = undefined;
      this.consider();
    };
    clearTimeout(this.pause);
    this.pause = setTimeout(over, ms).unref();
  }

  private wanted(): number {
    const { holdings, runner, slots, batch_max } = this.parts;
    const { last_batch } = this;
    const running = runner.occupied;
    let { queued } = holdings;
    for (const tenant of holdings.full(SHARED_AHEAD_MS, performance.now()).values()) queued -= tenant.queued;
    const ms_per_start = this.expectedPace();
    const ahead_ms = this.shared || holdings.is_shared ? SHARED_AHEAD_MS : AHEAD_MS;
    // What a tenant has just brought is spread over the workers: in each of them only some slots become free soon.
    const most = holdings.is_shared && ms_per_start !== null && ms_per_start * slots > ahead_ms ? slots / 2 : batch_max;
    const load = { slots, batch_max: Math.ceil(most), running, queued, ms_per_start, last_batch, ahead_ms };
    const hoped = wantedBatch({ ...load, youngest_ms: 0 });
    // Another tenant's work may have come: it has a slot.
    if (hoped === 0 && this.again && holdings.is_shared) return slots - running;
    if (hoped === 0 || running < slots) return hoped;
    return wantedBatch({ ...load, youngest_ms: runner.youngest(performance.now()) });
  }

  /** The next batch is taken to be like the last one; a type never seen makes it unknown. */
  private expectedPace(): number | null {
    let total = 0;
    let ms = 0;
    for (const [pace, count] of this.last_mix) {
      const each = msPerStart(pace, this.parts.slots);
      if (each === null) return null;
      total += count;
      ms += each * count;
    }
    return total === 0 ? null : ms / total;
  }

  /** Nothing found: hints are asked for, and only what a second look does not find is waited for. */
  private async claim(limit: number, resting: string[]): Promise<"full" | "some" | "resting" | "none"> {
    this.rests.brought.clear();
    const { worker_id, db, commands, stats, memory, holdings, paces, type_slots } = this.parts;
    const room_for_plans = holdings.plans.size < PLANS_AT_ONCE;
    const planning = [...Array.from(holdings.plans, ({ stage }) => stage.tenant_id), ...this.parts.resting()];
    const types = memory
      .typesToClaim(this.parts.types, performance.now())
      .filter((type) => room_for_plans || type !== DATA_PLANS);
    const room = memory.roomFor(holdings.waiting(), paces, performance.now());
    const bytes = holdings.is_shared ? SHARED_BYTES : undefined;
    const held = { known: [...this.stages.keys()], memory: room, holding: holdings.shares, planning, bytes };
    this.left_out = [...holdings.full(SHARED_AHEAD_MS, performance.now()).keys()];
    const left_alone = resting.length + this.left_out.length > 0 ? { resting: [...resting, ...this.left_out] } : {};
    const request = { worker_id, types, limit, ...held, ...left_alone, ...this.order.next };
    const hinted = this.hinted !== null && types.includes(this.hinted) ? this.hinted : null;
    this.hinted = null;
    let asked = hinted === null ? types : [hinted];
    const is_bounded = hinted !== null && (room?.needs[hinted] !== undefined || type_slots.bounds(hinted));
    const is_short = hinted !== null && left_alone.resting === undefined && !is_bounded;
    const ask = (whole: typeof request) =>
      type_slots.claim(whole, holdings.waiting(), (part) => commands.claim(db, part));
    const first = { ...request, types: asked };
    let reply = await (is_short ? commands.claim_hinted(db, hinted, first) : ask(first));
    stats.claims++;
    if (reply.claims.length === 0 && resting.length > 0) return "resting";
    // Another worker that was woken may have been quicker: then a look at everything decides whether to wait.
    if (hinted !== null && reply.claims.length === 0) this.again = true;
    if (reply.claims.length === 0 && !this.told_idle && this.parts.hears() && !this.stopped) {
      await commands.set_idle(db, { worker_id, idle: true });
      this.told_idle = true;
      asked = types;
      reply = await ask(request);
      stats.claims++;
    }
    if (room !== undefined) memory.note(asked, reply, this.stages, performance.now());
    this.order.note(reply);
    if (reply.claims.length === 0) {
      stats.empty_claims++;
      return "none";
    }
    await fault("after-claim");
    const { shared = false } = reply;
    if (shared && !this.shared) this.surplus.handBackShared();
    this.shared = shared;
    const count = this.hold(reply);
    if (count === 0) return "none";
    return count < limit ? "some" : "full";
  }

  private hold(reply: ClaimReply): number {
    const { stats } = this.parts;
    for (const stage of reply.stages) {
      deepFreeze(stage.parameters);
      this.stages.set(stage.stage_id, stage);
    }
    this.noteForgotten(reply);
    const mix = new Map<HandlerPace, number>();
    const now = performance.now();
    const traced = isTracing();
    let count = 0;
    for (const batch of reply.claims) {
      const stage = this.stages.get(batch.stage_id);
      // Its rows were deleted. The next heartbeat does not name the claim, and what is left of it is the janitor's.
      if (stage === undefined || batch.tasks.length === 0) continue;
      const { pace } = this.holdClaim(batch, stage, now, traced);
      this.rests.brought.add(stage.tenant_id);
      mix.set(pace, (mix.get(pace) ?? 0) + batch.tasks.length);
      count += batch.tasks.length;
    }
    keepNewest(this.stages, KNOWN_STAGES);
    this.parts.holdings.shareSlots(this.parts.slots, now);
    this.last_batch = count;
    this.last_mix = mix;
    stats.claimed += count;
    stats.largest_batch = Math.max(stats.largest_batch, count);
    return count;
  }

  private holdClaim(batch: ClaimedBatch, stage: ClaimedStage, now: number, traced: boolean): HeldClaim {
    const { paces, tallies, memory, holdings } = this.parts;
    const kind = batch.tasks[0]?.[0] === -1 ? DATA_PLANS : stage.task_type;
    const pace = paces.get(kind) ?? newPace();
    paces.set(kind, pace);
    const tally = tallies.of(kind);
    tally.claimed(batch.tasks.length);
    const claim = new HeldClaim(batch, stage, pace, now, tally);
    claim.traced = traced;
    if (kind === stage.task_type) claim.memory_mb = memory.needOf(kind);
    holdings.add(claim);
    return claim;
  }

  /**
   * Claims are numbered in order, and commit without waiting for the disk. A number that does not lie above those held
   * says that the server crashed and has forgotten them: what runs under them was given out again.
   */
  private noteForgotten({ claims }: ClaimReply): void {
    const { holdings, onForgotten } = this.parts;
    const lowest = claims.reduce((least, { claim_id }) => Math.min(least, claim_id), Number.POSITIVE_INFINITY);
    const forgotten = [...holdings.claims.keys()].filter((claim_id) => claim_id >= lowest);
    if (forgotten.length > 0) onForgotten(forgotten);
  }

  private claimed(found: "full" | "some" | "resting" | "none"): void {
    const { parts } = this;
    this.claiming = null;
    this.failures = 0;
    if (this.stopped) {
      this.handBackAll();
      return;
    }
    if (found === "resting") {
      // Those who rest may have more, and of them nobody is told.
      this.pauseFor(LOOK_AGAIN_MS);
      return;
    }
    if (found === "none") {
      this.waiting = !this.again;
      this.polling.rest(performance.now() + parts.poll_s * 1000 * (0.75 + Math.random() * 0.5));
    } else {
      this.full_claims = found === "full" ? this.full_claims + 1 : 0;
      // While tenants share it, slots are kept for those who have nothing to do now: hints tell of them.
      if (this.told_idle && this.full_claims >= 2 && !parts.holdings.is_shared) this.sayBusy();
      this.surplus.handBack(performance.now());
      // A full batch runs long enough to have the next one on its way first; a few tasks start at once.
      if (found === "full") {
        this.consider();
        setImmediate(parts.runner.pump);
      } else parts.runner.pump();
    }
    this.consider();
    if (this.is_waiting) parts.onIdle();
  }

  private claimFailed(error: unknown): void {
    this.claiming = null;
    if (this.stopped) return;
    if (sendTrouble(error) === "stale") {
      this.parts.onStale();
      return;
    }
    this.failures++;
    this.waiting = true;
    this.parts.log.warn({ err: error, tries: this.failures }, "claim failed, trying again");
    this.polling.after(waitBeforeTry(this.failures));
  }

  /** Two full claims running: there is enough to do, and enqueuing need not pay for hints. */
  private sayBusy(): void {
    const { db, commands, worker_id, log } = this.parts;
    this.told_idle = false;
    commands.set_idle(db, { worker_id, idle: false }).catch((error: unknown) => {
      log.warn({ err: error }, "worker not marked busy; hints it does not need will come");
    });
  }

  private handBackAll(): void {
    const { holdings, finisher } = this.parts;
    void finisher.release(holdings.takeFromEnd(holdings.queued));
  }

  /** Claims no more and hands back all that has not started; resolves when no claim is under way. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.pause);
    this.polling.close();
    this.handBackAll();
    await this.claiming;
  }
}
