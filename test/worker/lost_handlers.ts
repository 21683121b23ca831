// Handlers in a process of their own for lost_connection.test.ts, and what they do in the worker's.
import { existsSync } from "node:fs";
import { defineHandler } from "../../src/core/declare/declare.js";
import type { TaskContext } from "../../src/core/task/context.js";

const here = { isolation: "process", module: import.meta.url } as const;

/** Sits in a statement until the file is there: long enough for its connection to be ended. */
export async function sitsInStatement({ until }: { until: string }, ctx: TaskContext): Promise<void> {
  await ctx.db((session) => session.sql`select pg_sleep(${existsSync(until) ? 0 : 20})`);
}

export const returnsMuch = () => "x".repeat(1_100_000);

export const isolated_sits = defineHandler("isolated_sits", { ...here, database: true }, sitsInStatement as never);
export const isolated_large = defineHandler("isolated_large", here, returnsMuch);
