// When the database itself, or the way to it, is in trouble: nobody's task is to blame, and nobody's attempt is spent. Told by
// SQLSTATE and by class: a database that a handler calls by itself is not ours. Pure.
import { classify } from "../../core/errors/errors.js";
import { type Failure, readProperty } from "../../core/errors/failures.js";
import { DatabaseError } from "./database.js";

/**
 * The connection failed (08, but not 08003: that is a pool that we closed ourselves), the server is going down or coming up (57P0x),
 * has no connection left (53300), or is read-only because another one has taken over (25006).
 */
const lost = /^(08(?!003)...|57P0.|53300|25006)$/;

export function isConnectionLost(error: unknown): boolean {
  const state = (error as { code?: unknown } | null)?.code;
  return typeof state === "string" && lost.test(state);
}

/** The error, or what it wraps, is of a connection of ours that was lost. */
export function isOwnTrouble(error: unknown): boolean {
  let cause = error;
  for (let level = 0; level < 5 && cause !== undefined && cause !== null; level++) {
    if (cause instanceof DatabaseError) return isConnectionLost(cause);
    cause = readProperty(cause, "cause");
  }
  return false;
}

/** A failure as SQL is told it: `engine` costs its task nothing. */
export type ToldFailure = Omit<Failure, "category"> & { category: Failure["category"] | "engine" };

export function toldFailure(error: unknown): ToldFailure {
  const failure = classify(error);
  return isOwnTrouble(error) ? { ...failure, category: "engine" } : failure;
}
