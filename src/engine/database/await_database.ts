// A database that is away when a process starts: it may start a moment later, or be about to answer under its name. Refusals that
// time does not lift (a password, the name of a database) are told at once.
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseError } from "./database.js";

export interface DatabaseWait {
  /** How long it is waited for, in all. */
  seconds: number;
  /** Told at first, and again now and then. */
  tell(why: string, left_s: number): void;
}

const TELL_MS = 10_000;
const LONGEST_PAUSE_MS = 2_000;

/** Does `work` until it meets a database. `work` may begin something that it undoes when it fails. */
export type Patience = <T>(work: () => Promise<T>) => Promise<T>;

/** For all steps of one start together. */
export function patienceFor({ seconds, tell }: DatabaseWait): Patience {
  const until = performance.now() + seconds * 1000;
  let told_at = Number.NEGATIVE_INFINITY;
  return async (work) => {
    for (let pause_ms = 200; ; pause_ms = Math.min(pause_ms * 1.5, LONGEST_PAUSE_MS)) {
      try {
        return await work();
      } catch (error) {
        const now = performance.now();
        if (!isAway(error) || now >= until) throw error;
        if (now - told_at >= TELL_MS) {
          told_at = now;
          tell(error.message, Math.ceil((until - now) / 1000));
        }
        await sleep(Math.min(pause_ms, until - now));
      }
    }
  };
}

/** Out of reach, full, or still starting. Not 08003, which is a pool that we closed ourselves. */
function isAway(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && /^(08(?!003)...|57P0.|53300)$/.test(error.code);
}
