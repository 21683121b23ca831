// The outcomes that the database does not take as they were sent. One tenant's open transaction must not hold up the others', so
// that tenant's travel apart. One outcome that cannot be stored must not hold up its neighbours, so halves are sent until it
// stands alone, and fails.
import type { FinishReply } from "../../engine/work/commands.js";
import type { HeldClaim } from "../claim/held.js";
import type { Registration } from "../life/registration.js";
import type { Courier, Undelivered } from "./courier.js";
import type { Finisher } from "./finish.js";
import { FinishBatch } from "./finish_batch.js";
import { HeldLane } from "./held_lane.js";

export class TroubledOutcomes {
  /** By tenant: those whose rows are held, or were a moment ago. */
  private readonly lanes = new Map<string, HeldLane>();

  constructor(
    private readonly parts: Registration,
    private readonly finisher: Finisher,
    private readonly courier: Courier,
  ) {}

  /** Where the next outcome of this claim goes, if its tenant's travel apart. */
  batchFor(claim: HeldClaim, bytes: number): FinishBatch | undefined {
    return this.lanes.size === 0 ? undefined : this.lanes.get(claim.stage.tenant_id)?.batch(bytes);
  }

  async take(batch: FinishBatch, lines: string, given: Undelivered): Promise<void> {
    let trouble: Undelivered | null = given;
    if (lines !== "") {
      // The lines may be what it cannot take, and must not be lost if they are not; once their tasks have ended it is too late.
      await this.writeLines(lines);
      if (trouble !== "held") trouble = await this.finisher.deliver(batch);
    }
    if (trouble === "held") await this.sendByTenant(batch);
    else if (trouble !== null) await this.divide(batch, trouble.refusal);
  }

  /** One of them holds up all: each alone, and whose rows are held travels apart from here on. */
  private async sendByTenant(batch: FinishBatch): Promise<void> {
    const parts = byTenant(batch);
    for (const [tenant, part] of parts) {
      if (parts.size === 1 || (await this.isHeld(part))) this.setApart(tenant, part);
    }
  }

  private async divide(batch: FinishBatch, refusal: unknown): Promise<void> {
    for (const part of this.partsOf(batch, refusal)) {
      if (await this.isHeld(part)) for (const [tenant, held] of byTenant(part)) this.setApart(tenant, held);
    }
  }

  private async isHeld(batch: FinishBatch): Promise<boolean> {
    const trouble = await this.finisher.deliver(batch);
    if (trouble === "held") return true;
    if (trouble !== null) await this.divide(batch, trouble.refusal);
    return false;
  }

  private partsOf(batch: FinishBatch, refusal: unknown): FinishBatch[] {
    const { finisher } = this;
    if (batch.size > 1) return halves(batch);
    this.parts.log.error({ err: refusal }, "the database cannot store an outcome");
    const failure = asStorable(batch, refusal instanceof Error ? refusal.message : String(refusal));
    if (failure === null) {
      finisher.settle(batch);
      return [];
    }
    finisher.count(batch, -1);
    finisher.count(failure, 1);
    return [failure];
  }

  private setApart(tenant: string, batch: FinishBatch): void {
    const { finisher, parts } = this;
    finisher.count(batch, -1);
    const lane = this.lanes.get(tenant);
    if (lane !== undefined) {
      lane.add(batch);
      return;
    }
    parts.log.warn(
      { tenant_id: tenant, tasks: batch.size },
      "an open transaction holds rows of this tenant: its results wait apart",
    );
    const deliver = async (sent: FinishBatch) => {
      finisher.count(sent, 1);
      const is_held = await this.isHeld(sent);
      if (is_held) finisher.count(sent, -1);
      finisher.lookAround();
      return !is_held;
    };
    const drop = (lost: FinishBatch) => {
      finisher.count(lost, 1);
      finisher.drop(lost);
    };
    const opened = new HeldLane({ ended: parts.lease.ended, deliver, drop }, batch);
    this.lanes.set(tenant, opened);
    void opened.over.then(() => {
      this.lanes.delete(tenant);
      finisher.lookAround();
    });
  }

  /** What failed is tried again, or what was sent too late is refused, because others hold these tasks now. */
  count(batch: FinishBatch, { refused, retried, retries = [] }: FinishReply): void {
    const { stats, log } = this.parts;
    stats.retried += retried;
    stats.refused += refused.length;
    const again = new Set<string>();
    for (let at = 0; at < retries.length; at += 2) again.add(`${retries[at]}-${retries[at + 1]}`);
    for (const { holder, item } of batch.failures) {
      if (item.category !== "engine" && again.has(`${item.c}-${item.o}`)) holder.tally.retried(item.category);
    }
    if (refused.length === 0) return;
    const holders = new Map(Array.from(batch.claims().keys(), (claim) => [claim.claim_id, claim]));
    for (const [claim_id] of refused) holders.get(claim_id)?.tally.refused();
    log.info(
      { count: refused.length, refused: refused.slice(0, 10) },
      "late results refused: others hold these tasks now",
    );
  }

  private async writeLines(lines: string): Promise<void> {
    const { db, commands, worker_id, log } = this.parts;
    const request = { worker_id, lines: `[${lines}]` };
    const answer = await this.courier.persist("task logs", 0, () => commands.write_logs(db, request));
    if (answer === "held") log.warn({}, "task logs not written");
    else if (answer !== null && "refusal" in answer) log.warn({ err: answer.refusal }, "task logs not written");
  }

  /** Tasks that travel apart. */
  get waiting(): number {
    let tasks = 0;
    for (const lane of this.lanes.values()) tasks += lane.tasks;
    return tasks;
  }

  /** The worker leaves: what is held is sent once more and then dropped. */
  close(): void {
    for (const lane of this.lanes.values()) lane.close();
  }
}

export function halves(batch: FinishBatch): [FinishBatch, FinishBatch] {
  const parts: [FinishBatch, FinishBatch] = [new FinishBatch(), new FinishBatch()];
  const middle = Math.ceil(batch.size / 2);
  batch.deal((_, at) => parts[at < middle ? 0 : 1]);
  return parts;
}

export function byTenant(batch: FinishBatch): Map<string, FinishBatch> {
  const parts = new Map<string, FinishBatch>();
  batch.deal(({ stage: { tenant_id } }) => {
    const part = parts.get(tenant_id) ?? new FinishBatch();
    parts.set(tenant_id, part);
    return part;
  });
  return parts;
}

/** The only outcome of a batch as a failure that holds nothing of it; null when that has been tried. */
export function asStorable(batch: FinishBatch, cause: string): FinishBatch | null {
  const storable = new FinishBatch();
  const done = batch.first_done;
  if (done !== undefined) {
    const message = `the database cannot store this result: ${cause}`;
    storable.addFailed(done.holder, { ...done.place, category: "contract", code: "unstorable_result", message });
    return storable;
  }
  const { holder, item } = batch.failures[0]!;
  const { c, o, d, code } = item;
  if (code === "unstorable_failure") return null;
  const message = "the database cannot store what this attempt failed with";
  storable.addFailed(holder, { c, o, d, category: "contract", code: "unstorable_failure", message });
  return storable;
}
