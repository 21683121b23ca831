// Sends to the database until it has answered or refused what it was sent. What may or may not have committed is sent again.
import { setTimeout as sleep } from "node:timers/promises";
import type { Registration } from "../life/registration.js";
import { sendTrouble, waitBeforeTry } from "./trouble.js";

/** `refusal`: the error that says that the database will never take it; held: not while somebody's transaction is open. */
export type Undelivered = { refusal: unknown } | "held";

/** A connection can fall silent while heartbeats, on theirs, are answered: no other worker would ever get these tasks. */
export async function answered<T>(parts: Registration, what: string, sent: Promise<T>, extra_ms = 0): Promise<T> {
  const timer = setTimeout(() => parts.onSilent(what), parts.lease.lease_ms + extra_ms);
  try {
    return await sent;
  } finally {
    clearTimeout(timer);
  }
}

export class Courier {
  constructor(private readonly parts: Registration) {}

  /** Null when the lease ended first. */
  async persist<T>(what: string, tasks: number, send: () => Promise<T>): Promise<{ reply: T } | Undelivered | null> {
    const { parts } = this;
    let odd_since: number | null = null;
    for (let tries = 1; !parts.lease.over(); tries++) {
      try {
        return { reply: await answered(parts, what, send()) };
      } catch (error) {
        const trouble = sendTrouble(error);
        if (trouble === "content") return { refusal: error };
        if (trouble === "held") return "held";
        if (trouble === "stale") parts.onStale();
        parts.log.warn({ err: error, what, tasks, tries }, "not delivered, trying again");
        if (trouble === "other") {
          // Heartbeats may go on being answered, and no other worker would ever get these tasks.
          odd_since ??= performance.now();
          if (performance.now() - odd_since >= parts.lease.lease_ms) parts.onStale(`the database takes no ${what}`);
        }
        await sleep(waitBeforeTry(tries), undefined, { signal: parts.lease.ended }).catch(() => {});
      }
    }
    return null;
  }
}
