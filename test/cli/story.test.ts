import { describe, expect, test } from "vitest";
import { served } from "./served.js";

const { fanfold, asked, broken, tasks } = served();

const widest = (out: string) => Math.max(...out.split("\n").map((text) => [...text].length));

describe("status of a job that did not end well", () => {
  test("says per objective what succeeded and what failed, and how to go on", async () => {
    const { id, job_id, mend } = await broken(3, [1]);
    await mend(2);
    await fanfold(["resume", id, "--wait"]);
    const { code, out } = await fanfold(["status", id], { width: 80 });
    expect(code).toBe(0);
    expect(out).toContain(`fixture_mend  ${id}  epoch 2  failed`);
    expect(out).toContain("epoch       2: it was opened again once\n");
    expect(out).toMatch(
      /outcomes {4}failed +every part is read +2 of 3, 1 failed\n {12}cancelled +the parts are counted\n/,
    );
    expect(out).toContain("failed      parts/part-0: the first part is not there at all (no_first_part)\n");
    expect(out).toContain(`by kind of error: fanfold errors ${id}\n`);
    expect(out).toContain(`next        can be resumed from stage 1 (parts): fanfold resume ${id}\n`);
    expect(await asked("status", id)).toMatchObject({
      job_id,
      epoch: 2,
      resume_count: 1,
      resumable: true,
      resume_from_stage: 1,
      outcomes: [{ status: "failed", objective: "every part is read" }, { status: "cancelled" }],
    });
  });

  test("fits on 80 columns but for what the job itself says", async () => {
    const { id } = await broken(3, [1]);
    const { out } = await fanfold(["status", id], { width: 80 });
    const ours = out.split("\n").filter((text) => !/^(parameters|error|failed) /.test(text));
    expect(widest(ours.join("\n"))).toBeLessThanOrEqual(80);
  });

  test("an optional stage that failed is told with the command that runs it again", async () => {
    const { job_id, status } = await asked("submit", "fixture_optional", "--wait");
    expect(status).toBe("completed");
    const id = job_id.slice(0, 12);
    const { out } = await fanfold(["status", id], { width: 80 });
    expect(out).toMatch(/outcomes {4}succeeded +work +1 of 1\n {12}failed +extra +0 of 1, 1 failed, optional\n/);
    expect(out).toContain(`again: fanfold retry ${id} --stage extra\n`);
    expect(out).not.toContain("resume");
  });

  test("one that completed shows neither outcomes nor an epoch", async () => {
    const { job_id } = await asked("submit", "hello_world", "n=2", "--wait");
    expect((await fanfold(["status", job_id])).out).not.toMatch(/outcomes|epoch|delivered|resume|paused/);
  });
});

describe("deliverables", () => {
  test("are shown with count and location, and what cannot be used is said so", async () => {
    const { job_id } = await asked("submit", "fixture_deliver", "--wait");
    const { out } = await fanfold(["status", job_id], { width: 80 });
    expect(out).toMatch(
      /delivered {3}1 index {2}s3:\/\/maps\/index\\x1b\[2J\.json\n {12}1,200 tiles {2}s3:\/\/.*… {2}not usable\n/,
    );
    expect(
      widest(
        out
          .split("\n")
          .filter((text) => text.includes("s3:"))
          .join("\n"),
      ),
    ).toBeLessThanOrEqual(80);
    expect((await asked("status", job_id)).deliverables).toMatchObject([
      { name: "index", count: 1, usable: true },
      { name: "tiles", count: 1200, usable: false },
    ]);
  });
});

describe("events", () => {
  test("tell the story with who and why", async () => {
    const { id, job_id } = await broken(2, [1]);
    await fanfold(["resume", id, "--reason", "try\u001b[2J again", "--by", "ada", "--wait"]);
    const { code, out } = await fanfold(["events", id], { width: 200 });
    expect(code).toBe(0);
    expect(out).toMatch(/^TIME +WHAT +WHO\n/);
    expect(out).toMatch(
      /\n\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}job\.resumed +ada +"try\\x1b\[2J again" {2}kept=1 kind=resume again=1 epoch=2 stages=\[2\] from_stage=1\n/,
    );
    expect(widest((await fanfold(["events", id], { width: 80 })).out)).toBeLessThanOrEqual(80);
    const { events, ...rest } = await asked("events", id);
    expect(rest).toEqual({ job_id });
    expect(events[0]).toMatchObject({ kind: expect.stringMatching(/^job\./), at: expect.any(String) });
    expect(events.find(({ kind }: { kind: string }) => kind === "job.resumed")).toMatchObject({
      actor: "ada",
      reason: "try\u001b[2J again",
      data: { epoch: 2, from_stage: 1 },
    });
  });

  test("of a job that is not there end with 2", async () => {
    for (const command of ["events", "errors", "resume", "pause", "continue", "approve"]) {
      expect(await fanfold([command, "ffffffffffff"]), command).toMatchObject({
        code: 2,
        err: expect.stringContaining("fanfold jobs"),
      });
    }
  });
});

describe("text from jobs", () => {
  test("cannot touch the terminal in any of the new commands", async () => {
    const hostile = "\u001b[2J\r\nfake: all is well\u202e";
    const message = `message=${JSON.stringify(hostile)}`;
    const { job_id } = await asked("submit", "fixture_fail", message, "--wait");
    const { "0": task } = await tasks(job_id);
    const shown = [
      await fanfold(["errors", job_id]),
      await fanfold(["resume", job_id, "--reason", hostile, "--by", hostile, "--wait"]),
      await fanfold(["events", job_id]),
      await fanfold(["skip", task.task_id, "--reason", hostile]),
      await fanfold(["status", job_id]),
      await fanfold(["pause", "--type", hostile]),
      await fanfold(["continue", "--type", hostile]),
      await fanfold(["retry", job_id, "--stage", hostile]),
      await fanfold(["retry", job_id, "--task", hostile]),
      await fanfold(["skip", hostile, "--reason", "x"]),
    ];
    for (const { out, err } of shown) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what must not be there
      expect(out + err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
      expect((out + err).split("\n").some((text) => text.startsWith("fake:"))).toBe(false);
    }
  });
});
