// How the service is, in figures, for its operators: what app.read_metrics measures now, and how the database was in the last minutes.
import type { ReplyOf } from "../../core/api/endpoint.js";
import type { vitals_api } from "../../core/api/vitals.js";
import { readCounts } from "../../core/task/work_counts.js";
import type { Database } from "../database/database.js";
import { type Measured, readMetrics } from "./metrics.js";
import { asked } from "./reply.js";

type VitalSample = ReplyOf<typeof vitals_api.read>["history"][number];

export async function readVitals(db: Database, minutes: number) {
  const measured = await readMetrics(db);
  const samples = await asked<{ at: string; vitals: Omit<VitalSample, "at"> }[]>(
    db.sql`select app.list_vitals(${minutes}::integer) as reply`,
  );
  const history = samples.map(({ at, vitals }) => ({ at, ...vitals }));
  return {
    database: databaseVitals(db, measured),
    jobs: measured.jobs,
    workers: measured.workers,
    tenants: measured.queue.tenants.map(([tenant_id, due, later, oldest_s, running]) => {
      return { tenant_id, due, later, oldest_s, running };
    }),
    claims_per_s: claimsPerSecond(measured, history, Date.now()),
    history,
  };
}

function databaseVitals({ kind }: Database, { database }: Measured) {
  if (database === null) return null;
  const tables = database.tables.map(([table, dead, live]) => ({ table, dead, live }));
  return { ...database, kind, tables, dead_tuples: tables.reduce((sum, { dead }) => sum + dead, 0) };
}

/** Workers tell what they claimed with their heartbeats, so over less than half a minute this says nothing. */
function claimsPerSecond({ work }: Measured, history: readonly VitalSample[], now: number): number | null {
  const claimed = Object.values(work).reduce((sum, counts) => sum + readCounts(counts).claimed, 0);
  const before = history.findLast(({ at }) => now - Date.parse(at) >= 30_000);
  if (before === undefined) return null;
  return Math.max(0, claimed - before.claimed) / ((now - Date.parse(before.at)) / 1000);
}
