// Submits of one tenant and type that come while others are on their way travel together: one transaction for many costs the
// database a fraction of one for each. Nothing waits for company: the first goes at once, and what comes meanwhile gathers. Whoever
// asks for the very same while it is asked for is answered with it.
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyRequest } from "fastify";
import type { Endpoint } from "../../core/api/endpoint.js";
import { jobs_api } from "../../core/api/jobs.js";
import { OverLimit } from "../../core/errors/errors.js";
import type { Engine } from "../../engine/engine.js";
import { isTracing } from "../../engine/tracing.js";
import type { SubmitItem, SubmitOptions, SubmitReply } from "../../engine/verbs/records.js";

type Item = SubmitItem<Record<string, unknown>>;

interface Waiting {
  item: Item;
  bytes: number;
  resolve(reply: SubmitReply): void;
  reject(error: unknown): void;
}

interface Group {
  engine: Engine;
  job_type: string;
  waiting: Waiting[];
  under_way: number;
}

/** How a tenant's calls to the database take turns: a submit takes as long as its blueprint makes it. */
type InTurn = <T>(tenant: string, work: () => Promise<T>, bytes: number) => Promise<T>;

/** The call behind a submit: what is large is not compared with others, and one without a place takes it only when it is needed. */
interface SubmitCall {
  is_small: boolean;
  /** The bytes of its body. */
  bytes?: number;
  /** Throws OverLimit. */
  enter(): void;
}
const no_call: SubmitCall = { is_small: false, enter: () => {} };

/** A submit that others may ask for as well. */
interface Asked {
  reply: Promise<SubmitReply>;
  is_over: boolean;
  was_joined: boolean;
}

/** Bytes of a body: what is compared is kept, and there may be thousands. */
const LARGEST_COMPARED = 16 * 1024;
/** Those of a storm that were still being read when it was answered. */
const REMEMBERED_MS = 1_000;

/** So many of a tenant's that ask for the same are answered at once, each second. Those behind are answered a little later: they would only ask again. */
const ANSWERED_AT_ONCE = 64;
const STORM_MS = 250;

/** May it be asked for by many at once, and told apart at little cost? */
export function isSmallSubmit(endpoint: Endpoint, { headers }: FastifyRequest): boolean {
  return endpoint === jobs_api.submit && Number(headers["content-length"]) <= LARGEST_COMPARED;
}

/** Two, so that one is prepared while the other is committed. */
const MOST_UNDER_WAY = 2;
const MOST_TOGETHER = 100;
/** What is read and written in one go keeps everybody else of this process waiting: large ones travel alone. */
const MOST_BYTES = 256 * 1024;

export class GatheredSubmits {
  readonly #groups = new Map<string, Group>();
  readonly #asked = new Map<string, Asked>();
  readonly #inTurn: InTurn;
  /** By tenant: how many were answered with what others asked for. */
  #joins = { second: 0, counts: new Map<string, number>() };

  constructor(inTurn: InTurn = (_tenant, work) => work()) {
    this.#inTurn = inTurn;
  }

  submit(
    engine: Engine,
    job_type: string,
    parameters: Record<string, unknown>,
    { mode = "reuse", ...options }: Omit<SubmitOptions, "db">,
    { is_small, bytes = 0, enter }: SubmitCall = no_call,
  ): Promise<SubmitReply> {
    // A new run must not be made twice when an answer was lost, and a span belongs to one call.
    if (mode !== "reuse" || isTracing()) {
      enter();
      return this.#inTurn(engine.tenant, () => engine.submit(job_type, parameters, { mode, ...options }), bytes);
    }
    const same = is_small ? sameness(engine.tenant, job_type, parameters, options) : null;
    const asked = same === null ? undefined : this.#asked.get(same);
    if (asked?.is_over === false) return this.#join(engine.tenant, asked);
    try {
      enter();
    } catch (error) {
      if (asked === undefined) throw error;
      return this.#join(engine.tenant, asked);
    }
    const key = `${engine.tenant} ${job_type}`;
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { engine, job_type, waiting: [], under_way: 0 };
      this.#groups.set(key, group);
    }
    const { waiting } = group;
    const answered = new Promise<SubmitReply>((resolve, reject) => {
      waiting.push({ item: { parameters, ...options }, bytes, resolve, reject });
    });
    if (same !== null) this.#remember(same, answered);
    this.#send(key, group);
    return answered;
  }

  async #join(tenant: string, asked: Asked): Promise<SubmitReply> {
    asked.was_joined = true;
    const second = Math.floor(performance.now() / 1_000);
    if (this.#joins.second !== second) this.#joins = { second, counts: new Map() };
    const { counts } = this.#joins;
    const count = (counts.get(tenant) ?? 0) + 1;
    counts.set(tenant, count);
    const reply = existing(await asked.reply);
    if (count > ANSWERED_AT_ONCE) await sleep(STORM_MS);
    return reply;
  }

  #remember(same: string, reply: Promise<SubmitReply>): void {
    const asked: Asked = { reply, is_over: false, was_joined: false };
    this.#asked.set(same, asked);
    const forget = () => {
      if (this.#asked.get(same) === asked) this.#asked.delete(same);
    };
    reply.then(() => {
      asked.is_over = true;
      if (asked.was_joined) setTimeout(forget, REMEMBERED_MS).unref();
      else forget();
    }, forget);
  }

  #send(key: string, group: Group): void {
    if (group.under_way >= MOST_UNDER_WAY) return;
    const together = group.waiting.splice(0, fitting(group.waiting));
    if (together.length === 0) {
      if (group.under_way === 0) this.#groups.delete(key);
      return;
    }
    group.under_way++;
    // Refused before its turn came, none of them has been sent.
    const refused = (error: unknown) => {
      for (const { reject } of together) reject(error);
    };
    const bytes = together.reduce((sum, one) => sum + one.bytes, 0);
    void this.#inTurn(group.engine.tenant, () => submitTogether(group, together), bytes)
      .catch(refused)
      .finally(() => {
        group.under_way--;
        this.#send(key, group);
      });
  }
}

/** Who asks, and in which trace, makes no other job of it. */
function sameness(
  tenant: string,
  job_type: string,
  parameters: Record<string, unknown>,
  { traceparent: _, actor: __, ...options }: Omit<SubmitOptions, "db" | "mode">,
): string {
  return JSON.stringify([tenant, job_type, parameters, options]);
}

/** How many of those that wait travel together. */
function fitting(waiting: Waiting[]): number {
  let bytes = 0;
  const over = waiting.findIndex((one, at) => {
    bytes += one.bytes;
    return at === MOST_TOGETHER || (at > 0 && bytes > MOST_BYTES);
  });
  return over === -1 ? waiting.length : over;
}

function existing(reply: SubmitReply): SubmitReply {
  return { ...reply, created: false };
}

async function submitTogether({ engine, job_type }: Group, together: Waiting[]): Promise<void> {
  try {
    const replies = await engine.submitMany(
      job_type,
      together.map(({ item }) => item),
    );
    for (const [at, { resolve }] of together.entries()) resolve(replies[at]!);
  } catch (error) {
    if (together.length === 1) together[0]!.reject(error);
    else await submitEach({ engine, job_type }, together);
  }
}

/** One of them is at fault: each gets the answer it would have had alone. They are repeatable: a job that exists stays one. */
async function submitEach(
  { engine, job_type }: Pick<Group, "engine" | "job_type">,
  together: Waiting[],
): Promise<void> {
  let over: OverLimit | null = null;
  for (const { item, resolve, reject } of together) {
    if (over !== null) {
      // Those behind would only be refused as well, one call each: every submit takes of this limit, also one that makes nothing.
      reject(over);
      continue;
    }
    const { parameters, ...options } = item;
    await engine.submit(job_type, parameters, options).then(resolve, (error: unknown) => {
      if (error instanceof OverLimit && isOfSubmits(error)) over = error;
      reject(error);
    });
  }
}

/** Not of the tasks that are queued: a job that exists adds none, and a smaller one may still fit. */
function isOfSubmits({ problems }: OverLimit): boolean {
  return problems.some(({ path }) => path === "limits.submits_per_s");
}
