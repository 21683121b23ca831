// The figures of the database as signs: what each means, when it is worth a look, and what to do then. Pure.

import { bytes, count, seconds } from "../../../../src/core/shown/figures.js";
import type { Reply } from "../../api/call.js";

export type Vitals = Reply<"vitals.read">;
export type Database = NonNullable<Vitals["database"]>;
export type Sample = Vitals["history"][number];

export type Level = "ok" | "warn" | "fail";

export interface Sign {
  id: string;
  title: string;
  value: string;
  level: Level;
  /** What it means, and from when it is not well. */
  means: string;
  /** What to do; only when it is not well. */
  fix?: string;
  history: number[];
}

const levelOf = (value: number, warn: number, fail: number): Level =>
  value >= fail ? "fail" : value >= warn ? "warn" : "ok";

/** Table rows that wait for vacuum are a problem where they are many, and many of all there are. */
export function deadShare({ tables }: Database): { table: string; dead: number; share: number } | null {
  const [worst] = tables
    .filter(({ dead }) => dead > 10_000)
    .map(({ table, dead, live }) => ({ table, dead, share: dead / Math.max(1, dead + live) }))
    .sort((a, b) => b.dead * b.share - a.dead * a.share);
  return worst ?? null;
}

/** How much a figure that only grows has grown from one look to the next; a restart of the server begins anew. */
export function growth(values: readonly number[]): number[] {
  return values.slice(1).map((value, at) => Math.max(0, value - values[at]!));
}

export function signsOf({ database, history, claims_per_s }: Vitals): Sign[] {
  if (database === null) return [];
  const of = (figure: (sample: Sample) => number) => history.map(figure);
  const used = database.connections / Math.max(1, database.connection_limit);
  const worst = deadShare(database);
  const deadlocks = growth([...of(({ deadlocks: n }) => n), database.deadlocks]);
  const lately = deadlocks.reduce((sum, n) => sum + n, 0);
  return [
    sign("connections", "Connections", `${count(database.connections)} of ${count(database.connection_limit)}`, {
      level: levelOf(used, 0.8, 0.95),
      means:
        "Sessions of this database, of the server's max_connections. From 80 % on new workers and servers may be refused.",
      fix: "Give workers and servers fewer connections, or raise max_connections.",
      history: of(({ connections }) => connections),
    }),
    sign("transaction", "Oldest transaction", seconds(Math.max(0, database.oldest_transaction_s)), {
      level: levelOf(database.oldest_transaction_s, 300, 3600),
      means: "How long the longest open transaction has been open. From 5 minutes on it keeps vacuum from its work.",
      fix: "Find it with: select pid, state, query from pg_stat_activity order by xact_start nulls last limit 1. End it with pg_terminate_backend(pid).",
      history: of(({ oldest_transaction_s }) => Math.max(0, oldest_transaction_s)),
    }),
    sign("xmin", "Oldest snapshot", `${count(database.oldest_xmin_age)} transactions back`, {
      level: levelOf(database.oldest_xmin_age, 1_000_000, 100_000_000),
      means:
        "What was deleted since then cannot be removed. A forgotten replication slot or prepared transaction holds it as well as a session. From a million on tables grow.",
      fix: "Look at pg_stat_activity, pg_replication_slots and pg_prepared_xacts for the oldest xmin.",
      history: of(({ oldest_xmin_age }) => oldest_xmin_age),
    }),
    sign("dead", "Rows to vacuum", count(database.dead_tuples), {
      level:
        worst === null
          ? "ok"
          : worst.share > 0.8 && worst.dead > 1_000_000
            ? "fail"
            : worst.share > 0.5
              ? "warn"
              : "ok",
      means:
        worst === null
          ? "Row versions that are no longer needed, which vacuum removes. More than half of a table of more than 10,000 is worth a look."
          : `Most are in ${worst.table}: ${count(worst.dead)}, ${Math.round(worst.share * 100)} % of its rows. More than half is worth a look.`,
      fix: `Is autovacuum on, and does an old snapshot hold it back? By hand: vacuum app.${worst?.table ?? "ready"}`,
      history: of(({ dead_tuples }) => dead_tuples),
    }),
    sign("locks", "Locks waited for", count(database.locks_waiting), {
      level: levelOf(database.locks_waiting, 5, 50),
      means: "Sessions that wait for another. A few for a moment are usual; from 5 on something holds many up.",
      fix: "See who blocks whom: select pid, pg_blocking_pids(pid), query from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0.",
      history: of(({ locks_waiting }) => locks_waiting),
    }),
    sign("deadlocks", "Deadlocks", lately === 0 ? "none in this time" : `${count(lately)} in this time`, {
      level: lately === 0 ? "ok" : "warn",
      means: `Since the statistics began: ${count(database.deadlocks)}. Fanfold's own statements lock in one order and make none.`,
      fix: "The server's log names the statements. If both are of app.…, that is a bug of ours.",
      history: deadlocks,
    }),
    sign("size", "Size on disk", bytes(database.size_bytes), {
      level: "ok",
      means: "Of the whole database, with indexes. Results over 1 MB are in storage, not here.",
      history: of(({ size_bytes }) => size_bytes),
    }),
    sign(
      "claims",
      "Tasks taken",
      claims_per_s === null
        ? "not known yet"
        : `${claims_per_s < 10 ? claims_per_s.toFixed(1) : count(Math.round(claims_per_s))}/s`,
      {
        level: "ok",
        means: "By all workers on the database together, as they tell with their heartbeats.",
        history: growth(of(({ claimed }) => claimed)),
      },
    ),
  ];
}

function sign(
  id: string,
  title: string,
  value: string,
  rest: Omit<Sign, "id" | "title" | "value" | "fix"> & { fix?: string },
): Sign {
  const { fix, ...told } = rest;
  return { id, title, value, ...told, ...(rest.level === "ok" || fix === undefined ? {} : { fix }) };
}
