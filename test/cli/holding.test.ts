import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { served } from "./served.js";

const { fanfold, start, asked, folder, database } = served();

/** A job whose first stage is done and whose second waits for a person. */
async function gated(name: string, type = "fixture_gate"): Promise<{ job_id: string; id: string }> {
  const { job_id } = await asked("submit", type, ...(type === "fixture_gate" ? [`name=${name}`] : ["--mode", "force"]));
  const watching = start(["watch", job_id]);
  await watching.until(/asks: /);
  watching.signal("SIGINT");
  expect((await watching.done).code).toBe(130);
  return { job_id, id: job_id.slice(0, 12) };
}

/** A job that runs one task until `open` is called. */
async function running(): Promise<{ job_id: string; id: string; open(): Promise<void> }> {
  const gate = path.join(await folder(), "gate");
  const { job_id } = await asked("submit", "fixture_wait", `gate=${gate}`);
  const watching = start(["watch", job_id]);
  await watching.until(/"status":"processing"|work {2}processing/);
  for (;;) if ((await asked("status", job_id)).stages[0].processing === 1) break;
  watching.signal("SIGINT");
  await watching.done;
  return { job_id, id: job_id.slice(0, 12), open: () => writeFile(gate, "") };
}

describe("pause and continue", () => {
  test("hold a job and let it go on; said twice, nothing changes", async () => {
    const { id, job_id, open } = await running();
    const dry = await fanfold(["pause", id, "--dry-run"]);
    expect(dry).toMatchObject({ code: 0, out: expect.stringContaining(`would pause job ${id}: 0 tasks`) });
    expect(await asked("status", id)).toMatchObject({ paused_at: null });
    const done = await fanfold(["pause", id, "--reason", "the disk is full", "--by", "ada"]);
    expect(done.code).toBe(0);
    expect(done.out).toContain(`paused  job ${id}: 0 tasks that are queued will wait; what runs may finish`);
    expect(done.out).toContain(`go on: fanfold continue ${id}`);
    expect(await asked("status", id)).toMatchObject({ paused_by: "ada", pause_reason: "the disk is full" });
    const again = await fanfold(["pause", id]);
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining(`nothing changed: job ${id} is paused`) });
    expect(await asked("pause", id)).toMatchObject({ job_id, paused: true, queued: 0, dry_run: false, changed: false });

    const would = await fanfold(["continue", id, "--dry-run"]);
    expect(would.out).toContain(`would let job ${id} go on`);
    expect(await asked("status", id)).toMatchObject({ paused_by: "ada" });
    expect((await fanfold(["continue", id])).out).toContain(`goes on  job ${id}`);
    const twice = await fanfold(["continue", id]);
    expect(twice).toMatchObject({ code: 0, out: `nothing changed: job ${id} is not paused\n` });
    await open();
    expect((await fanfold(["watch", id])).code).toBe(0);
  });

  test("status and watch show who paused it and why, and that what runs still runs", async () => {
    const { id, open } = await running();
    const watching = start(["watch", id]);
    await watching.until("work  processing");
    await fanfold(["pause", id, "--reason", "the disk is full", "--by", "ada"]);
    await watching.until("paused by ada: the disk is full");
    const { out } = await fanfold(["status", id], { width: 80 });
    expect(out).toContain("processing  paused");
    expect(out).toMatch(/‖ work .*0\/1 {2}paused {2}1 still running/);
    expect(out).toContain("‖ paused by ada: the disk is full\n");
    expect(out).toContain(`  go on: fanfold continue ${id}`);
    const ours = out.split("\n").filter((text) => !text.startsWith("parameters "));
    for (const text of ours) expect([...text].length, text).toBeLessThanOrEqual(80);
    await fanfold(["continue", id]);
    await watching.until("goes on");
    await open();
    expect((await watching.done).code).toBe(0);
  });

  test("an ended job is not paused, and 2 says so", async () => {
    const { job_id } = await asked("submit", "hello_world", "n=2", "--wait");
    expect(await fanfold(["pause", job_id])).toMatchObject({
      code: 2,
      err: expect.stringMatching(
        /is completed, which is final\n {2}next: see how it ended: fanfold status [0-9a-f]{12}\n/,
      ),
    });
  });

  test("--type holds all tasks of a type", async () => {
    const paused = await fanfold(["pause", "--type", "fixture.wait", "--reason", "too hot"]);
    expect(paused.out).toContain("paused  task type fixture.wait: 0 tasks");
    expect(paused.out).toContain("go on: fanfold continue --type fixture.wait");
    const gate = path.join(await folder(), "gate");
    await writeFile(gate, "");
    const { job_id } = await asked("submit", "fixture_wait", `gate=${gate}`);
    expect(await asked("pause", "--type", "fixture.wait")).toMatchObject({
      task_type: "fixture.wait",
      paused: true,
      queued: 1,
      changed: false,
    });
    expect((await fanfold(["pause", "--type", "fixture.wait"])).out).toContain("nothing changed");
    expect((await fanfold(["pause", "--type", "fixture.wait", "--dry-run"])).out).toContain("is paused already");
    expect(await asked("status", job_id)).toMatchObject({ stages: [{ queued: 1, processing: 0 }] });
    expect((await fanfold(["continue", "--type", "fixture.wait", "--dry-run"])).out).toContain("would let task type");
    expect(await asked("continue", "--type", "fixture.wait", "--dry-run")).toMatchObject({
      task_type: "fixture.wait",
      paused: true,
      queued: 1,
      dry_run: true,
      changed: false,
    });
    expect(await asked("status", job_id)).toMatchObject({ stages: [{ queued: 1 }] });
    expect((await fanfold(["continue", "--type", "fixture.wait"])).out).toContain(
      "goes on  task type fixture.wait: 1 task that is queued may run",
    );
    expect((await fanfold(["continue", "--type", "fixture.wait"])).out).toContain("is not paused");
    expect((await fanfold(["continue", "--type", "fixture.wait", "--dry-run"])).out).toContain("is not paused");
    expect((await fanfold(["pause", "--type", "fixture.wait", "--dry-run"])).out).toContain("would pause task type");
    expect((await fanfold(["watch", job_id])).code).toBe(0);
  });

  test("--type that is no task type is refused with 2", async () => {
    expect(await fanfold(["pause", "--type", "Not A Type"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("dotted lower-case names"),
    });
  });
});

describe("approve and reject", () => {
  test("a stage that waits is shown with its question and the command", async () => {
    const { id } = await gated("shown");
    const { out } = await fanfold(["status", id], { width: 80 });
    expect(out).toContain("◇ publish  waits for approval\n");
    expect(out).toContain("◇ publish asks: Publish these tiles?\n");
    expect(out).not.toContain("under way");
    expect(out).toContain(`  fanfold approve ${id} --stage publish\n`);
    const live = start(["watch", id], { live: true });
    await live.until("◇ publish  waits for approval");
    live.signal("SIGINT");
    await live.done;
  });

  test("approve lets it begin; said twice, nothing changes; reject afterwards is refused with 2", async () => {
    const { id, job_id } = await gated("approved");
    const dry = await fanfold(["approve", id, "--dry-run"]);
    expect(dry.out).toBe(
      `would approve stage publish of job ${id}; nothing was changed\n  it asks: Publish these tiles?\n`,
    );
    expect(await asked("status", id)).toMatchObject({ stages: [{}, { status: "waiting_approval", decision: null }] });
    const done = await fanfold(["approve", id, "--reason", "looks good", "--by", "ada"]);
    expect(done.code).toBe(0);
    expect(done.out).toContain(`approved  stage publish of job ${id}, as ada\n  follow it: fanfold watch ${id}`);
    expect((await fanfold(["watch", id])).code).toBe(0);
    const again = await fanfold(["approve", id]);
    expect(again).toMatchObject({ code: 0 });
    expect(again.out).toContain(`nothing changed: ada approved stage publish of job ${id} at `);
    expect(await asked("approve", id, "--stage", "2")).toMatchObject({
      job_id,
      stage: "publish",
      dry_run: false,
      changed: false,
      decision: { approved: true, by: "ada", why: "looks good" },
    });
    const other = await fanfold(["reject", id, "--reason", "too late"]);
    expect(other.code).toBe(2);
    expect(other.err).toContain("ada approved it");
  });

  test("approve of a paused job says that it is still paused", async () => {
    const { id } = await gated("paused");
    await fanfold(["pause", id]);
    expect((await fanfold(["approve", id])).out).toContain(`it goes on with: fanfold continue ${id}`);
    await fanfold(["continue", id]);
    expect((await fanfold(["watch", id])).code).toBe(0);
  });

  test("reject fails the stage for a reason, and the job may be resumed and asked again", async () => {
    const { id } = await gated("rejected");
    const dry = await fanfold(["reject", id, "--reason", "black tiles", "--dry-run"]);
    expect(dry.out).toContain(`would reject stage publish of job ${id}; nothing was changed`);
    expect(await asked("status", id)).toMatchObject({ status: "processing" });
    const done = await fanfold(["reject", id, "--reason", "black tiles"]);
    expect(done.code).toBe(0);
    expect(done.out).toContain(`rejected  stage publish of job ${id}, as tess`);
    const { out } = await fanfold(["status", id]);
    expect(out).toContain("tess rejected it: black tiles");
    expect(out).toContain(`can be resumed from stage 2 (publish): fanfold resume ${id}`);
    expect((await fanfold(["reject", id, "--reason", "black tiles"])).out).toContain("nothing changed: tess rejected");
    expect((await fanfold(["approve", id])).code).toBe(2);
    await fanfold(["resume", id]);
    await fanfold(["approve", id]);
    expect((await fanfold(["watch", id])).code).toBe(0);
  });

  test("of several that wait, one must be named", async () => {
    const { id } = await gated("both", "fixture_two_gates");
    const { code, err } = await fanfold(["approve", id]);
    expect(code).toBe(2);
    expect(err).toContain(`2 stages of job ${id} wait for approval`);
    expect(err).toContain(`print: Print it?\n    fanfold approve ${id} --stage print`);
    expect((await fanfold(["approve", id, "--stage", "send"])).code).toBe(0);
    expect((await fanfold(["approve", id])).out).toContain("approved  stage print");
    expect((await fanfold(["watch", id])).code).toBe(0);
  });

  test("where nothing waits is refused with 2", async () => {
    const { job_id } = await asked("submit", "hello_world", "n=3", "--wait");
    const id = job_id.slice(0, 12);
    const { code, err } = await fanfold(["approve", job_id]);
    expect({ code, err }).toEqual({
      code: 2,
      err: `error: no stage of job ${id} waits for approval\n  next: see its stages: fanfold status ${id}\n`,
    });
    expect((await fanfold(["approve", job_id, "--stage", "reply"])).err).toContain("waits for no approval");
    expect((await fanfold(["approve", job_id, "--stage", "none"])).err).toContain("its stages: 1 greeting, 2 reply");
  });
});

describe("cancel", () => {
  test("with --dry-run counts and changes nothing; then it cancels, once", async () => {
    const { id, job_id, open } = await running();
    const dry = await fanfold(["cancel", id, "--dry-run"]);
    expect(dry.code).toBe(0);
    expect(dry.out).toContain(`would cancel ${job_id}: 0 tasks dropped, 1 told to stop; nothing was changed`);
    expect(await asked("status", id)).toMatchObject({ status: "processing" });
    expect(await asked("cancel", id, "--reason", "wrong folder", "--by", "ada")).toEqual({
      job_id,
      status: "cancelled",
      queued: 0,
      running: 1,
      dry_run: false,
      changed: true,
    });
    expect((await fanfold(["cancel", id])).out).toContain(`nothing to cancel: ${job_id} is cancelled already`);
    expect((await fanfold(["cancel", id, "--dry-run"])).out).toContain("nothing to cancel");
    const { events } = await asked("events", id);
    expect(events.at(-1)).toMatchObject({ kind: "job.cancelled", actor: "ada", reason: "wrong folder" });
    await open();
  });

  test("of a completed job is refused with 2", async () => {
    const { job_id } = await asked("submit", "hello_world", "n=4", "--wait");
    expect(await fanfold(["cancel", job_id])).toMatchObject({
      code: 2,
      err: expect.stringMatching(
        /is completed, which is final\n {2}next: see how it ended: fanfold status [0-9a-f]{12}\n/,
      ),
    });
    expect((await fanfold(["cancel", job_id, "--dry-run"])).code).toBe(2);
  });
});

describe("alerts", () => {
  test("are listed newest first; none is also an answer", async () => {
    expect(await fanfold(["alerts"])).toMatchObject({ code: 0, out: "no alerts\n" });
    expect(await asked("alerts")).toEqual({ alerts: [] });
    const { job_id } = await asked("submit", "hello_world", "n=5", "--wait");
    await database().db.script(`
      select app.alert('default', 'deadline', 'job ${job_id}', E'it is late\\u001b[2J', '${job_id}');
      select app.alert('default', 'janitor_silent', 'janitor', 'nobody swept');
      select app.create_tenant('acme');
      select app.alert('acme', 'ledger', 'stage 1', 'not yours')`);
    const { code, out } = await fanfold(["alerts"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^TIME +ALERT +JOB\n.* janitor_silent +nobody swept\n.* deadline +[0-9a-f]{12} +it is late/);
    expect(out).toContain("\\x1b[2J");
    expect(out).not.toContain("not yours");
    expect((await asked("alerts", "--limit", "1")).alerts).toMatchObject([
      {
        alert: "janitor_silent",
        reason: "nobody swept",
        tenant_id: "default",
        job_id: null,
        data: { target: "janitor" },
      },
    ]);
    expect((await asked("alerts", "--tenant", "acme")).alerts).toMatchObject([{ alert: "ledger" }]);
    expect((await fanfold(["alerts", "--limit", "0"])).code).toBe(2);
  });
});

describe("queues", () => {
  test("tell what waits of each task type, and why nothing of it is taken", async () => {
    await database().db.script(
      "select app.enqueue('odd.one', '{}', tenant => 'default'); select app.enqueue('odd.one', '{}', run_at => now() + interval '1 hour')",
    );
    await fanfold(["pause", "--type", "odd.two", "--reason", "not now", "--by", "ada"]);
    const { code, out } = await fanfold(["queues"], { width: Number.POSITIVE_INFINITY });
    expect(code).toBe(0);
    expect(out).toMatch(/^TYPE +DUE +LATER +RETRYING +RUNNING +OLDEST +WORKERS +DONE\/MIN +FAILED\/MIN\n/);
    expect(out).toMatch(
      /\nodd\.one +1 +1 +0 +0 +[\d.]+s +0 +0 +0 +(no worker is live|no live worker registers it[^\n]+); fanfold up\n/,
    );
    expect(out).toMatch(
      /\nodd\.two +0 +0 .*tasks of this type are paused by ada: not now; fanfold continue --type odd\.two\n/,
    );
    const { queues } = await asked("queues");
    expect(queues.find(({ task_type }: { task_type: string }) => task_type === "odd.one")).toMatchObject({
      due: 1,
      later: 1,
      problem: { code: "NO_WORKER_FOR_TYPE", command: "fanfold up" },
    });
  });
});
