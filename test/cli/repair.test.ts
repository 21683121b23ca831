import path from "node:path";
import { describe, expect, test } from "vitest";
import { served } from "./served.js";

const { fanfold, start, asked, broken, folder } = served();

describe("resume", () => {
  test("runs again what failed, keeps what completed, and says so stage by stage", async () => {
    const { id, job_id, mend } = await broken(4, [1, 2]);
    await mend(0, 3);
    const { code, out } = await fanfold(["resume", id, "--reason", "the parts are back"]);
    expect(code).toBe(0);
    expect(out).toBe(
      [
        `resumed  ${job_id}`,
        "  epoch 2, from stage 1: 2 tasks again, 2 kept",
        "  NO  STAGE  AGAIN  AT MOST  KEPT",
        "  1   parts  2      2        2",
        "  2   whole  0      0        0     not begun",
        `  follow it: fanfold watch ${id}`,
        "",
      ].join("\n"),
    );
    expect((await fanfold(["watch", id])).code).toBe(0);
    expect(await asked("status", id)).toMatchObject({ status: "completed", epoch: 2, result: { parts: 4 } });
  });

  test("with --json is the reply of the verb", async () => {
    const { id, job_id } = await broken(3, [1]);
    expect(await asked("resume", id)).toMatchObject({
      job_id,
      status: "processing",
      epoch: 2,
      resume_count: 1,
      from_stage: 1,
      again: 2,
      kept: 1,
      stages: [
        { number: 1, stage: "parts", again: 2, at_most: 2, kept: 1, follows: false },
        { number: 2, stage: "whole", again: 0, at_most: 0, kept: 0, follows: false },
      ],
      dry_run: false,
      changed: true,
    });
  });

  test("with --dry-run counts and changes nothing", async () => {
    const { id } = await broken(3, [1]);
    const before = await asked("status", id);
    const story = await asked("events", id);
    const { code, out } = await fanfold(["resume", id, "--dry-run"]);
    expect(code).toBe(0);
    expect(out).toContain("would resume");
    expect(out).toContain("it would be epoch 2, from stage 1: 2 tasks again, 1 kept");
    expect(out).toContain("nothing was changed");
    expect(await asked("resume", id, "--dry-run")).toMatchObject({ dry_run: true, changed: false, epoch: 1, again: 2 });
    expect({ ...(await asked("status", id)), now: "" }).toEqual({ ...before, now: "" });
    expect(await asked("events", id)).toEqual(story);
  });

  test("with --wait follows the job and ends with its outcome", async () => {
    const { id, mend } = await broken(3);
    const still = await fanfold(["resume", id, "--wait"]);
    expect(still.code).toBe(1);
    expect(still.err).toContain("epoch 2");
    expect(still.out).toContain(`can be resumed from stage 1 (parts): fanfold resume ${id}`);
    await mend(0, 1, 2);
    const ended = await fanfold(["resume", id, "--wait", "--json"]);
    expect(ended.code).toBe(0);
    expect(ended.json()).toMatchObject({
      status: "completed",
      ended: "done",
      epoch: 3,
      again: 3,
      job: { status: "completed", result: { parts: 3 } },
    });
  });

  test("twice: the second is told who opened which epoch, and ends with 2", async () => {
    const { id } = await broken(2);
    await fanfold(["pause", "--type", "fixture.need"]);
    try {
      const first = await fanfold(["resume", id, "--by", "ada"]);
      const second = await fanfold(["resume", id, "--by", "bob"]);
      expect(first.code).toBe(0);
      expect(second.code).toBe(2);
      expect(second.err).toMatch(/error: job [0-9a-f]{12} is processing: ada opened epoch 2 at \d{4}-/);
      expect(second.err).toContain(`next: follow it: fanfold watch ${id}`);
      expect((await asked("resume", id)).error.code).toBe("conflict");
      expect(await asked("status", id)).toMatchObject({ epoch: 2, resume_count: 1 });
    } finally {
      await fanfold(["continue", "--type", "fixture.need"]);
    }
  });

  test("at the same moment: one opens the epoch, the other is told", async () => {
    const { id } = await broken(2);
    await fanfold(["pause", "--type", "fixture.need"]);
    try {
      const both = await Promise.all([fanfold(["resume", id]), fanfold(["resume", id])]);
      expect(both.map(({ code }) => code).sort()).toEqual([0, 2]);
      expect(both.find(({ code }) => code === 2)?.err).toContain("opened epoch 2");
      expect(await asked("status", id)).toMatchObject({ epoch: 2 });
    } finally {
      await fanfold(["continue", "--type", "fixture.need"]);
    }
  });

  test("of a completed job is refused with 2, and says what can be done instead", async () => {
    const { job_id } = await asked("submit", "hello_world", "n=2", "--wait");
    const { code, err } = await fanfold(["resume", job_id]);
    expect(code).toBe(2);
    expect(err).toContain("is completed: there is nothing to resume");
    expect(err).toContain(`fanfold retry ${job_id.slice(0, 12)} --stage`);
  });

  test("of a cancelled job goes on where it stood", async () => {
    const parts = await folder();
    await fanfold(["pause", "--type", "fixture.need"]);
    const { job_id } = await asked("submit", "fixture_mend", `folder=${parts}`, "n=2");
    expect((await fanfold(["cancel", job_id])).code).toBe(0);
    await fanfold(["continue", "--type", "fixture.need"]);
    expect(await asked("resume", job_id, "--dry-run")).toMatchObject({ again: 2, kept: 0, from_stage: 1 });
    expect((await fanfold(["resume", job_id, "--wait"])).code).toBe(1);
  });
});

describe("submit", () => {
  test("with --resume lets the job that failed go on, under its id", async () => {
    const { job_id, id, folder: parts, mend } = await broken(3, [1]);
    const submit = ["submit", "fixture_mend", `folder=${parts}`, "n=3"];
    const plain = await fanfold(submit);
    expect(plain.out).toContain("exists already");
    expect(plain.out).toContain(`fanfold resume ${id}`);
    expect((await fanfold([...submit, "--wait"])).err).toContain("--resume lets it go on");
    await mend(0, 2);
    const resumed = await fanfold([...submit, "--resume", "--wait"]);
    expect(resumed.code).toBe(0);
    expect(resumed.err).toContain(`resumed fixture_mend ${id} (epoch 2)`);
    expect(await asked(...submit, "--mode", "resume")).toMatchObject({
      job_id,
      status: "completed",
      created: false,
      resumed: false,
      epoch: 2,
    });
  });

  test("with --mode resume says the epoch; of a job that is new it only submits", async () => {
    const { job_id, folder: parts } = await broken(2);
    const submit = ["submit", "fixture_mend", `folder=${parts}`, "n=2", "--mode", "resume"];
    const { out } = await fanfold(submit);
    expect(out).toContain(`resumed  ${job_id}  processing\n  epoch 2:`);
    expect(await asked("submit", "hello_world", "n=31", "--resume")).toMatchObject({ created: true, resumed: false });
  });

  test("takes --deadline and --no-deadline", async () => {
    const deadline = async (...more: string[]) => {
      const { job_id } = await asked("submit", "hello_world", "--mode", "force", ...more);
      const { created_at, deadline_at } = await asked("status", job_id);
      return deadline_at === null ? null : Math.round((Date.parse(deadline_at) - Date.parse(created_at)) / 1000);
    };
    expect(await deadline()).toBe(7200);
    expect(await deadline("--deadline", "60")).toBe(60);
    expect(await deadline("--no-deadline")).toBeNull();
  });
});

describe("errors", () => {
  test("groups the failures, the largest first, with the command that runs it again", async () => {
    const { id, job_id } = await broken(5, [4]);
    const { code, out } = await fanfold(["errors", id]);
    expect(code).toBe(0);
    const { groups, ...rest } = await asked("errors", id);
    expect(rest).toEqual({ job_id, status: "failed", failed: 4, looked_at: 4, group_count: 2 });
    expect(groups).toMatchObject([
      { tasks: 3, category: "permanent", code: "no_part", message: "part <n> is not in <path>", stages: ["parts"] },
      { tasks: 1, code: "no_first_part", message: "the first part is not there at all" },
    ]);
    const [head, first, second, ...tail] = out.split("\n");
    expect(head).toMatch(/^TASKS +SIGNATURE +CATEGORY +CODE +STAGES +MESSAGE$/);
    expect(first).toBe(`3      ${groups[0].signature}  permanent  no_part        parts   part <n> is not in <path>`);
    expect(second).toContain(groups[1].signature);
    expect(tail.join("\n")).toContain(
      `\n  its tasks: ${groups[0].task_ids.join(", ")}\n  run them again: fanfold retry ${id} --group ${groups[0].signature}\n`,
    );
  });

  test("keeps the signature on a narrow screen, and cuts the message", async () => {
    const { id } = await broken(2);
    const { out } = await fanfold(["errors", id], { width: 60 });
    const { groups } = await asked("errors", id);
    const table = out.split("\n").slice(0, 3);
    for (const text of table) expect([...text].length).toBeLessThanOrEqual(60);
    for (const { signature } of groups) expect(table.join("\n")).toContain(signature);
  });

  test("of a job without any says so", async () => {
    const { job_id } = await asked("submit", "hello_world", "n=33", "--wait");
    expect(await fanfold(["errors", job_id])).toMatchObject({
      code: 0,
      out: `no task of job ${job_id.slice(0, 12)} has failed; the job is completed\n`,
    });
    expect(await asked("errors", job_id)).toEqual({
      job_id,
      status: "completed",
      groups: [],
      failed: 0,
      looked_at: 0,
      group_count: 0,
    });
  });
});

describe("who asked", () => {
  test("is the login of this machine, unless --by says otherwise", async () => {
    const { id } = await broken(2);
    const actors = async () =>
      (await asked("events", id)).events
        .filter(({ kind }: { kind: string }) => kind === "job.resumed")
        .map(({ actor, reason }: { actor: string; reason: string | null }) => [actor, reason]);
    await fanfold(["resume", id, "--wait"]);
    await fanfold(["resume", id, "--by", "Ada Lovelace", "--reason", "mended", "--wait"]);
    await start(["resume", id, "--wait"], { user: null }).done;
    const [own, named, unknown] = await actors();
    expect([own, named]).toEqual([
      ["tess", null],
      ["Ada Lovelace", "mended"],
    ]);
    // A machine that knows no name leaves it to the database, which knows the login.
    expect(unknown[0]).not.toBe("tess");
    expect(unknown[0]).toMatch(/\w/);
  });
});

describe("with --filter a verb is for all jobs that fit", () => {
  /** Two jobs that wait for files, and one that has failed. */
  async function lot(name: string) {
    const gates = [path.join(await folder(), "gate"), path.join(await folder(), "gate")];
    const label = ["--label", `lot=${name}`];
    // First, while a slot is free for it.
    await asked("submit", "fixture_mend", `folder=${await folder()}`, "n=1", ...label, "--wait");
    for (const gate of gates) await asked("submit", "fixture_wait", `gate=${gate}`, ...label);
    return async () => {
      const { jobs } = await asked("jobs", `label:lot=${name}`);
      return (jobs as { status: string }[]).map(({ status }) => status).toSorted();
    };
  }

  test("a dry run counts, and changes nothing", async () => {
    const statuses = await lot("dry");
    const { code, out } = await fanfold(["cancel", "--filter", "label:lot=dry", "--dry-run"]);
    expect({ code, out }).toEqual({ code: 0, out: "2 jobs would be cancelled; nothing was changed\n" });
    expect(await statuses()).not.toContain("cancelled");
    expect((await fanfold(["resume", "--filter", "label:lot=none", "--dry-run"])).out).toBe(
      "no job fits: nothing would be resumed; nothing was changed\n",
    );
    await asked("cancel", "--filter", "label:lot=dry");
  });

  test("cancels the open ones with the reason, and leaves those of others alone", async () => {
    const other = await lot("other");
    const statuses = await lot("cancel");
    const done = await asked("cancel", "--filter", "label:lot=cancel", "--reason", "wrong folder", "--by", "ada");
    expect(done).toMatchObject({ action: "cancel", dry_run: false, touched: 2, skipped: [], failed: [] });
    expect(await statuses()).toEqual(["cancelled", "cancelled", "failed"]);
    expect(await other()).not.toContain("cancelled");
    expect((await fanfold(["cancel", "--filter", "label:lot=cancel"])).out).toBe("cancelled  0 jobs\n");
    await asked("cancel", "--filter", "label:lot=other");
  });

  test("pauses, continues and resumes as well", async () => {
    const statuses = await lot("hold");
    expect((await fanfold(["pause", "--filter", "label:lot=hold"])).out).toBe("paused  2 jobs\n");
    expect((await asked("jobs", "label:lot=hold is:paused")).jobs).toHaveLength(2);
    expect((await fanfold(["continue", "--filter", "label:lot=hold"])).out).toBe("continued  2 jobs\n");
    await asked("cancel", "--filter", "label:lot=hold");
    expect((await fanfold(["resume", "--filter", "label:lot=hold status:cancelled"])).out).toBe("resumed  2 jobs\n");
    expect(await statuses()).not.toContain("cancelled");
    await asked("cancel", "--filter", "label:lot=hold");
  });
});
