// Where bytes are lost the answer to one statement may be taken for that of another: whatever does not look like an answer to what was
// asked is a connection that was lost, and nothing is concluded from it.
import pino from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import { type Database, statementText } from "../../src/engine/database/database.js";
import { isConnectionLost } from "../../src/engine/database/lost_connection.js";
import { Scheduler } from "../../src/engine/upkeep/scheduler.js";
import { asked, replied } from "../../src/engine/verbs/reply.js";
import { engineOn } from "./scheduling.js";

test.each([
  ["rows of another statement", [{ refused: [] }]],
  ["no row at all", []],
])("a verb that is answered with %s has lost its connection", async (_, rows) => {
  for (const answer of [replied, asked]) {
    const error = await answer(Promise.resolve(rows)).catch((thrown: unknown) => thrown);
    expect([error, isConnectionLost(error)]).toEqual([expect.objectContaining({ code: "08007" }), true]);
  }
  expect(await replied(Promise.resolve([{ reply: null }]))).toBeNull();
});

test("a scheduler does not take another statement's answer for the word that it may not submit", async () => {
  const lines: { msg: string; err?: { code: string } }[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const sql = async (strings: TemplateStringsArray) =>
    statementText(strings).includes("start_due_jobs") ? [{ reply: { started: 0, wait_s: null } }] : [{ refused: [] }];
  const db = { sql } as unknown as Database;
  const scheduler = new Scheduler({ engine: engineOn(db), db, log }).start();
  onTestFinished(() => scheduler.stop());
  await vi.waitFor(() => expect(lines).toHaveLength(1));
  expect(lines).toMatchObject([{ msg: "a round of the scheduler failed", err: { code: "08007" } }]);
});
