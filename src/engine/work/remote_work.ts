// The worker's verbs for workers that came over HTTP: strictly for one tenant, which the transaction names and the database
// holds them to, and in plain objects. The columns and short names of the verbs are written and read here.
import { randomUUID } from "node:crypto";
import type { BodyOf, ReplyOf } from "../../core/api/endpoint.js";
import type { FinishedTask, WorkLogLine, work_api } from "../../core/api/work.js";
import { StaleWorker } from "../../core/errors/errors.js";
import type { Store } from "../../core/places/store.js";
import { logRecord } from "../../core/task/log_line.js";
import type { Zones } from "../../storage/zones.js";
import type { Database } from "../database/database.js";
import { toldFailure } from "../database/lost_connection.js";
import type { Assets } from "../verbs/assets.js";
import { type ClaimedBatch, type ClaimReply, worker_commands as commands, type FailedItem } from "./commands.js";
import type { EffectParts } from "./remote_effects.js";
import { RemoteFiles } from "./remote_files.js";
import { type RemoteFinish, RemoteFinisher } from "./remote_finisher.js";
import { RemotePlans } from "./remote_plans.js";
import { known, RemoteResults } from "./remote_results.js";
import { countsOf, type Held, placeOf, tasksOf } from "./remote_task.js";
import { TenantSession } from "./tenant_session.js";

const PLANS = "#plan";
/** The worker does not know of plans that a server makes for it, and so cannot name them. Longer than reading the largest takes. */
const PLANS_KEPT_S = 120;
/** For how many workers it is remembered whose turn it is. */
const WORKERS_REMEMBERED = 1000;

type Registration = BodyOf<typeof work_api.register>;
export type RemoteRegistration = Omit<Registration, "plans"> & Partial<Pick<Registration, "plans">>;

export type RemoteWanted = Omit<BodyOf<typeof work_api.claim>, "wait_s">;

export type RemoteClaim = ReplyOf<typeof work_api.claim>;

export interface RemoteLook {
  claim: RemoteClaim;
  /** It found nothing, and what comes after it is told of: whoever hears hints may wait now. */
  may_wait: boolean;
}

/** Does it when its caller's turn has come. */
export type Turn = <T>(work: () => Promise<T>) => Promise<T>;

const at_once: Turn = (work) => work();

export class RemoteWork {
  readonly results: RemoteResults;
  readonly plans: RemotePlans;
  readonly files: RemoteFiles;
  readonly #finisher: RemoteFinisher;
  readonly #session: TenantSession;
  /** By worker: where the turns of the tenant's jobs go on, and what it registered for. */
  readonly #turns = new Map<string, Record<string, number>>();
  readonly #types = new Map<string, ReadonlySet<string>>();

  constructor(
    db: Database,
    tenant: string,
    store: Store,
    zones: Zones,
    assets: Pick<Assets, "find" | "removeRetracted">,
  ) {
    this.#session = new TenantSession(db, tenant);
    this.results = new RemoteResults(this.#session, store);
    this.plans = new RemotePlans(this.#session, store);
    this.files = new RemoteFiles(db, this.#session, store, zones);
    this.#finisher = new RemoteFinisher({ session: this.#session, files: this.files, store, zones, assets });
  }

  async register(given: RemoteRegistration): Promise<{ worker_id: string; lease_s: number }> {
    const worker_id = randomUUID();
    const { types: named, plans = [], memory_mb, too_large, slots, lease_s: asked_s } = given;
    const { host = "", pid = 0, version = "" } = given;
    // Plans that are data are carried out by the server when such a worker asks for work: hints about them are for it too.
    const types = [...new Set([...named, ...plans.map((job) => `${PLANS}:${job}`), PLANS])];
    const facts = { worker_id, types, host, pid, version, connections: 0, slots, lease_s: asked_s };
    const { lease_s } = await this.#session.run((db) =>
      commands.register_worker(db, { ...facts, memory_mb, too_large }),
    );
    return { worker_id, lease_s };
  }

  async heartbeat(
    worker_id: string,
    given: BodyOf<typeof work_api.heartbeat>,
  ): Promise<{ lost: number[]; abort: Held[] }> {
    const { claims, running: told, draining = false, rss_mb, memory_used_mb, counts } = given;
    const running = told.map(({ task_id, progress = null, ...rest }) => ({ ...rest, ...placeOf(task_id), progress }));
    const state = { worker_id, claims, running, draining, plans_kept_s: PLANS_KEPT_S, rss_mb, memory_used_mb };
    const counted = { ...state, counts: counts === undefined ? undefined : countsOf(counts) };
    const reply = await this.#session.run((db) => commands.heartbeat(db, counted));
    if (!reply.ok) {
      throw new StaleWorker(`worker ${worker_id} is not registered or was declared lost`, { hint: "register again" });
    }
    const names = new Map(told.map((one) => [`${one.claim_id}/${placeOf(one.task_id).ordinal}`, one.task_id]));
    const abort = reply.abort.map(([claim_id, ordinal]) => {
      return { task_id: names.get(`${claim_id}/${ordinal}`) ?? "", claim_id };
    });
    return { lost: reply.lost, abort };
  }

  async claim(worker_id: string, wanted: RemoteWanted, turn: Turn = at_once): Promise<RemoteClaim> {
    return (await this.look(worker_id, wanted, turn)).claim;
  }

  /** Carries out plans that are data first: without a worker on the database nobody else would. They take no turn: they are long. */
  async look(
    worker_id: string,
    { limit, per_type, known_stages }: RemoteWanted,
    turn: Turn = at_once,
  ): Promise<RemoteLook> {
    for (;;) {
      const turns = this.#turns.get(worker_id) ?? {};
      const request = { worker_id, limit, per_type, known: known_stages, turns };
      const reply = await turn(() => this.#session.run((db) => commands.claim_for(db, request)));
      if (reply.plan !== null) {
        await this.#plan(worker_id, reply.plan);
        continue;
      }
      remember(this.#turns, worker_id, reply.turns ?? {});
      const claim = claimOf(reply.replies ?? []);
      return { claim, may_wait: claim.tasks.length === 0 && reply.idle === true };
    }
  }

  /** As claim, of the one type that an idle worker was told of. A whole look is for what the worker bounds, and for plans. */
  async claimHinted(worker_id: string, type: string, wanted: RemoteWanted, turn: Turn = at_once): Promise<RemoteClaim> {
    const { limit, per_type, known_stages: known } = wanted;
    if (type.startsWith(PLANS) || per_type?.[type] !== undefined) return this.claim(worker_id, wanted, turn);
    const turns = this.#turns.get(worker_id) ?? {};
    const request = { worker_id, types: [type], limit, after_tenant: null, known, turns };
    const reply = await turn(() => this.#session.run((db) => commands.claim_hinted_for(db, type, request)));
    if (reply.turns !== undefined) remember(this.#turns, worker_id, { ...turns, ...reply.turns });
    return claimOf([reply]);
  }

  async #plan(worker_id: string, claim: ClaimedBatch): Promise<void> {
    try {
      await this.plans.byData(worker_id, claim.claim_id);
    } catch (error) {
      await this.#planFailed(worker_id, claim, error);
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
    await this.#session.run((db) => commands.finish(db, request));
  }

  /** What hints are for it. */
  async typesOf(worker_id: string): Promise<ReadonlySet<string>> {
    const there = this.#types.get(worker_id);
    if (there !== undefined) return there;
    const types = new Set((await this.#session.run((db) => known(db, worker_id))).types);
    remember(this.#types, worker_id, types);
    return types;
  }

  setIdle(worker_id: string, idle: boolean): Promise<null> {
    return this.#session.run((db) => commands.set_idle(db, { worker_id, idle }));
  }

  finish(
    worker_id: string,
    given: readonly FinishedTask[],
    logs: readonly WorkLogLine[],
    catalog?: EffectParts["catalog"],
  ): Promise<RemoteFinish> {
    return this.#finisher.finish(worker_id, given, linesOf(logs), catalog);
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
    return this.#session.run((db) => commands.release(db, { worker_id, items: [...items.values()] }));
  }

  writeLogs(worker_id: string, lines: readonly WorkLogLine[]): Promise<{ written: number; refused: number }> {
    return this.#session.run((db) => commands.write_logs(db, { worker_id, lines: linesOf(lines) }));
  }

  stop(worker_id: string): Promise<{ released: number }> {
    return this.#session.run((db) => commands.stop_worker(db, { worker_id }));
  }
}

function claimOf(replies: readonly ClaimReply[]): RemoteClaim {
  const tasks = replies.flatMap(({ claims }) => claims.flatMap(tasksOf));
  return { tasks, stages: replies.flatMap(({ stages }) => stages) };
}

/** Of the workers that were heard of last. */
function remember<T>(all: Map<string, T>, worker_id: string, value: T): void {
  all.delete(worker_id);
  all.set(worker_id, value);
  for (const [oldest] of all) {
    if (all.size <= WORKERS_REMEMBERED) break;
    all.delete(oldest);
  }
}

function linesOf(lines: readonly WorkLogLine[]): string {
  const records = lines.map(({ task_id, claim_id, attempt, ago_ms, level, message, data }) => {
    return { c: claim_id, o: placeOf(task_id).ordinal, a: attempt, ms: ago_ms, ...logRecord(level, message, data) };
  });
  return JSON.stringify(records);
}
