// Lets history go that no rule keeps any longer, step by step: each step is one short transaction, and rests follow it, so that claims and
// submits have nearly all of the database's time. One process of all does it at a time; the database says whose turn it is.
import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Queryable } from "../database/database.js";
import { asked } from "../verbs/reply.js";

/** A step has at most one part in so many of the time. */
const SHARE = 25;
const LEAST_REST_MS = 50;
/** When there is nothing to do, or another process does it. */
const IDLE_MS = 60_000;

interface Step {
  /** Jobs, tasks, events and so on that went. */
  removed: number;
  /** Rows of jobs that are gone already. */
  rows: number;
  more: boolean;
}

export interface RetentionParts {
  db: Queryable;
  log: Logger;
  /** How long the first step waits at most. */
  idle_ms?: number;
}

export class Retention {
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #running: Promise<unknown> = Promise.resolve();
  readonly #run = randomUUID();

  constructor(private readonly parts: RetentionParts) {}

  start(): void {
    // Processes that started together do not come together for ever.
    this.#after((this.parts.idle_ms ?? IDLE_MS) * Math.random());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** All that is due, without rests: for a person who waits. */
  static async now(
    db: Queryable,
    on_step: (step: Step) => void = () => {},
  ): Promise<{ removed: number; rows: number }> {
    await db.sql`select app.retire_again()`;
    const done = { removed: 0, rows: 0 };
    for (let more = true; more; ) {
      const step = await retire(db, null);
      done.removed += step.removed;
      done.rows += step.rows;
      ({ more } = step);
      on_step(step);
    }
    return done;
  }

  #after(ms: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#step();
    }, ms);
    this.#timer.unref();
  }

  async #step(): Promise<void> {
    const { db, log, idle_ms = IDLE_MS } = this.parts;
    const began = performance.now();
    let more = false;
    try {
      ({ more } = await retire(db, this.#run));
    } catch (error) {
      if (!this.#stopped) log.warn({ err: error }, "history could not be looked through");
    }
    const took_ms = performance.now() - began;
    this.#after(more ? Math.max(LEAST_REST_MS, took_ms * SHARE) : idle_ms * (0.75 + Math.random() * 0.5));
  }
}

function retire(db: Queryable, run: string | null): Promise<Step> {
  return asked<Step>(db.sql`select app.retire(${run}::text::uuid) as reply`);
}
