// What a failed call to the database means for what was being sent. Decided by SQLSTATE only. Pure but for the jitter.

/**
 * connection: send it again, the lease sets the limit; stale: this worker is no longer known; content: the database will
 * never take it as it is; held: somebody's open transaction has a row of it; other: it may pass (a deadlock, a time-out) or
 * last (a missing function, a missing right).
 */
export type Trouble = "connection" | "stale" | "content" | "held" | "other";

export function sendTrouble(error: unknown): Trouble {
  const state = (error as { code?: unknown } | null)?.code;
  if (typeof state !== "string") return "other";
  if (state === "FF007") return "stale";
  if (state.startsWith("08")) return "connection";
  if (state === "55P03") return "held";
  // 22: data exception, 23: integrity, 54: program limit exceeded; FF: a verb refused the content.
  return /^(22|23|54)[0-9A-Z]{3}$|^FF00[2346]$/.test(state) ? "content" : "other";
}

/** Full jitter, in milliseconds: at least 50, at most 3050. */
export function waitBeforeTry(tries: number): number {
  return 50 + Math.random() * Math.min(3000, 100 * 2 ** Math.min(tries, 10));
}
