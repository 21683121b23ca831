// The words of a next step: as a command, as a call, and at the end of a sentence; and that every step the database names has words.
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { fromSqlError } from "../../src/core/errors/errors.js";
import { type Action, asCall, asCallIfAny, asCommand, sentence } from "../../src/core/shown/action.js";

const job_id = "3f2a9c".padEnd(64, "0");

test.each<[Action, command: string, call: string | null]>([
  [{ verb: "resume", job_id }, "fanfold resume 3f2a9c000000", "POST /api/jobs/3f2a9c000000/resume"],
  [{ verb: "watch", job_id: "ab12cd" }, "fanfold watch ab12cd", "GET /api/jobs/status/ab12cd"],
  [
    { verb: "retry_stage", job_id: "ab12", stage: "cog" },
    "fanfold retry ab12 --stage cog",
    "POST /api/jobs/retry-stage/ab12/cog",
  ],
  [
    { verb: "retry_group", job_id: "ab12", signature: "5be0a1" },
    "fanfold retry ab12 --group 5be0a1",
    'POST /api/jobs/ab12/retry-group {"signature": "5be0a1"}',
  ],
  [{ verb: "approve", job_id: "ab12" }, "fanfold approve ab12", "POST /api/jobs/ab12/approve"],
  [
    { verb: "approve", job_id: "ab12", stage: "publish" },
    "fanfold approve ab12 --stage publish",
    'POST /api/jobs/ab12/approve {"stage": "publish"}',
  ],
  [
    { verb: "continue_type", task_type: "raster.cog" },
    "fanfold continue --type raster.cog",
    "POST /api/task-types/raster.cog/continue",
  ],
  [{ verb: "tasks.retry", task_id: "12-0" }, "fanfold retry --task 12-0", "POST /api/tasks/12-0/retry"],
  [
    { verb: "tasks.reschedule", task_id: "12-0", run_at: "2030-01-01T00:00:00Z" },
    "fanfold tasks reschedule 12-0 2030-01-01T00:00:00Z",
    'POST /api/tasks/12-0/reschedule {"run_at": "2030-01-01T00:00:00Z"}',
  ],
  [
    { verb: "tasks.skip", task_id: "12-0", reason: "…" },
    'fanfold skip 12-0 --reason "…"',
    'POST /api/tasks/12-0/skip {"reason": "…"}',
  ],
  [{ verb: "groups.seal", group_id: "valleys" }, "fanfold groups seal valleys", "POST /api/groups/valleys/seal"],
  [
    { verb: "webhooks.enable", endpoint_id: "we_1" },
    "fanfold webhooks enable we_1",
    'PATCH /api/webhooks/we_1 {"enabled": true}',
  ],
  [{ verb: "schedules.list" }, "fanfold schedules", "GET /api/schedules"],
  [{ verb: "up", memory: 4096 }, "fanfold up --memory 4096", null],
  [{ verb: "some.later_verb" }, "fanfold some later_verb", null],
])("%j is %j on the command line and %j over HTTP", (action, command, call) => {
  expect([asCommand(action), asCall(action)]).toEqual([command, call]);
});

test("what is not known yet keeps its place, as a command and a path each write it", () => {
  const action = { verb: "retry_stage", job_id: "ab12" };
  expect(asCommand(action)).toBe("fanfold retry ab12 --stage <stage>");
  expect(asCall(action)).toBe("POST /api/jobs/retry-stage/ab12/{stage}");
});

test("a sentence ends in the words of its reader, and alone where there is nothing to do", () => {
  expect(sentence("follow it", { verb: "watch", job_id: "ab12" }, asCommand)).toBe("follow it: fanfold watch ab12");
  expect(sentence("follow it", { verb: "watch", job_id: "ab12" }, asCallIfAny)).toBe(
    "follow it: GET /api/jobs/status/ab12",
  );
  expect(sentence("start one", { verb: "up" }, asCallIfAny)).toBe("start one: fanfold up");
  expect(sentence("it is done", null, asCommand)).toBe("it is done");
});

test("the action of a database error is data, and its hint has the words that are asked for", () => {
  const raised = { code: "FF003", message: "m", hint: "follow it", detail: '{"verb": "watch", "job_id": "ab12"}' };
  expect(fromSqlError(raised)).toMatchObject({ hint: "follow it", action: { verb: "watch", job_id: "ab12" } });
  expect(fromSqlError(raised, (advice, action) => sentence(advice, action, asCommand))).toMatchObject({
    hint: "follow it: fanfold watch ab12",
    advice: "follow it",
  });
});

describe("what the database names", () => {
  const folder = new URL("../../db/functions/", import.meta.url);
  const functions = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".sql"))
    .map((name) => ({ name, text: readFileSync(new URL(name, folder), "utf8") }));

  test("has words for every verb", () => {
    const verbs = functions.flatMap(({ text }) =>
      [...text.matchAll(/app\.action\(\s*'([^']+)'/g)].map((found) => found[1]!),
    );
    expect(verbs.length).toBeGreaterThan(50);
    // A verb that has no words here has no call either.
    const without_call = new Set(verbs.filter((verb) => asCall({ verb }) === null));
    expect([...without_call].sort()).toEqual([
      "cells.move",
      "cells.prepare",
      "cells.status",
      "doctor",
      "keys.create_operator",
      "sweep",
      "up",
    ]);
  });

  test("is never a command in a sentence", () => {
    const written = functions.flatMap(({ name, text }) =>
      text
        .split("\n")
        .filter((line) => !line.trimStart().startsWith("--") && /'[^']*\bfanfold [a-z]/.test(line))
        .map((line) => `${name}: ${line.trim()}`),
    );
    expect(written.filter((line) => !line.includes("'fanfold deployment '"))).toEqual([]);
  });
});
