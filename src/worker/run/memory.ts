// How much memory the isolated tasks of a worker may declare together, and who may start. A task in a process of its own holds what
// its handler declared from its start until its process has let go of it; all others hold nothing. No I/O.
import type { ClaimedStage, ClaimReply } from "../../engine/work/commands.js";
import { AHEAD_MS, type HandlerPace } from "../claim/batch.js";
import type { HeldClaim } from "../claim/held.js";

/** So long others may pass by a type whose tasks wait for more memory than is free; then it is its turn. */
const PATIENCE_MS = 5_000;

/** What a claim tells the database: tasks of these types only while what they need fits into the room, in MB. */
export interface ClaimMemory {
  room: number;
  needs: Record<string, number>;
}

export class MemoryBudget {
  used_mb = 0;
  /** When something was last given back. */
  freed_at = 0;
  /** Types that had work due, in the database or here, and no room, since when. */
  private readonly kept_out = new Map<string, number>();
  private readonly running = new Map<string, number>();

  constructor(
    readonly total_mb: number,
    /** MB by task type, of isolated handlers only. */
    readonly needs: ReadonlyMap<string, number>,
    private readonly patience_ms = PATIENCE_MS,
  ) {}

  needOf(task_type: string): number {
    return this.needs.get(task_type) ?? 0;
  }

  /**
   * Of the isolated types only this may start now, if there is one: others have passed it by for long enough. One of whose tasks
   * some run is being served, and waits for its own.
   */
  private turn(now: number): string | null {
    let oldest: string | null = null;
    let since = now - this.patience_ms;
    for (const [task_type, at] of this.kept_out) {
      if (at > since || this.running.has(task_type)) continue;
      oldest = task_type;
      since = at;
    }
    return oldest;
  }

  mayStart(task_type: string, now: number): boolean {
    if (!this.fits(task_type)) this.keepOut(task_type, now);
    return !this.isBlocked(task_type, now);
  }

  isBlocked(task_type: string, now: number): boolean {
    if (!this.needs.has(task_type)) return false;
    if (!this.fits(task_type)) return true;
    const turn = this.turn(now);
    return turn !== null && turn !== task_type;
  }

  private fits(task_type: string): boolean {
    return this.used_mb + this.needOf(task_type) <= this.total_mb;
  }

  /** The memory of a task is held until its process has done with it, also when the task was given up before. */
  async during<T>({ task_type }: { task_type: string }, work: () => Promise<T>, onFree: () => void): Promise<T> {
    this.take(task_type);
    try {
      return await work();
    } finally {
      this.give(task_type, performance.now());
      setImmediate(onFree);
    }
  }

  take(task_type: string): void {
    const need = this.needOf(task_type);
    this.used_mb += need;
    this.kept_out.delete(task_type);
    this.running.set(task_type, (this.running.get(task_type) ?? 0) + 1);
  }

  give(task_type: string, now: number): void {
    this.used_mb -= this.needOf(task_type);
    this.freed_at = now;
    const left = (this.running.get(task_type) ?? 1) - 1;
    if (left > 0) this.running.set(task_type, left);
    else this.running.delete(task_type);
  }

  /** None of its tasks waits any more: it has no turn to come. */
  forget(task_type: string): void {
    this.kept_out.delete(task_type);
  }

  private keepOut(task_type: string, now: number): void {
    if (!this.kept_out.has(task_type)) this.kept_out.set(task_type, now);
  }

  /** What a claim may take, beside the tasks of `queue`, which have not started; undefined when no handler is isolated. */
  roomFor(
    queue: Iterable<{ claim: HeldClaim; count: number }>,
    paces: ReadonlyMap<string, HandlerPace>,
    now: number,
  ): ClaimMemory | undefined {
    if (this.needs.size === 0) return undefined;
    const waiting = new Map<string, number>();
    for (const { claim, count } of queue) {
      if (claim.memory_mb === 0) continue;
      const { task_type } = claim.stage;
      waiting.set(task_type, (waiting.get(task_type) ?? 0) + count);
    }
    return this.forClaim(waiting, paces, now) ?? undefined;
  }

  /**
   * `waiting`: tasks that have not started, by type. A type whose tasks take a tenth of a second needs a tenth of what it declares: ten
   * of them start one after the other within the second that is claimed ahead. Those that wait while it is another's turn hold
   * nothing: they start after it. Null when no handler is isolated.
   */
  forClaim(
    waiting: ReadonlyMap<string, number>,
    paces: ReadonlyMap<string, HandlerPace>,
    now: number,
  ): ClaimMemory | null {
    if (this.needs.size === 0) return null;
    const turn = this.turn(now);
    let room = this.total_mb;
    const needs: Record<string, number> = {};
    for (const [task_type, need] of this.needs) {
      const pace = paces.get(task_type);
      const share = pace === undefined || pace.samples === 0 ? 1 : Math.min(1, pace.duration_ms / AHEAD_MS);
      const each = Math.max(1, Math.ceil(need * share));
      needs[task_type] = each;
      const held = turn === null || turn === task_type ? (waiting.get(task_type) ?? 0) : 0;
      room -= each * (held + (this.running.get(task_type) ?? 0));
    }
    return { room: Math.max(0, Math.floor(room)), needs };
  }

  /** The types to ask for: while a large one has its turn, no other isolated one. */
  typesToClaim(types: readonly string[], now: number): readonly string[] {
    const turn = this.turn(now);
    return turn === null ? types : types.filter((type) => type === turn || !this.needs.has(type));
  }

  /** `known`: the stages of claims that the reply leaves out, because the worker has their facts. */
  note(asked: readonly string[], reply: ClaimReply, known: ReadonlyMap<number, ClaimedStage>, now: number): void {
    const types = new Map([...known.values(), ...reply.stages].map(({ stage_id, task_type }) => [stage_id, task_type]));
    const claimed = new Set(reply.claims.map(({ stage_id }) => types.get(stage_id) ?? ""));
    this.told(asked, claimed, reply.kept_out ?? [], now);
  }

  /** What a claim of these types found that had no room. */
  told(asked: readonly string[], claimed: ReadonlySet<string>, kept_out: readonly string[], now: number): void {
    for (const type of asked) if (claimed.has(type) || !kept_out.includes(type)) this.kept_out.delete(type);
    for (const type of kept_out) this.keepOut(type, now);
  }

  /** Somebody waits for what is given back. */
  get is_short(): boolean {
    return this.kept_out.size > 0;
  }
}
