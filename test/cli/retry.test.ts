import { describe, expect, test } from "vitest";
import { served } from "./served.js";

const { fanfold, asked, broken, tasks } = served();

describe("redo", () => {
  test("runs a completed task again, with what follows it", async () => {
    const { id, mend } = await broken(3);
    await mend(0, 1, 2);
    await fanfold(["resume", id, "--wait"]);
    const { "part-1": part } = await tasks(id);
    const dry = await fanfold(["redo", part.task_id, "--dry-run"]);
    expect(dry.out).toContain("would run again");
    expect(dry.out).toContain("1 task again");
    expect(await asked("status", id)).toMatchObject({ status: "completed", epoch: 2 });
    const ended = await fanfold(["redo", part.task_id, "--reason", "the file is gone", "--wait", "--json"]);
    expect([ended.code, ended.json()]).toMatchObject([0, { epoch: 3, again: 1, job: { status: "completed" } }]);
    const shown = await asked("tasks", "show", part.task_id);
    expect(shown).toMatchObject({
      status: "completed",
      attempts: expect.arrayContaining([expect.objectContaining({ outcome: "superseded" })]),
    });
  });

  test("says what to do about a task that did not complete", async () => {
    const { id } = await broken(2);
    const { "part-0": part } = await tasks(id);
    const refused = await fanfold(["redo", part.task_id]);
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain("is failed, not completed");
    expect(refused.err).toContain("retry this one");
  });
});

describe("retry", () => {
  test("--group runs only that group again", async () => {
    const { id, mend } = await broken(4, [3]);
    await mend(0, 1, 2);
    const { groups } = await asked("errors", id);
    const dry = await fanfold(["retry", id, "--group", groups[0].signature, "--dry-run"]);
    expect(dry.out).toContain("would run again");
    expect(dry.out).toContain("2 tasks again, 1 kept");
    expect(await asked("status", id)).toMatchObject({ status: "failed", epoch: 1 });
    // The first part is still marked failed, so the stage fails again; but nothing of the group is left.
    expect((await fanfold(["retry", id, "--group", groups[0].signature, "--wait"])).code).toBe(1);
    const after = (await asked("errors", id)).groups;
    expect(after).toMatchObject([{ signature: groups[1].signature, tasks: 1 }]);
    expect((await fanfold(["retry", id, "--group", groups[1].signature, "--wait"])).code).toBe(0);
  });

  test("--stage runs all of a stage again, and what follows", async () => {
    const parts = await broken(3);
    await parts.mend(0, 1, 2);
    await fanfold(["resume", parts.id, "--wait"]);
    const dry = await fanfold(["retry", parts.id, "--stage", "parts", "--dry-run"]);
    expect(dry.out).toContain("1   parts  3      3        0");
    expect(dry.out).toContain("2   whole  0      1        1     follows");
    expect(await asked("status", parts.id)).toMatchObject({ status: "completed", epoch: 2 });
    const ended = await fanfold(["retry", parts.id, "--stage", "1", "--wait", "--json"]);
    expect(ended.code).toBe(0);
    expect(ended.json()).toMatchObject({ epoch: 3, again: 3, job: { status: "completed", epoch: 3 } });
  });

  test("--tasks runs some of a stage again, and says what it leaves", async () => {
    const { id, mend } = await broken(4, [3]);
    await mend(0, 1, 2);
    const dry = await fanfold(["retry", id, "--stage", "parts", "--tasks", "0-1, 3", "--dry-run"]);
    expect(dry.out).toContain("would run again");
    expect(dry.out).toContain("2 tasks again");
    expect(dry.err).toContain("left as they are: 1 task, completed, which is final");
    const reply = await asked("retry", id, "--stage", "parts", "--tasks", "0-1,3", "--wait");
    expect(reply).toMatchObject({ again: 2, selected: 3, touched: { failed: 2 } });
    expect(Object.values(await tasks(id)).filter(({ status }) => status === "failed")).toHaveLength(1);
    const wrong = await fanfold(["retry", id, "--stage", "parts", "--tasks", "5-2"]);
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("neither a number nor a range")]);
    expect((await fanfold(["retry", id, "--group", "x", "--tasks", "1"])).err).toContain("--tasks are of a stage");
    const skipped = await fanfold(["skip", id, "--stage", "parts", "--tasks", "0-3", "--reason", "lost for good"]);
    expect(skipped.out).toContain("skipped  1 task of parts");
    expect(skipped.out).toContain("left as they are: 3 tasks, completed, which is final");
    expect((await fanfold(["skip", id, "--tasks", "0-3", "--reason", "x"])).err).toContain("go together");
  });

  test("--task runs one task again, with or without its job", async () => {
    const { id, mend } = await broken(3, [1]);
    await mend(0, 2);
    const { "part-0": first, "part-2": last } = await tasks(id);
    const dry = await fanfold(["retry", "--task", first.task_id, "--dry-run"]);
    expect(dry).toMatchObject({ code: 0, out: expect.stringContaining("1 task again") });
    expect((await tasks(id))["part-0"].status).toBe("failed");
    expect((await fanfold(["retry", id, "--task", first.task_id, "--wait"])).code).toBe(1);
    expect((await tasks(id))["part-0"].status).toBe("completed");
    expect((await fanfold(["retry", "--task", last.task_id, "--wait"])).code).toBe(0);
    expect(await asked("status", id)).toMatchObject({ status: "completed", epoch: 3, result: { parts: 3 } });
  });

  test("--task of another job, or of none, is a slip that is told", async () => {
    const one = await broken(2);
    const other = await broken(2);
    const { "part-0": task } = await tasks(one.id);
    const wrong = await fanfold(["retry", other.id, "--task", task.task_id]);
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain(`has no task "${task.task_id}"`);
    expect(wrong.err).toContain(`it is of job ${one.id}`);
    expect((await fanfold(["retry", "--task", "999999-0"])).err).toContain('there is no task "999999-0"');
  });

  test("--task queues a lone task again, once", async () => {
    const { task_id } = await asked("tasks", "enqueue", "fixture.wait", "gate=x", "--at", "2099-01-01T00:00:00Z");
    expect((await fanfold(["retry", "--task", task_id])).err).toContain("queued or running");
    await fanfold(["tasks", "cancel", task_id]);
    expect((await fanfold(["retry", "--task", task_id, "--wait"])).err).toContain("no job to follow");
    const dry = await fanfold(["retry", "--task", task_id, "--dry-run"]);
    expect(dry.out).toBe(`would queue ${task_id} again, which is cancelled; nothing was changed\n`);
    await fanfold(["pause", "--type", "fixture.wait"]);
    try {
      expect((await fanfold(["retry", "--task", task_id])).out).toBe(`queued again  ${task_id}\n`);
      expect((await asked("retry", "--task", task_id)).error.code).toBe("not_allowed_now");
      await fanfold(["tasks", "cancel", task_id]);
    } finally {
      await fanfold(["continue", "--type", "fixture.wait"]);
    }
  });

  test("of a group or stage that is not there, or of a job under way, is refused with 2", async () => {
    const { id } = await broken(2);
    const refused = async (...argv: string[]) => {
      const { code, err } = await fanfold(["retry", ...argv]);
      expect(code, argv.join(" ")).toBe(2);
      return err;
    };
    expect(await refused(id, "--group", "ffffffffffff")).toContain("nothing of job");
    expect(await refused(id, "--stage", "prats")).toContain("its stages: 1 parts, 2 whole");
    expect(await refused(id, "--stage", "whole")).toContain(
      `never reached\n  next: resume the job: fanfold resume ${id}`,
    );
    expect(await refused("ffffffffffff", "--stage", "1")).toContain("there is no job");
    await fanfold(["pause", "--type", "fixture.need"]);
    await fanfold(["resume", id]);
    expect(await refused(id, "--stage", "parts")).toContain("opened epoch 2");
    await fanfold(["continue", "--type", "fixture.need"]);
  });
});

describe("skip", () => {
  test("marks a failed task for a reason, and resume goes on without it", async () => {
    const { id } = await broken(3, [1, 2]);
    const { "part-0": task } = await tasks(id);
    const dry = await fanfold(["skip", task.task_id, "--reason", "lost", "--dry-run"]);
    expect(dry.out).toBe(`would skip ${task.task_id} (parts/part-0), which is failed; nothing was changed\n`);
    expect((await tasks(id))["part-0"].status).toBe("failed");
    const done = await fanfold(["skip", task.task_id, "--reason", "lost for good"]);
    expect(done.code).toBe(0);
    expect(done.out).toContain(`skipped  ${task.task_id} (parts/part-0), which was failed`);
    expect(done.out).toContain(`fanfold resume ${id}`);
    const again = await fanfold(["skip", task.task_id, "--reason", "lost for good"]);
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining("nothing changed") });
    expect(await asked("skip", task.task_id, "--reason", "x")).toEqual({
      task_id: task.task_id,
      status: "skipped",
      dry_run: false,
      changed: false,
    });
    expect((await fanfold(["resume", id, "--wait"])).code).toBe(0);
    expect(await asked("status", id)).toMatchObject({ status: "completed", result: { parts: 2 } });
  });

  test("of a completed task, or one that is not there, is refused with 2", async () => {
    const { id } = await broken(2, [1]);
    const { "part-1": task } = await tasks(id);
    expect(await fanfold(["skip", task.task_id, "--reason", "x"])).toMatchObject({
      code: 2,
      err: expect.stringContaining(
        `is completed, which is final\n  next: a stage can run again once its job has ended: fanfold retry`,
      ),
    });
    expect(await fanfold(["skip", "0-0", "--reason", "x"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("fanfold tasks list"),
    });
  });
});
