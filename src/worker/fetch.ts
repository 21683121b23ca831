// Claims ahead of the slots, so that they never wait for the network, and gives back what would wait too long here.
// Finding nothing, it writes itself idle, claims once more, and waits for a NOTIFY or the next poll: a hint may be lost,
// the poll is not. Where no NOTIFY arrives (behind a pooler) it looks several times a second whether anything came.
import type { Logger } from "pino";
import { lookAfter } from "../core/hint.js";
import type { ClaimedStage, ClaimReply, ReleaseItem, WorkerCommands } from "../engine/commands.js";
import type { Database } from "../engine/database.js";
import { HeldTenants } from "../engine/held_tenants.js";
import { isTracing } from "../engine/tracing.js";
import { fault } from "../fault.js";
import {
  AHEAD_MS,
  type HandlerPace,
  msPerStart,
  newPace,
  SHARED_AHEAD_MS,
  startingWithin,
  surplus,
  wantedBatch,
} from "./batch.js";
import type { Finisher } from "./finish.js";
import { deepFreeze } from "./freeze.js";
import { HeldClaim, type Holdings } from "./held.js";
import type { ClaimMemory, MemoryBudget } from "./memory.js";
import type { Runner } from "./run.js";
import type { Stats } from "./stats.js";
import type { Tallies } from "./tallies.js";
import { sendTrouble, waitBeforeTry } from "./trouble.js";

const KNOWN_STAGES = 16;
/** Of so many tenants it is remembered whose job's turn it is. */
const KNOWN_TURNS = 64;

export interface FetcherParts {
  worker_id: string;
  types: readonly string[];
  slots: number;
  batch_max: number;
  poll_s: number;
  lease_ms: number;
  db: Database;
  commands: WorkerCommands;
  holdings: Holdings;
  runner: Runner;
  finisher: Finisher;
  /** What is known about task types; outlives a registration. */
  paces: Map<string, HandlerPace>;
  tallies: Tallies;
  memory: MemoryBudget;
  stats: Stats;
  log: Logger;
  /** Whether hints arrive. */
  hears(): boolean;
  onStale(): void;
  /** What was sent has not been answered for as long as a lease lasts. */
  onSilent(what: string): void;
  /** The database has forgotten these claims: it gave out their numbers again. */
  onForgotten(claim_ids: number[]): void;
  /** Nothing to claim, nothing held. */
  onIdle(): void;
}

export class Fetcher {
  private claiming: Promise<void> | null = null;
  /** A hint came while a claim was under way, which may not have seen what the hint was about. */
  private again = false;
  /** The type an idle worker was told of. */
  private hinted: string | null = null;
  /** The last claim found nothing, and hints are on: wait for one. */
  private waiting = false;
  private told_idle = false;
  private full_claims = 0;
  private last_batch = 0;
  private last_mix: { pace: HandlerPace; count: number }[] = [];
  private after_tenant: string | null = null;
  /** By tenant: where the turns of its jobs go on. */
  private readonly turns = new Map<string, number>();
  /** The last claim was shared by several jobs or tenants, and more of them may wait. */
  private shared = false;
  /** The facts of stages met lately: a wide stage and lone tasks are claimed again and again. */
  private readonly stages = new Map<number, ClaimedStage>();
  /** Whose ready rows were locked for longer than a claim waits. */
  private readonly held = new HeldTenants(1_000, 30_000);
  private poll_timer: NodeJS.Timeout | undefined;
  /** Where the next look begins, for one that hears no hints. */
  private seen = 0;
  private failures = 0;
  private stopped = false;

  constructor(private readonly parts: FetcherParts) {}

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
    if (this.claiming !== null || this.waiting || this.stopped) return;
    const { parts } = this;
    if (parts.finisher.full || parts.finisher.unanswered > 4 * parts.batch_max) return;
    const limit = this.wanted();
    if (limit === 0) return;
    this.again = false;
    clearTimeout(this.poll_timer);
    // While heartbeats are answered on their connection, this one may have fallen silent.
    const silent = setTimeout(() => parts.onSilent("claim"), parts.lease_ms);
    this.claiming = this.claim(limit)
      .finally(() => clearTimeout(silent))
      .then(
        (found) => this.claimed(found),
        (error: unknown) => this.claimFailed(error),
      );
  };

  private wanted(): number {
    const { holdings, runner, slots, batch_max } = this.parts;
    const { last_batch } = this;
    const running = runner.running.size;
    const { queued } = holdings;
    const ms_per_start = this.expectedPace();
    const ahead_ms = this.shared ? SHARED_AHEAD_MS : AHEAD_MS;
    const load = { slots, batch_max, running, queued, ms_per_start, last_batch, ahead_ms };
    const hoped = wantedBatch({ ...load, youngest_ms: 0 });
    if (hoped === 0 || running < slots) return hoped;
    return wantedBatch({ ...load, youngest_ms: runner.youngest(performance.now()) });
  }

  /** The next batch is taken to be like the last one; a type never seen makes it unknown. */
  private expectedPace(): number | null {
    let total = 0;
    let ms = 0;
    for (const { pace, count } of this.last_mix) {
      const each = msPerStart(pace, this.parts.slots);
      if (each === null) return null;
      total += count;
      ms += each * count;
    }
    return total === 0 ? null : ms / total;
  }

  /** Nothing found: hints are asked for, and only what a second look does not find is waited for. */
  private async claim(limit: number): Promise<"full" | "some" | "none"> {
    const { worker_id, db, commands, stats, memory } = this.parts;
    const types = memory.typesToClaim(this.parts.types, performance.now());
    const room = this.room();
    const no_wait = this.held.now();
    const request = {
      ...{ worker_id, types, limit, after_tenant: this.after_tenant, known: [...this.stages.keys()] },
      turns: Object.fromEntries(this.turns),
      ...(room === null ? {} : { memory: room }),
      ...(no_wait.length === 0 ? {} : { no_wait }),
    };
    const hinted = this.hinted !== null && types.includes(this.hinted) ? this.hinted : null;
    this.hinted = null;
    let asked = hinted === null ? types : [hinted];
    let reply = await commands.claim(db, { ...request, types: asked });
    stats.claims++;
    // Whoever else was woken may have been quicker: then a look at everything decides whether to wait.
    if (hinted !== null && reply.claims.length === 0) this.again = true;
    if (reply.claims.length === 0 && !this.told_idle && this.parts.hears() && !this.stopped) {
      await commands.set_idle(db, { worker_id, idle: true });
      this.told_idle = true;
      asked = types;
      reply = await commands.claim(db, request);
      stats.claims++;
    }
    if (room !== null) this.noteKeptOut(asked, reply);
    for (const tenant of reply.held ?? []) this.held.add(tenant);
    if (reply.claims.length === 0) {
      stats.empty_claims++;
      return "none";
    }
    await fault("after-claim");
    this.share(reply);
    const held = this.hold(reply);
    if (held === 0) return "none";
    return held < limit ? "some" : "full";
  }

  private room(): ClaimMemory | null {
    const { memory, holdings, paces } = this.parts;
    if (memory.needs.size === 0) return null;
    const waiting = new Map<string, number>();
    for (const { claim, count } of holdings.waiting()) {
      if (claim.memory_mb === 0) continue;
      const { task_type } = claim.stage;
      waiting.set(task_type, (waiting.get(task_type) ?? 0) + count);
    }
    return memory.forClaim(waiting, paces, performance.now());
  }

  private noteKeptOut(asked: readonly string[], { claims, stages, kept_out = [] }: ClaimReply): void {
    const types = new Map([...this.stages.values(), ...stages].map(({ stage_id, task_type }) => [stage_id, task_type]));
    const claimed = new Set(claims.map(({ stage_id }) => types.get(stage_id) ?? ""));
    this.parts.memory.told(asked, claimed, kept_out, performance.now());
  }

  /** What waits here and is not needed soon goes back when others turn out to wait, before theirs stand behind it. */
  private share({ shared = false, turns = {} }: ClaimReply): void {
    for (const [tenant_id, turn] of Object.entries(turns)) {
      this.turns.delete(tenant_id);
      this.turns.set(tenant_id, turn);
    }
    for (const tenant_id of this.turns.keys()) {
      if (this.turns.size <= KNOWN_TURNS) break;
      this.turns.delete(tenant_id);
    }
    if (shared && !this.shared) {
      const { holdings, finisher } = this.parts;
      const kept = startingWithin(this.waitingQueue(), SHARED_AHEAD_MS);
      if (kept < holdings.queued) void finisher.release(holdings.takeFromEnd(holdings.queued - kept));
    }
    this.shared = shared;
  }

  private waitingQueue(): { count: number; ms_per_start: number | null }[] {
    const { holdings, slots } = this.parts;
    return Array.from(holdings.waiting(), ({ claim, count }) => ({
      count,
      ms_per_start: msPerStart(claim.pace, slots),
    }));
  }

  private hold(reply: ClaimReply): number {
    const { parts } = this;
    const now = performance.now();
    for (const stage of reply.stages) {
      deepFreeze(stage.parameters);
      this.stages.set(stage.stage_id, stage);
    }
    this.noteForgotten(reply);
    const mix = new Map<HandlerPace, number>();
    const traced = isTracing();
    let count = 0;
    for (const batch of reply.claims) {
      const stage = this.stages.get(batch.stage_id);
      // Its rows were deleted. The next heartbeat does not name the claim, and what is left of it is the janitor's.
      if (stage === undefined || batch.tasks.length === 0) continue;
      const kind = batch.tasks[0]?.[0] === -1 ? "#plan" : stage.task_type;
      const pace = this.paceOf(kind);
      const tally = parts.tallies.of(kind);
      tally.claimed(batch.tasks.length);
      const claim = new HeldClaim(batch, stage, pace, now, tally);
      claim.traced = traced;
      if (kind === stage.task_type) claim.memory_mb = parts.memory.needOf(kind);
      parts.holdings.add(claim);
      mix.set(pace, (mix.get(pace) ?? 0) + batch.tasks.length);
      count += batch.tasks.length;
    }
    for (const stage_id of this.stages.keys()) {
      if (this.stages.size <= KNOWN_STAGES) break;
      this.stages.delete(stage_id);
    }
    this.after_tenant = reply.after_tenant;
    this.last_batch = count;
    this.last_mix = [...mix].map(([pace, tasks]) => ({ pace, count: tasks }));
    parts.stats.claimed += count;
    parts.stats.largest_batch = Math.max(parts.stats.largest_batch, count);
    return count;
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

  private paceOf(type: string): HandlerPace {
    const { paces } = this.parts;
    const pace = paces.get(type) ?? newPace();
    paces.set(type, pace);
    return pace;
  }

  private claimed(found: "full" | "some" | "none"): void {
    const { parts } = this;
    this.claiming = null;
    this.failures = 0;
    if (this.stopped) {
      this.handBackAll();
      return;
    }
    if (found === "none") {
      this.waiting = !this.again;
      this.rest(performance.now() + parts.poll_s * 1000 * (0.75 + Math.random() * 0.5));
    } else {
      this.full_claims = found === "full" ? this.full_claims + 1 : 0;
      if (this.told_idle && this.full_claims >= 2) this.sayBusy();
      this.handBack(performance.now());
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
    this.poll(waitBeforeTry(this.failures));
  }

  /** Until the next poll, or until something is seen by one that hears nothing. */
  private rest(until: number): void {
    const left_ms = until - performance.now();
    const look_ms = lookAfter(Math.random());
    if (this.parts.hears() || left_ms <= look_ms) this.poll(Math.max(0, left_ms));
    else this.poll(look_ms, () => void this.look(until));
  }

  private async look(until: number): Promise<void> {
    const { db, commands, types } = this.parts;
    // A claim finds out what the matter is.
    const found = await commands.new_work(db, { types, after: this.seen }).catch(() => null);
    if (found !== null) this.seen = found.last;
    if (this.stopped || !this.is_waiting) return;
    if (found?.types.length === 0) this.rest(until);
    else if (found?.types.length === 1) this.hint(found.types[0]!);
    else this.wake();
  }

  private poll(ms: number, then: () => void = this.wake): void {
    clearTimeout(this.poll_timer);
    this.poll_timer = setTimeout(then, ms);
  }

  /** Two full claims running: there is enough to do, and enqueuing need not pay for hints. */
  private sayBusy(): void {
    const { db, commands, worker_id, log } = this.parts;
    this.told_idle = false;
    commands.set_idle(db, { worker_id, idle: false }).catch((error: unknown) => {
      log.warn({ err: error }, "worker not marked busy; hints it does not need will come");
    });
  }

  /** Gives back what would not start within about a second: elsewhere a slot may be free. */
  handBack(now: number): void {
    const { holdings, runner, slots, finisher, log } = this.parts;
    if (holdings.queued === 0) return;
    this.handBackBlocked(now);
    const queue = this.waitingQueue();
    let oldest = now;
    for (const { claim } of holdings.waiting()) oldest = Math.min(oldest, claim.claimed_at);
    const count = surplus({
      slots,
      queue,
      running: runner.running.size,
      // Neither counts before the tasks themselves have waited: they may have come after the last start.
      since_start_ms: Math.min(now - runner.last_start_at, now - oldest),
      youngest_ms: now - oldest >= AHEAD_MS ? runner.youngest(now) : 0,
    });
    if (count === 0) return;
    log.debug({ count, queued: holdings.queued }, "handing back tasks that would wait here");
    void finisher.release(holdings.takeFromEnd(count));
  }

  /** Of tasks that were expected to be short and are not: those that wait for memory here may find some elsewhere. */
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

  private handBackAll(): void {
    const { holdings, finisher } = this.parts;
    void finisher.release(holdings.takeFromEnd(holdings.queued));
  }

  /** Claims no more and hands back all that has not started; resolves when no claim is under way. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.poll_timer);
    this.handBackAll();
    await this.claiming;
  }
}
