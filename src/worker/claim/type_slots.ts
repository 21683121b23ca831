// How many tasks of one type a worker runs at the same time, where that is less than its slots. A claim asks for such a type by itself and for
// no more than may start, so that the rest stays where other workers find it. No I/O.
import type { ClaimReply, ClaimRequest } from "../../engine/work/commands.js";
import type { HeldClaim } from "./held.js";

type Waiting = Iterable<{ claim: HeldClaim; count: number }>;

export class TypeSlots {
  private readonly running = new Map<string, number>();
  /** Which part of a claim is asked first: each in turn, so that none lives on what others leave. */
  private turn = 0;

  constructor(private readonly most: Readonly<Record<string, number>> = {}) {}

  bounds(task_type: string): boolean {
    return Object.hasOwn(this.most, task_type);
  }

  mayStart(claim: HeldClaim): boolean {
    return !this.counts(claim) || this.runningOf(claim.stage.task_type) < this.most[claim.stage.task_type]!;
  }

  start(claim: HeldClaim): void {
    const { task_type } = claim.stage;
    if (this.counts(claim)) this.running.set(task_type, this.runningOf(task_type) + 1);
  }

  /** Whether a worker that left the type alone may ask for it again. */
  end(claim: HeldClaim): boolean {
    if (!this.counts(claim)) return false;
    const { task_type } = claim.stage;
    this.running.set(task_type, this.runningOf(task_type) - 1);
    return true;
  }

  /** Claims in parts; `waiting`: what the worker holds that has not started. */
  async claim(
    request: ClaimRequest,
    waiting: Waiting,
    claim: (part: ClaimRequest) => Promise<ClaimReply>,
  ): Promise<ClaimReply> {
    const bounded = request.types.filter((type) => this.bounds(type));
    if (bounded.length === 0) return claim(request);
    const held = new Map(this.running);
    for (const { claim: one, count } of waiting)
      if (this.counts(one)) held.set(one.stage.task_type, (held.get(one.stage.task_type) ?? 0) + count);
    const parts = bounded.map((type) => ({ types: [type], room: this.most[type]! - (held.get(type) ?? 0) }));
    const others = request.types.filter((type) => !this.bounds(type));
    if (others.length > 0) parts.push({ types: others, room: request.limit });
    const first = this.turn++ % parts.length;

    let { limit, memory } = request;
    const whole: ClaimReply = { claims: [], stages: [], after_tenant: null };
    for (const { types, room } of [...parts.slice(first), ...parts.slice(0, first)]) {
      if (room <= 0 || limit <= 0) continue;
      const known = [...(request.known ?? []), ...whole.stages.map(({ stage_id }) => stage_id)];
      const part = { ...request, types, limit: Math.min(limit, room), known, memory };
      const reply = await claim(part).catch((error: unknown) => {
        // What another part has brought is this worker's by now; the next claim will fail as this one did.
        if (whole.claims.length > 0) return null;
        throw error;
      });
      if (reply === null) return whole;
      limit -= reply.claims.reduce((sum, { tasks }) => sum + tasks.length, 0);
      memory = roomAfter(memory, reply, [...whole.stages, ...reply.stages]);
      join(whole, reply);
    }
    return whole;
  }

  private counts(claim: HeldClaim): boolean {
    return !claim.is_plan && this.bounds(claim.stage.task_type);
  }

  private runningOf(task_type: string): number {
    return this.running.get(task_type) ?? 0;
  }
}

function roomAfter(
  memory: ClaimRequest["memory"],
  { claims }: ClaimReply,
  stages: ClaimReply["stages"],
): ClaimRequest["memory"] {
  if (memory === undefined) return undefined;
  const types = new Map(stages.map(({ stage_id, task_type }) => [stage_id, task_type]));
  const taken = claims.map(({ stage_id, tasks }) => tasks.length * (memory.needs[types.get(stage_id) ?? ""] ?? 0));
  return { ...memory, room: Math.max(0, memory.room - taken.reduce((sum, one) => sum + one, 0)) };
}

function join(whole: ClaimReply, part: ClaimReply): void {
  whole.claims.push(...part.claims);
  whole.stages.push(...part.stages);
  whole.after_tenant = part.after_tenant ?? whole.after_tenant;
  whole.turns = { ...whole.turns, ...part.turns };
  whole.held = [...(whole.held ?? []), ...(part.held ?? [])];
  whole.kept_out = [...(whole.kept_out ?? []), ...(part.kept_out ?? [])];
  whole.shared = whole.shared || part.shared || false;
}
