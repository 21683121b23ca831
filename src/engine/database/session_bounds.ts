// What one session of ours may take before Postgres ends it: one line for each kind of connection, told to Postgres as the connection
// starts. docs/bounds.md shows the table, and a test holds the two together. What a role has of its own (app.role_bounds) holds where
// a pooler in between takes no such settings. Pure.

export interface SessionBounds {
  /** A statement that takes longer is given up by the server (57014); 0: none is. */
  statement_timeout_s: number;
  /** Nobody waits longer for a lock (55P03). */
  lock_timeout_s: number;
  /** A transaction in which nothing happens for so long is ended with its connection, and lets go of its locks. */
  idle_in_transaction_s: number;
  work_mem_mb: number;
}

export const session_bounds = {
  /** The engine's own pool; `fanfold serve` and `fanfold up` give a statement 30 s, because the caller has given up by then. */
  call: { statement_timeout_s: 300, lock_timeout_s: 20, idle_in_transaction_s: 60, work_mem_mb: 16 },
  /** Claims, finishes, and the duties of a worker. */
  work: { statement_timeout_s: 60, lock_timeout_s: 20, idle_in_transaction_s: 60, work_mem_mb: 16 },
  /** Stages of up to ten million tasks are planned in one statement. */
  plan: { statement_timeout_s: 300, lock_timeout_s: 20, idle_in_transaction_s: 60, work_mem_mb: 16 },
  heartbeat: { statement_timeout_s: 20, lock_timeout_s: 10, idle_in_transaction_s: 60, work_mem_mb: 4 },
  /** What handlers do with `ctx.db`: as long as a task may take unless it says otherwise. */
  burst: { statement_timeout_s: 1_800, lock_timeout_s: 60, idle_in_transaction_s: 300, work_mem_mb: 16 },
  /** What handlers in processes of their own do with it: they are not to be trusted with a connection for long. */
  handler: { statement_timeout_s: 30, lock_timeout_s: 5, idle_in_transaction_s: 60, work_mem_mb: 16 },
  /** The duties of a server without a worker. */
  janitor: { statement_timeout_s: 60, lock_timeout_s: 10, idle_in_transaction_s: 60, work_mem_mb: 16 },
  /** A migration takes the time it needs; it waits for locks in short turns of its own. */
  migrate: { statement_timeout_s: 0, lock_timeout_s: 5, idle_in_transaction_s: 300, work_mem_mb: 64 },
} as const satisfies Record<string, SessionBounds>;

/** Returns the bounds of a connection by its name; one that is not in the table is held to what works. */
export function boundsOf(name: string): SessionBounds {
  return Object.hasOwn(session_bounds, name)
    ? session_bounds[name as keyof typeof session_bounds]
    : session_bounds.work;
}

/** As Postgres is told: only what is given. */
export function startupSettings(bounds: { [K in keyof SessionBounds]?: number | undefined }): Record<string, string> {
  const given: [string, number | undefined, string][] = [
    ["statement_timeout", bounds.statement_timeout_s, "s"],
    ["lock_timeout", bounds.lock_timeout_s, "s"],
    ["idle_in_transaction_session_timeout", bounds.idle_in_transaction_s, "s"],
    ["work_mem", bounds.work_mem_mb, "MB"],
  ];
  return Object.fromEntries(
    given.flatMap(([name, value, unit]) =>
      value === undefined ? [] : [[name, unit === "s" ? `${Math.round(value * 1000)}ms` : `${value}${unit}`]],
    ),
  );
}
