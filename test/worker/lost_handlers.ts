// Handlers in a process of their own for lost_connection.test.ts, and what they do in the worker's.

import type { TaskContext } from "../../src/core/context.js";
import { defineHandler } from "../../src/core/declare.js";

const here = { isolation: "process", module: import.meta.url } as const;

/** Ends its own connection, as a restart of the database would, until it was handed back twice. */
export async function endsItsConnection(_: unknown, ctx: TaskContext): Promise<void> {
  await ctx.db(async (session) => {
    const [row] = await session.sql<{ n: number }>`select count(*)::integer as n from app.attempts`;
    if (row!.n < 2) await session.sql`select pg_terminate_backend(pg_backend_pid())`;
  });
}

export const returnsMuch = () => "x".repeat(1_100_000);

export const isolated_ends = defineHandler("isolated_ends", here, endsItsConnection);
export const isolated_large = defineHandler("isolated_large", here, returnsMuch);
