// The worker's verbs for workers that came over HTTP: strictly for one tenant, which the transaction names and the database
// holds them to, and in plain objects. The columns and short names of the verbs are written and read here.
import { randomUUID } from "node:crypto";
import type { FinishedTask, StoredResult, WorkLogLine, WorkStage, WorkTask } from "../../core/api/work.js";
import { fromSqlError, StaleWorker } from "../../core/errors/errors.js";
import type { Ref, Store } from "../../core/places/store.js";
import { logRecord } from "../../core/task/log_line.js";
import type { Database, Queryable } from "../database/database.js";
import { toldFailure } from "../database/lost_connection.js";
import { type ClaimedBatch, worker_commands as commands, type FailedItem, type FinishReply } from "./commands.js";
import { planByData } from "./data_plan.js";
import { finishRequest, storableItem, type TaskEnd } from "./remote_finish.js";
import type { StoredItem } from "./task_commands.js";

const PLANS = "#plan";
/** The worker does not know of plans that a server makes for it, and so cannot name them. Longer than reading the largest takes. */
const PLANS_KEPT_S = 120;
/** Of results that were spilled, in one page besides the others; a larger one is not sent at all. */
const PAGE_BYTES = 8 * 1024 * 1024;
const LARGEST_BYTES = 32 * 1024 * 1024;
/** Of so many workers it is remembered whose turn it is. */
const WORKERS_REMEMBERED = 1000;

export interface RemoteRegistration {
  types: readonly string[];
  slots: number;
  lease_s: number;
  host?: string | undefined;
  pid?: number | undefined;
  version?: string | undefined;
}

export interface RemoteClaim {
  tasks: WorkTask[];
  stages: WorkStage[];
}

export interface Held {
  task_id: string;
  claim_id: number;
}

export interface RemoteFinish {
  accepted: number;
  retried: number;
  refused: (Held & { reason: "not_held" | "twice" })[];
  unstorable: (Held & { message: string })[];
}

export class RemoteWork {
  /** By worker: where the turns of the tenant's jobs go on. */
  readonly #turns = new Map<string, Record<string, number>>();

  constructor(
    private readonly db: Database,
    private readonly tenant: string,
    private readonly store: Store,
  ) {}

  async register(given: RemoteRegistration): Promise<{ worker_id: string; lease_s: number }> {
    const worker_id = randomUUID();
    const { host = "", pid = 0, version = "" } = given;
    // Plans that are data are carried out by the server when such a worker asks for work: hints about them are for it too.
    const types = [...new Set([...given.types, PLANS])];
    const facts = { ...given, worker_id, types, host, pid, version, connections: 0 };
    const { lease_s } = await this.#run((db) => commands.register_worker(db, facts));
    return { worker_id, lease_s };
  }

  async heartbeat(
    worker_id: string,
    given: {
      claims: readonly number[];
      running: readonly (Held & { elapsed_s: number; progress?: unknown })[];
      draining?: boolean | undefined;
      rss_mb?: number | undefined;
    },
  ): Promise<{ lost: number[]; abort: Held[] }> {
    const running = given.running.map(({ task_id, progress = null, ...rest }) => ({
      ...rest,
      ...placeOf(task_id),
      progress,
    }));
    const { claims, draining = false, rss_mb } = given;
    const said = rss_mb === undefined ? { draining } : { draining, rss_mb };
    const reply = await this.#run((db) => {
      return commands.heartbeat(db, { worker_id, claims, running, ...said, plans_kept_s: PLANS_KEPT_S });
    });
    if (!reply.ok) {
      throw new StaleWorker(`worker ${worker_id} is not registered or was declared lost`, { hint: "register again" });
    }
    const names = new Map(given.running.map((one) => [`${one.claim_id}-${placeOf(one.task_id).ordinal}`, one.task_id]));
    const abort = reply.abort.map(([claim_id, ordinal]) => {
      return { task_id: names.get(`${claim_id}-${ordinal}`) ?? "", claim_id };
    });
    return { lost: reply.lost, abort };
  }

  /** Runs plans that are data first: without a worker on the database nobody else would. */
  async claim(
    worker_id: string,
    { limit, known_stages }: { limit: number; known_stages: readonly number[] },
  ): Promise<RemoteClaim> {
    await this.#planOne(worker_id);
    const reply = await this.#run(async (db) => {
      const { types } = await this.#known(db, worker_id);
      const wanted = types.filter((type) => !type.startsWith("#"));
      const turns = this.#turns.get(worker_id) ?? {};
      return commands.claim(db, { worker_id, types: wanted, limit, after_tenant: null, turns, known: known_stages });
    });
    this.#remember(worker_id, reply.turns ?? {});
    const stages = reply.stages.map(({ planner: _, ...stage }) => stage);
    return { tasks: reply.claims.flatMap(tasksOf), stages };
  }

  #remember(worker_id: string, turns: Record<string, number>): void {
    this.#turns.delete(worker_id);
    this.#turns.set(worker_id, turns);
    for (const [oldest] of this.#turns) {
      if (this.#turns.size <= WORKERS_REMEMBERED) break;
      this.#turns.delete(oldest);
    }
  }

  /** Plans of one stage after another until there is none. */
  async #planOne(worker_id: string): Promise<void> {
    for (;;) {
      const reply = await this.#run((db) => {
        return commands.claim(db, { worker_id, types: [PLANS], limit: 1, after_tenant: null });
      });
      const [claim] = reply.claims;
      if (claim === undefined) return;
      const run: <T>(verb: (db: Queryable) => Promise<T>) => Promise<T> = (verb) => this.#run(verb);
      try {
        await planByData({ commands, store: this.store, worker_id, run }, claim.claim_id);
      } catch (error) {
        await this.#planFailed(worker_id, claim, error);
      }
    }
  }

  async #planFailed(worker_id: string, { claim_id, stage_id, attempt }: ClaimedBatch, error: unknown): Promise<void> {
    const failed: FailedItem = { c: claim_id, o: -1, d: 0, ...toldFailure(error) };
    const request = {
      worker_id,
      claims: JSON.stringify([{ c: claim_id, g: stage_id, a: attempt }]),
      done: { claims: "", ordinals: "", durations: "", results: "" },
      failed: JSON.stringify([failed]),
    };
    await this.#run((db) => commands.finish(db, request));
  }

  /** What hints are for it. */
  async typesOf(worker_id: string): Promise<ReadonlySet<string>> {
    return new Set((await this.#run((db) => this.#known(db, worker_id))).types);
  }

  setIdle(worker_id: string, idle: boolean): Promise<null> {
    return this.#run((db) => commands.set_idle(db, { worker_id, idle }));
  }

  /** What cannot be stored fails alone: told together first, one by one where the database refuses. */
  async finish(worker_id: string, given: readonly FinishedTask[], logs: readonly WorkLogLine[]): Promise<RemoteFinish> {
    const reply: RemoteFinish = { accepted: 0, retried: 0, refused: [], unstorable: [] };
    const ends = new Map<string, TaskEnd>();
    for (const task of given) {
      const place = { ...placeOf(task.task_id), claim_id: task.claim_id, attempt: task.attempt };
      const key = `${place.claim_id}/${place.stage_id}/${place.ordinal}`;
      const { task_id, claim_id } = task;
      if (ends.has(key)) reply.refused.push({ task_id, claim_id, reason: "twice" });
      else {
        const { item, problem } = storableItem(task);
        ends.set(key, { ...place, task_id, item });
        if (problem !== null) reply.unstorable.push({ task_id, claim_id, message: problem });
      }
    }
    await this.#tell(worker_id, [...ends.values()], this.#lines(logs), reply);
    return reply;
  }

  async #tell(worker_id: string, ends: readonly TaskEnd[], lines: string, reply: RemoteFinish): Promise<void> {
    try {
      const told = await this.#run((db) => commands.finish(db, finishRequest(worker_id, ends, lines)));
      countTold(reply, told, ends);
    } catch (error) {
      if (!isContent(error)) throw error;
      if (lines !== "[]") {
        // The lines may be what it cannot take.
        await this.#tell(worker_id, ends, "[]", reply);
      } else if (ends.length > 1) {
        for (const end of ends) await this.#tell(worker_id, [end], "[]", reply);
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
    await this.#tell(worker_id, [{ ...end, item }], "[]", reply);
  }

  release(worker_id: string, tasks: readonly (Held & { started: boolean })[]): Promise<{ released: number }> {
    const items = new Map<number, { c: number; o: number[]; started: number[] }>();
    for (const { task_id, claim_id, started } of tasks) {
      const item = items.get(claim_id) ?? { c: claim_id, o: [], started: [] };
      const { ordinal } = placeOf(task_id);
      item.o.push(ordinal);
      if (started) item.started.push(ordinal);
      items.set(claim_id, item);
    }
    return this.#run((db) => commands.release(db, { worker_id, items: [...items.values()] }));
  }

  writeLogs(worker_id: string, lines: readonly WorkLogLine[]): Promise<{ written: number; refused: number }> {
    return this.#run((db) => commands.write_logs(db, { worker_id, lines: this.#lines(lines) }));
  }

  #lines(lines: readonly WorkLogLine[]): string {
    const records = lines.map(({ task_id, claim_id, attempt, ago_ms, level, message, data }) => {
      return { c: claim_id, o: placeOf(task_id).ordinal, a: attempt, ms: ago_ms, ...logRecord(level, message, data) };
    });
    return JSON.stringify(records);
  }

  async results(
    worker_id: string,
    { stage_id, from, to = null, limit }: { stage_id: number; from: number; to?: number | null; limit: number },
  ): Promise<{ items: StoredResult[]; next: number | null }> {
    const page = await this.#run(async (db) => {
      await this.#known(db, worker_id);
      return commands.read_results(db, { stage_id, from, to, limit });
    });
    const items: StoredResult[] = [];
    let bytes = 0;
    for (const item of page.items) {
      bytes += Math.min(item.spill?.bytes ?? 0, LARGEST_BYTES);
      if (bytes > PAGE_BYTES && items.length > 0) return { items, next: item.ordinal };
      items.push(await this.#sent(item));
    }
    return { items, next: page.next };
  }

  async predecessor(
    worker_id: string,
    task_id: string,
  ): Promise<(StoredResult & { status: string; error: unknown }) | null> {
    const found = await this.#run(async (db) => {
      await this.#known(db, worker_id);
      return commands.predecessor(db, placeOf(task_id));
    });
    if (found === null) return null;
    return { ...(await this.#sent(found)), status: found.status, error: found.error ?? null };
  }

  stop(worker_id: string): Promise<{ released: number }> {
    return this.#run((db) => commands.stop_worker(db, { worker_id }));
  }

  async #sent({ ordinal, index, result, spill, next_stage_params }: StoredItem): Promise<StoredResult> {
    const facts = { ordinal, index, next_stage_params: next_stage_params ?? null };
    if (spill === null) return { ...facts, result: result ?? null, left_out: null };
    const loaded = await this.#load(spill);
    if (typeof loaded === "string") return { ...facts, result: null, left_out: { bytes: spill.bytes, reason: loaded } };
    return { ...facts, result: loaded.value, left_out: null };
  }

  /** Why there is no value, or the value. */
  async #load(spill: Ref): Promise<string | { value: unknown }> {
    if (spill.bytes > LARGEST_BYTES) return `larger than ${LARGEST_BYTES} bytes`;
    try {
      return { value: JSON.parse((await this.store.get(spill)).toString("utf8")) };
    } catch {
      return "its file cannot be read";
    }
  }

  async #known(db: Queryable, worker_id: string): Promise<{ types: string[] }> {
    const [row] = await db.sql<{ reply: { types: string[] } }>`
      select app.known_worker(${worker_id}::text::uuid) as reply`;
    return (row as { reply: { types: string[] } }).reply;
  }

  /** One verb, for this tenant and no other. */
  async #run<T>(verb: (db: Queryable) => Promise<T>): Promise<T> {
    try {
      return await this.db.transaction(async (tx) => {
        await tx.sql`select set_config('fanfold.tenant', ${this.tenant}, true)`;
        return verb(tx);
      });
    } catch (error) {
      throw fromSqlError(error) ?? error;
    }
  }
}

function tasksOf({ claim_id, stage_id, attempt, tasks }: ClaimedBatch): WorkTask[] {
  return tasks.map(([ordinal, index, parameters, metadata]) => ({
    task_id: `${stage_id}-${ordinal}`,
    claim_id,
    stage_id,
    ordinal,
    attempt,
    parameters,
    metadata,
    index: index ?? String(ordinal),
  }));
}

function placeOf(task_id: string): { stage_id: number; ordinal: number } {
  const [stage_id, ordinal] = task_id.split("-").map(Number) as [number, number];
  return { stage_id, ordinal };
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
