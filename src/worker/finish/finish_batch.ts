// The outcomes that travel in one finish: completed tasks as columns, which the database reads fastest, failed ones as
// records. Results are JSON text from the start and are joined, never written twice. Pure.
import type { FailedItem, FinishRequest } from "../../engine/work/commands.js";
import type { HeldClaim } from "../claim/held.js";

/** What a completed task has besides its result: a hand-over, the reference to a spilled result, deliverables. JSON texts. */
export interface DoneExtra {
  next_stage_params?: string;
  spill?: string;
  deliverables?: string;
}

export class FinishBatch {
  bytes = 0;
  private readonly holders: HeldClaim[] = [];
  private readonly ordinals: number[] = [];
  private readonly durations: number[] = [];
  private readonly results: string[] = [];
  private readonly extras = new Map<number, DoneExtra>();
  private readonly failed: { holder: HeldClaim; item: FailedItem; text: string }[] = [];

  get size(): number {
    return this.holders.length + this.failed.length;
  }

  get failures(): readonly { holder: HeldClaim; item: FailedItem }[] {
    return this.failed;
  }

  addDone(holder: HeldClaim, ordinal: number, duration_ms: number, result: string, extra: DoneExtra | null): void {
    this.holders.push(holder);
    this.ordinals.push(ordinal);
    this.durations.push(Math.round(duration_ms));
    this.results.push(result);
    this.bytes += result.length + 24;
    if (extra === null) return;
    this.extras.set(this.holders.length, extra);
    for (const text of Object.values(extra)) this.bytes += (text as string | undefined)?.length ?? 0;
  }

  addFailed(holder: HeldClaim, item: FailedItem): void {
    // A failure has a stack and problems besides its message: its text alone tells how large it is.
    const text = JSON.stringify(item);
    this.failed.push({ holder, item, text });
    this.bytes += text.length;
  }

  /** How many tasks of each claim are in here. Neighbours mostly share one: the map is written once per run of them. */
  claims(): Map<HeldClaim, number> {
    const counts = new Map<HeldClaim, number>();
    const { holders } = this;
    for (let from = 0; from < holders.length; ) {
      const holder = holders[from]!;
      let to = from + 1;
      while (to < holders.length && holders[to] === holder) to++;
      counts.set(holder, (counts.get(holder) ?? 0) + to - from);
      from = to;
    }
    for (const { holder } of this.failed) counts.set(holder, (counts.get(holder) ?? 0) + 1);
    return counts;
  }

  request(worker_id: string, logs: string): FinishRequest {
    const named = Array.from(this.claims().keys(), ({ claim_id, stage, attempt }) => {
      return `{"c":${claim_id},"g":${stage.stage_id},"a":${attempt}}`;
    });
    const extras = Array.from(this.extras, ([position, { next_stage_params, spill, deliverables }]) => {
      const member = (key: string, text: string | undefined) => (text === undefined ? "" : `,"${key}":${text}`);
      return `{"i":${position}${member("n", next_stage_params)}${member("s", spill)}${member("v", deliverables)}}`;
    });
    return {
      worker_id,
      claims: `[${named.join()}]`,
      done: {
        claims: this.holders.map((holder) => holder.claim_id).join(),
        ordinals: this.ordinals.join(),
        durations: this.durations.join(),
        results: this.results.join(),
        extras: `[${extras.join()}]`,
      },
      failed: `[${this.failed.map(({ text }) => text).join()}]`,
      logs: `[${logs}]`,
    };
  }

  /** Hands each outcome, with what belongs to it, to the batch that `to` names. */
  deal(to: (holder: HeldClaim, at: number) => FinishBatch): void {
    for (const [at, holder] of this.holders.entries()) {
      const extra = this.extras.get(at + 1) ?? null;
      to(holder, at).addDone(holder, this.ordinals[at]!, this.durations[at]!, this.results[at]!, extra);
    }
    for (const [at, { holder, item }] of this.failed.entries()) {
      to(holder, this.holders.length + at).addFailed(holder, item);
    }
  }

  /** Where the first completed task in here is; undefined when all have failed. */
  get first_done(): { holder: HeldClaim; place: { c: number; o: number; d: number } } | undefined {
    const [holder] = this.holders;
    if (holder === undefined) return undefined;
    return { holder, place: { c: holder.claim_id, o: this.ordinals[0]!, d: this.durations[0]! } };
  }
}
