// What is measured in the database, for the server's role. One statement with a time limit: a database that is in trouble must
// not be troubled further by those who watch it.
import type { Database } from "../database/database.js";
import { asked } from "./reply.js";

/** What waits and runs of one task type or tenant: [name, due, later, age of the oldest that is due, running]. */
export type MeasuredQueue = [name: string, due: number, later: number, oldest_s: number, running: number];

export interface Measured {
  queue: { task_types: MeasuredQueue[]; tenants: MeasuredQueue[] };
  jobs: { queued: number; processing: number; paused: number };
  /** By task type; see core/task/work_counts.ts. */
  work: Record<string, number[]>;
  tallies: [name: string, label: string, amount: number][];
  workers: { live: number; slots: number; busy: number; silent: number };
  janitor: {
    last_run_at: string | null;
    last_success_at: string | null;
    last_error: string | null;
    age_s: number | null;
  };
  parts: {
    /** Deliveries that are on their way, and by how much the most overdue is late. */
    webhooks?: { pending: number; oldest_s: number };
    /** How long ago the tick was due that is longest overdue. */
    schedules?: { enabled: number; lag_s: number };
  };
  database: {
    size_bytes: number;
    connections: number;
    connection_limit: number;
    commits: number;
    rollbacks: number;
    deadlocks: number;
    locks_waiting: number;
    stats_visible: boolean;
    oldest_xmin_age: number;
    oldest_transaction_s: number;
    tables: [table: string, dead: number, live: number][];
  } | null;
}

const LONGEST_MS = 5_000;

export function readMetrics(db: Database): Promise<Measured> {
  return db.transaction(async (tx) => {
    await tx.sql`select set_config('statement_timeout', ${String(LONGEST_MS)}::text, true)`;
    return asked<Measured>(tx.sql`select app.read_metrics() as reply`);
  });
}
