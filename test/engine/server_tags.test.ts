// Verbs share a connection and are answered in order; whatever the driver does not take for a verb waits until the one before it has
// been answered. Claims and finishes must never wait so for each other.
import { expect, test } from "vitest";
import { statementText } from "../../src/engine/database/database.js";
import { isVerb } from "../../src/engine/database/server_tags.js";
import { worker_commands } from "../../src/engine/work/commands.js";

/** The statement that a command sends. */
async function textOf(send: (db: never) => Promise<unknown>): Promise<string> {
  const texts: string[] = [];
  const db = {
    sql: async (strings: TemplateStringsArray) => {
      texts.push(statementText(strings));
      return [{ reply: null }];
    },
  };
  await send(db as never).catch(() => {});
  expect(texts).toHaveLength(1);
  return texts[0]!;
}

const worker_id = "00000000-0000-0000-0000-000000000000";
const done = { claims: [], ordinals: [], durations: [], results: [] };
const plan = { worker_id, claim_id: 1, from: 0, tasks: "[]", total: 0, task_bytes: 0, plan_hash: null };

test.each([
  ["claim", (db: never) => worker_commands.claim(db, { worker_id } as never)],
  ["finish", (db: never) => worker_commands.finish(db, { worker_id, claims: "[]", done, failed: "[]" } as never)],
  ["release", (db: never) => worker_commands.release(db, { worker_id, items: [] })],
  ["heartbeat", (db: never) => worker_commands.heartbeat(db, { worker_id, running: [], claims: [] })],
  ["plan_stage", (db: never) => worker_commands.plan_stage(db, plan)],
  ["plan_tasks", (db: never) => worker_commands.plan_tasks(db, plan)],
  ["plan_done", (db: never) => worker_commands.plan_done(db, plan)],
])("%s is a verb, and may be sent while another is under way", async (_, send) => {
  expect(isVerb(await textOf(send))).toBe(true);
});

test("statements of other shapes go alone", () => {
  expect(isVerb("select 1 as reply")).toBe(false);
  expect(isVerb("select set_config('lock_timeout', '1s', false), app.finish() as reply")).toBe(false);
  expect(isVerb("select app.finish() as reply, 2 as other")).toBe(false);
});
