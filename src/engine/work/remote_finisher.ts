// Ends tasks for workers over HTTP. Plain ones go together, in one statement; a task with effects goes alone, its effects and its finish in one
// transaction: they stay only if the finish was accepted there and then. What cannot be stored fails its own task and no other.

import { largest_inline_spill } from "../../core/api/work/limits.js";
import type { FinishedTask } from "../../core/api/work.js";
import { classify, fromSqlError } from "../../core/errors/errors.js";
import type { Failure } from "../../core/errors/failures.js";
import type { Store } from "../../core/places/store.js";
import { fault } from "../../fault.js";
import type { Zones } from "../../storage/zones.js";
import { isConnectionLost } from "../database/lost_connection.js";
import type { Assets } from "../verbs/assets.js";
import { worker_commands as commands, type FinishReply } from "./commands.js";
import { badEffects, type EffectParts, effectProblems, failureOfEffects, writeEffects } from "./remote_effects.js";
import type { RemoteFiles } from "./remote_files.js";
import { contract, failedItem, finishRequest, storableItem, type TaskEnd } from "./remote_finish.js";
import { type Held, placeOf } from "./remote_task.js";
import type { TenantSession } from "./tenant_session.js";

export interface RemoteFinish {
  accepted: number;
  retried: number;
  refused: (Held & { reason: "not_held" | "twice" })[];
  unstorable: (Held & { message: string })[];
}

export interface FinisherParts {
  session: TenantSession;
  files: RemoteFiles;
  store: Store;
  zones: Zones;
  assets: Pick<Assets, "find" | "removeRetracted">;
}

type Catalog = EffectParts["catalog"];
const no_catalog: Catalog = async () => null;
const NO_LINES = "[]";

/** The finish was not accepted, or not for good: everything goes. */
class Undone extends Error {
  constructor(readonly reply: FinishReply) {
    super("the task was not held");
  }
}

/** What a worker sent about a task. */
interface Told {
  task: FinishedTask;
  end: TaskEnd;
}

export class RemoteFinisher {
  constructor(private readonly parts: FinisherParts) {}

  /** `lines`: JSON text of the last log lines. */
  async finish(
    worker_id: string,
    given: readonly FinishedTask[],
    lines: string,
    catalog: Catalog = no_catalog,
  ): Promise<RemoteFinish> {
    const reply: RemoteFinish = { accepted: 0, retried: 0, refused: [], unstorable: [] };
    const all = new Map<string, Told>();
    for (const task of given) {
      const place = { ...placeOf(task.task_id), claim_id: task.claim_id, attempt: task.attempt };
      const key = `${place.claim_id}/${place.stage_id}/${place.ordinal}`;
      const { task_id, claim_id } = task;
      if (all.has(key)) reply.refused.push({ task_id, claim_id, reason: "twice" });
      else {
        const { item, problem } = storableItem(task);
        all.set(key, { task, end: { ...place, task_id, item } });
        if (problem !== null) reply.unstorable.push({ task_id, claim_id, message: problem });
      }
    }
    for (const told of all.values()) if (told.task.spill !== undefined) await this.#checkSpill(worker_id, told, reply);
    const alone = [...all.values()].filter(({ task, end }) => end.item.done && (task.effects?.length ?? 0) > 0);
    const others = [...all.values()].filter((told) => !alone.includes(told)).map(({ end }) => end);
    if (others.length > 0) await this.#tell(worker_id, others, lines, reply);
    else if (lines !== NO_LINES) await this.#writeLines(worker_id, lines);
    const parts = { ...this.parts, tenant: this.parts.session.tenant, catalog };
    for (const told of alone) await this.#tellWithEffects(worker_id, told, parts, reply);
    for (const { task, end } of all.values()) if (!end.item.done) await this.#discard(task, reply);
    return reply;
  }

  /** While the tasks are held; lines that cannot be stored fail nothing. */
  async #writeLines(worker_id: string, lines: string): Promise<void> {
    try {
      await this.parts.session.run((db) => commands.write_logs(db, { worker_id, lines }));
    } catch (error) {
      if (!isContent(error)) throw error;
    }
  }

  /** The file is of this attempt, whole, and JSON as far as it is small enough to be looked at. */
  async #checkSpill(worker_id: string, told: Told, reply: RemoteFinish): Promise<void> {
    const { task } = told;
    const spill = task.spill!;
    const problem = await this.#spillProblem(worker_id, task, spill);
    if (problem === null || !told.end.item.done) return;
    const message = `the file of the result ${problem}`;
    this.#fail(told, contract("bad_spill", message), reply);
  }

  async #spillProblem(worker_id: string, task: FinishedTask, spill: NonNullable<FinishedTask["spill"]>) {
    const { files, store } = this.parts;
    if (task.result !== undefined && task.result !== null) return "comes with a result besides: give one of them";
    if (!files.isSpillOf(worker_id, task, spill.key)) return "is not one that this attempt was given a key for";
    const found = await files.spilledBytes(spill.key);
    if (found !== undefined && found !== spill.bytes) {
      return found === null ? "is not there" : `has ${found} bytes, not ${spill.bytes}`;
    }
    if (spill.bytes > largest_inline_spill) return null;
    try {
      JSON.parse((await store.get({ store: "file", ...spill })).toString("utf8"));
      return null;
    } catch (error) {
      const { category, message } = classify(error);
      if (error instanceof SyntaxError) return `is not JSON: ${message}`;
      if (category === "transient") throw error;
      return `is not what was told: ${message}`;
    }
  }

  #fail(told: Told, failure: Failure, reply: RemoteFinish): void {
    const { task_id, claim_id } = told.task;
    told.end = { ...told.end, item: failedItem(told.task, failure) };
    reply.unstorable.push({ task_id, claim_id, message: failure.message });
  }

  async #tell(worker_id: string, ends: readonly TaskEnd[], lines: string, reply: RemoteFinish): Promise<void> {
    try {
      const told = await this.parts.session.run((db) => commands.finish(db, finishRequest(worker_id, ends, lines)));
      countTold(reply, told, ends);
    } catch (error) {
      if (!isContent(error)) throw error;
      if (lines !== NO_LINES) {
        // The lines may be what it cannot take.
        await this.#tell(worker_id, ends, NO_LINES, reply);
      } else if (ends.length > 1) {
        for (const end of ends) await this.#tell(worker_id, [end], NO_LINES, reply);
      } else await this.#tellUnstorable(worker_id, ends[0] as TaskEnd, error, reply);
    }
  }

  async #tellUnstorable(worker_id: string, end: TaskEnd, error: unknown, reply: RemoteFinish): Promise<void> {
    if (!end.item.done && end.item.failure.code === "unstorable") throw error;
    const message = "the database cannot store this result";
    const failure = { category: "contract" as const, code: "unstorable", message };
    const { task_id, claim_id } = end;
    reply.unstorable.push({ task_id, claim_id, message });
    const item = { done: false as const, duration_ms: end.item.duration_ms, failure };
    await this.#tell(worker_id, [{ ...end, item }], NO_LINES, reply);
  }

  async #tellWithEffects(worker_id: string, told: Told, parts: EffectParts, reply: RemoteFinish): Promise<void> {
    const { task } = told;
    const effects = task.effects ?? [];
    const problems = await effectProblems(parts, task, effects);
    if (problems.length > 0) this.#fail(told, badEffects(problems), reply);
    else {
      const failure = await this.#writeAll(worker_id, told, parts, reply);
      if (failure === null) {
        await this.#removeRetracted(task);
        return;
      }
      this.#fail(told, failure, reply);
    }
    await this.#tell(worker_id, [told.end], NO_LINES, reply);
  }

  /** null: it was told, whatever the answer. A failure: nothing was written, and the task is to fail with it. */
  async #writeAll(
    worker_id: string,
    { task, end }: Told,
    parts: EffectParts,
    reply: RemoteFinish,
  ): Promise<Failure | null> {
    const { session } = this.parts;
    let is_writing = false;
    try {
      const accepted = await session.transaction(async (tx) => {
        is_writing = true;
        await writeEffects(parts, tx, task, task.effects ?? []);
        is_writing = false;
        await fault("after-effects");
        const found = await commands.finish(tx, finishRequest(worker_id, [end], NO_LINES));
        if (!(await this.#stays(worker_id, end, found, tx))) throw new Undone(found);
        return found;
      });
      countTold(reply, accepted, [end]);
      return null;
    } catch (error) {
      if (error instanceof Undone) {
        await this.#tellRefused(worker_id, end, error.reply, reply);
        return null;
      }
      const own = fromSqlError(error) ?? error;
      // The worker sends again what passes: nothing has been written.
      if (isConnectionLost(error) || isPassing(error)) throw own;
      if (is_writing) return failureOfEffects(own);
      if (isContent(error)) return { ...contract("unstorable", "the database cannot store this result") };
      throw own;
    }
  }

  /** One that was accepted is undone where the stage was closed before. One that was not may be an earlier one of ours. */
  async #stays(worker_id: string, end: TaskEnd, found: FinishReply, tx: Parameters<typeof commands.finish>[0]) {
    const { stage_id, ordinal, attempt } = end;
    return found.accepted === 1 && (await commands.is_finished_by(tx, { worker_id, stage_id, ordinal, attempt }));
  }

  /** Recorded without its effects; should the task turn out to be held after all, it is told again, with them. */
  async #tellRefused(worker_id: string, end: TaskEnd, found: FinishReply, reply: RemoteFinish): Promise<void> {
    if ((found.repeated ?? []).length > 0) {
      countTold(reply, { ...found, accepted: 0, refused: [] }, [end]);
      return;
    }
    const again = await this.parts.session
      .transaction(async (tx) => {
        const refused = await commands.finish(tx, finishRequest(worker_id, [end], NO_LINES));
        if (await this.#stays(worker_id, end, refused, tx)) throw new Undone(refused);
        return refused;
      })
      .catch((error: unknown) => {
        throw fromSqlError(error) ?? error;
      });
    countTold(reply, { ...again, accepted: 0 }, [end]);
  }

  /** Now rather than with the sweep, which does it otherwise. */
  async #removeRetracted({ effects = [] }: FinishedTask): Promise<void> {
    const gone = effects.flatMap((one) => (one.effect === "retract" ? [one] : []));
    const { assets } = this.parts;
    for (const { zone, key, remove_adopted } of gone) {
      await assets.removeRetracted([{ zone, key }], { even_adopted: remove_adopted }).catch(() => {});
    }
  }

  /** Files of attempts that have failed; never one that a finish has made visible. */
  async #discard(task: FinishedTask, { refused }: RemoteFinish): Promise<void> {
    const { files, assets } = this.parts;
    const is_refused = refused.some(({ task_id, claim_id }) => task_id === task.task_id && claim_id === task.claim_id);
    if (is_refused) return;
    const uploaded = [...(task.discard ?? []), ...(task.effects ?? []).filter((one) => one.effect === "publish")];
    for (const { zone, key } of uploaded) {
      const is_seen = (await assets.find({ zone, key }).catch(() => true)) !== null;
      if (!is_seen) await files.discard(task, [{ zone, key }]).catch(() => {});
    }
  }
}

function countTold(reply: RemoteFinish, told: FinishReply, ends: readonly TaskEnd[]): void {
  // What was told before, and is told again because the answer was lost, is as good as accepted now.
  reply.accepted += told.accepted + (told.repeated?.length ?? 0);
  reply.retried += told.retried;
  const names = new Map(ends.map((end) => [`${end.claim_id}/${end.ordinal}`, end.task_id]));
  for (const [claim_id, ordinal] of told.refused) {
    reply.refused.push({ task_id: names.get(`${claim_id}/${ordinal}`) ?? "", claim_id, reason: "not_held" });
  }
}

/** The database will never take it as it is. */
function isContent(error: unknown): boolean {
  const state = (error as { code?: unknown; sqlstate?: unknown }).sqlstate ?? (error as { code?: unknown }).code;
  return typeof state === "string" && /^(22|23|54)[0-9A-Z]{3}$|^FF00[24]$/.test(state);
}

/** A lock that others hold, a statement that took too long, a serialization that lost. */
function isPassing(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return typeof code === "string" && /^(08|40|53|57|58)[0-9A-Z]{3}$|^55P03$/.test(code);
}
