// Handlers in processes of their own that mean harm. The tests register them from here, and the child processes import them.
import { writeSync } from "node:fs";
import { serialize } from "node:v8";
import type { SqlSession, TaskContext } from "../../src/core/context.js";
import { defineHandler } from "../../src/core/declare.js";

export const here = { isolation: "process", module: import.meta.url, memory_mb: 512 } as const;

const asTemplate = (text: string) => Object.assign([text], { raw: [text] }) as unknown as TemplateStringsArray;

const said = (error: Error & { code?: string }) => `${error.code}: ${error.message}`;

/** Each way is a transaction of its own; gives the rows of its last statement, or what it was refused with. */
async function tryAll(ctx: TaskContext, ways: Record<string, string[]>): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const [name, statements] of Object.entries(ways)) {
    const all = async (session: SqlSession) => {
      let rows: unknown[] = [];
      for (const text of statements) rows = await session.sql(asTemplate(text));
      return rows;
    };
    answers[name] = await ctx.db(all).catch(said);
  }
  return answers;
}

export const says_sql = defineHandler("says_sql", { ...here, database: true }, ({ ways }, ctx) => tryAll(ctx, ways));

export const records_sql = defineHandler("records_sql", { ...here, database: true }, async ({ statements }, ctx) => {
  for (const text of statements) await ctx.db((session) => session.sql(asTemplate(text)), { with_finish: true });
});

/** Writes to the channel by itself, as code would that has taken over the process. */
function sendRaw(message: unknown): void {
  const body = serialize(message);
  const head = Buffer.alloc(8);
  head.writeUInt32LE(0x464f4c44, 0);
  head.writeUInt32LE(body.length, 4);
  writeSync(3, Buffer.concat([head, body]));
}

/** It has not asked for the database in its declaration: neither ctx nor the channel gives it one. */
export const has_no_database = defineHandler("has_no_database", here, async (_, ctx) => {
  const now = await ctx.db((session) => session.sql`select 1`).catch(said);
  const later = await ctx.db((session) => session.sql`select 1`, { with_finish: true }).catch(said);
  const insert = { strings: ["insert into public.loot values ('raw')"], values: [] };
  for (let run = 1; run <= 3; run++) {
    const calls = [{ what: "begin" }, { what: "sql", ...insert }, { what: "commit" }];
    for (const [at, call] of calls.entries()) sendRaw({ t: "call", run, id: 1e9 + at, call });
    sendRaw({ t: "call", run, id: 1e9 + 9, call: { what: "record", statements: [insert] } });
  }
  return { now, later };
});
