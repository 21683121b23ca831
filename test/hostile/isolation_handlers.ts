// Handlers in processes of their own that mean harm. The tests register them from here, and the child processes import them.
import {
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { serialize } from "node:v8";
import { defineHandler } from "../../src/core/declare/declare.js";
import type { SqlSession, TaskContext } from "../../src/core/task/context.js";

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

/** What it can reach of the worker and of the machine. */
export const spies = defineHandler("spies", here, async ({ worker, kept, store, other }, ctx) => {
  const scratch = await ctx.scratch();
  writeFileSync(`${scratch}/own.txt`, "mine");
  const ways: Record<string, () => unknown> = {
    environ: () => readFileSync(`/proc/${worker}/environ`, "latin1"),
    parent: () => readFileSync(`/proc/${process.ppid}/environ`, "latin1"),
    thread: () => readFileSync(`/proc/${worker}/task/${worker}/environ`, "latin1"),
    memory: () => openSync(`/proc/${worker}/mem`, "r"),
    descriptors: () => readlinkSync(`/proc/${worker}/fd/0`),
    folder: () => readdirSync(`/proc/${worker}/cwd/`),
    kill: () => process.kill(worker, 0),
    kept: () => readFileSync(kept, "utf8"),
    store: () => readdirSync(store),
    other_scratch: () => readdirSync(other),
    beside: () => readdirSync(dirname(scratch)),
    root_file: () => writeFileSync("/etc/fanfold-was-here", ""),
  };
  const answers: Record<string, unknown> = { uid: process.getuid?.(), groups: process.getgroups?.() };
  for (const [way, attempt] of Object.entries(ways)) {
    try {
      answers[way] = attempt();
    } catch (error) {
      answers[way] = (error as NodeJS.ErrnoException).code;
    }
  }
  const stored = await ctx.storage.put("spied", "x".repeat(2_500_000));
  const read = await ctx.storage.get(stored);
  return { ...answers, stored: stored.bytes, read: read.length, owner: statSync(`${scratch}/own.txt`).uid };
});

/** Swaps what it publishes for a link to something else, again and again, while the worker looks at it. */
export const swaps = defineHandler("swaps", here, async ({ kept }, ctx) => {
  const scratch = await ctx.scratch();
  const place = { zone: "silver", prefix: "loot", name: "x", media_type: "text/plain" } as const;
  mkdirSync(`${scratch}/real`);
  writeFileSync(`${scratch}/real/secret.txt`, "harmless");
  symlinkSync(dirname(kept), `${scratch}/away`);
  const answers: string[] = [];
  for (const folder of ["away", "real"]) {
    const path = `${scratch}/${folder}/secret.txt`;
    answers.push(await ctx.zones.publish(path, place).then(({ sha256 }) => sha256, said));
  }
  try {
    linkSync(kept, `${scratch}/second.txt`);
  } catch {
    // Where the system lets nobody give a second name to a file of others.
  }
  answers.push(await ctx.zones.publish(`${scratch}/second.txt`, place).then(({ sha256 }) => sha256, said));
  const down = await ctx.zones.download({ zone: "bronze", key: "in.txt" }, `${scratch}/real/in.txt`);
  return { answers, down, content: readFileSync(`${scratch}/real/in.txt`, "utf8"), left: readdirSync(scratch).sort() };
});
