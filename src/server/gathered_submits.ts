// Submits of one tenant and type that come while others are on their way travel together: one transaction for many costs the
// database a fraction of one for each. Nothing waits for company: the first goes at once, and what comes meanwhile gathers.
import { OverLimit } from "../core/errors.js";
import type { Engine } from "../engine/engine.js";
import type { SubmitItem, SubmitOptions, SubmitReply } from "../engine/records.js";
import { isTracing } from "../engine/tracing.js";

type Item = SubmitItem<Record<string, unknown>>;

interface Waiting {
  item: Item;
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
type InTurn = <T>(tenant: string, work: () => Promise<T>) => Promise<T>;

/** Two, so that one is prepared while the other is committed. */
const MOST_UNDER_WAY = 2;
const MOST_TOGETHER = 100;

export class GatheredSubmits {
  readonly #groups = new Map<string, Group>();
  readonly #inTurn: InTurn;

  constructor(inTurn: InTurn = (_tenant, work) => work()) {
    this.#inTurn = inTurn;
  }

  submit(
    engine: Engine,
    job_type: string,
    parameters: Record<string, unknown>,
    { mode = "reuse", ...options }: Omit<SubmitOptions, "db">,
  ): Promise<SubmitReply> {
    // A new run must not be made twice when an answer was lost, and a span belongs to one call.
    if (mode !== "reuse" || isTracing()) {
      return this.#inTurn(engine.tenant, () => engine.submit(job_type, parameters, { mode, ...options }));
    }
    const key = `${engine.tenant} ${job_type}`;
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { engine, job_type, waiting: [], under_way: 0 };
      this.#groups.set(key, group);
    }
    const { waiting } = group;
    const answered = new Promise<SubmitReply>((resolve, reject) => {
      waiting.push({ item: { parameters, ...options }, resolve, reject });
    });
    this.#send(key, group);
    return answered;
  }

  #send(key: string, group: Group): void {
    if (group.under_way >= MOST_UNDER_WAY) return;
    const together = group.waiting.splice(0, MOST_TOGETHER);
    if (together.length === 0) {
      if (group.under_way === 0) this.#groups.delete(key);
      return;
    }
    group.under_way++;
    // Refused before its turn came, none of them has been sent.
    const refused = (error: unknown) => {
      for (const { reject } of together) reject(error);
    };
    void this.#inTurn(group.engine.tenant, () => submitTogether(group, together))
      .catch(refused)
      .finally(() => {
        group.under_way--;
        this.#send(key, group);
      });
  }
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
