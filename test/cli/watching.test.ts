import { Command } from "commander";
import { describe, expect, test } from "vitest";
import type { Cli } from "../../src/cli/terminal/command.js";
import { follow } from "../../src/cli/terminal/watching.js";
import { NotFound } from "../../src/core/errors/errors.js";
import { DatabaseError } from "../../src/engine/database/database.js";
import type { Engine } from "../../src/engine/engine.js";
import type { JobRecord } from "../../src/engine/verbs/records.js";

const done = {
  job_id: "ab".repeat(32),
  job_type: "t",
  run: 1,
  status: "completed",
  stages: [],
} as unknown as JobRecord;

function watcher() {
  const notes: string[] = [];
  const err = (text: string) => notes.push(text);
  const io = { out: () => {}, err, live: false, colour: false, width: () => 80, screen_width: () => 80 };
  const cli = { io, program: new Command(), env: {}, exit_code: 0 } as unknown as Cli;
  return { cli, notes };
}

/** An engine whose answers are given one after the other; an error is thrown. */
function answering(...answers: (JobRecord | Error)[]): Engine {
  return {
    status: async () => {
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer instanceof Error) throw answer;
      return answer;
    },
  } as unknown as Engine;
}

const lost = () => new DatabaseError("08006", "the connection to the database failed");
const { signal } = new AbortController();

describe("a watcher", () => {
  test("outlives a database that is away for a moment, and says so once", async () => {
    const { cli, notes } = watcher();
    const followed = await follow(cli, answering(lost(), lost(), done), "ab", { stream: false, signal });
    expect(followed).toMatchObject({ ended: "done", status: { status: "completed" } });
    expect(notes).toHaveLength(1);
    expect(notes[0]).toContain("trying again");
  });

  test("does not try again what will never work", async () => {
    const { cli } = watcher();
    await expect(follow(cli, answering(new NotFound("gone")), "ab", { stream: false, signal })).rejects.toThrow("gone");
  });

  test("does not wait for a lost database when it is told to stop or its time is over", async () => {
    const { cli } = watcher();
    const stopped = AbortSignal.abort();
    await expect(follow(cli, answering(lost()), "ab", { stream: false, signal: stopped })).rejects.toThrow("failed");
    await expect(follow(cli, answering(lost()), "ab", { stream: false, signal, timeout_s: 0 })).rejects.toThrow(
      "failed",
    );
  });
});
