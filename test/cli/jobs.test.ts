import { writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { served } from "./served.js";

const { fanfold, start, up, database, folder: newFolder } = served();
let folder: string;
beforeAll(async () => {
  folder = await newFolder();
});

describe("up", () => {
  test("says what runs, without the password, and what to do next", () => {
    expect(up().out()).toContain("4 slots");
    expect(up().out()).toContain("hello_world");
    expect(up().out()).toContain("fanfold submit hello_world n=3 --wait");
  });
});

describe("submit", () => {
  test("with --wait ends with 0 and the outcome of a completed job", async () => {
    const { code, out } = await fanfold(["submit", "hello_world", "n=2", "--wait"]);
    expect(code).toBe(0);
    expect(out).toMatch(/hello_world [0-9a-f]{12} completed in .*: 4 tasks/);
  });

  test("with --wait --json is one document with the whole job", async () => {
    const ended = await fanfold(["submit", "hello_world", "n=3", "--wait", "--json"]);
    expect(ended.code).toBe(0);
    expect(ended.json()).toMatchObject({
      job_id: expect.stringMatching(/^[0-9a-f]{64}$/),
      run: 1,
      created: true,
      status: "completed",
      ended: "done",
      job: {
        job_type: "hello_world",
        parameters: { n: 3 },
        stages: [
          { name: "greeting", completed: 3 },
          { name: "reply", completed: 3 },
        ],
      },
    });
  });

  test("of the same parameters is the same job, and --mode force is a new run", async () => {
    const submit = (...more: string[]) => fanfold(["submit", "hello_world", "n=4", "--json", ...more]);
    const first = (await submit()).json();
    expect(first).toMatchObject({ created: true, run: 1 });
    expect((await submit()).json()).toMatchObject({ job_id: first.job_id, created: false, run: 1 });
    await fanfold(["watch", first.job_id]);
    expect((await submit("--dry-run")).json()).toMatchObject({ would: "reuse", exists: { job_id: first.job_id } });
    expect((await submit("--dry-run", "--mode", "force")).json()).toMatchObject({ would: "create", run: 2 });
    const forced = (await submit("--mode", "force")).json();
    expect(forced).toMatchObject({ created: true, run: 2 });
    expect(forced.job_id).not.toBe(first.job_id);
    expect((await fanfold(["submit", "hello_world", "n=4"])).out).toContain("exists already");
  });

  test("ends with 1 when the job fails, and shows which task failed and why", async () => {
    const { code, out } = await fanfold(["submit", "fixture_fail", "--wait"]);
    expect(code).toBe(1);
    expect(out).toContain("failed");
    expect(out).toContain("broken on purpose");
    expect(out).toContain("fanfold tasks list --job");
  });

  test("ends with 3 when the job succeeds in part", async () => {
    const ended = await fanfold(["submit", "fixture_partial", "--wait", "--json"]);
    expect(ended.code).toBe(3);
    expect(ended.json()).toMatchObject({ status: "partial_success", job: { stages: [{ completed: 3, failed: 1 }] } });
  });

  test("ends with 124 at --timeout and leaves the job alone", async () => {
    const gate = path.join(folder, "gate-timeout");
    const ended = await fanfold(["submit", "fixture_wait", `gate=${gate}`, "--wait", "--timeout", "0.2", "--json"]);
    expect(ended.code).toBe(124);
    expect(ended.json()).toMatchObject({ ended: "timeout", status: expect.stringMatching(/queued|processing/) });
    expect(ended.err).toContain("fanfold watch");
    await writeFile(gate, "");
    expect((await fanfold(["watch", ended.json().job_id])).code).toBe(0);
  });

  test("takes parameters from standard input and from files, with pairs on top", async () => {
    await writeFile(path.join(folder, "p.json"), '{"n": 9}');
    const from_file = await fanfold(["submit", "hello_world", "n=5", "--parameters", "@p.json", "--json"], {
      cwd: folder,
    });
    const from_stdin = await fanfold(["submit", "hello_world", "--parameters", "-", "--json"], { stdin: '{"n": 5}' });
    expect(from_stdin.json().job_id).toBe(from_file.json().job_id);
  });
});

describe("watch", () => {
  test("detaches at Ctrl-C with 130, says how to come back, and leaves the job alone", async () => {
    const gate = path.join(folder, "gate-detach");
    const { job_id } = (await fanfold(["submit", "fixture_wait", `gate=${gate}`, "--json"])).json();
    const watching = start(["watch", job_id]);
    await watching.until("work  processing");
    watching.signal("SIGINT");
    const ended = await watching.done;
    expect(ended.code).toBe(130);
    expect(ended.err).toContain(`fanfold watch ${job_id.slice(0, 12)}`);
    await writeFile(gate, "");
    expect((await fanfold(["watch", job_id.slice(0, 8)])).code).toBe(0);
  });

  test("draws the stages on a terminal and ends below them", async () => {
    const watching = start(["submit", "hello_world", "n=7", "--wait"], { live: true, colour: true });
    const { code, out } = await watching.done;
    expect(code).toBe(0);
    expect(watching.drawings.at(-1)).toContain("7/7");
    expect(out).not.toContain("7/7");
  });

  test("writes one JSON document per change, the last one with the end", async () => {
    const gate = path.join(folder, "gate-json");
    const { job_id } = (await fanfold(["submit", "fixture_wait", `gate=${gate}`, "--json"])).json();
    const watching = start(["watch", job_id, "--json"]);
    await watching.until('"status":"processing"');
    await writeFile(gate, "");
    const documents = (await watching.done).lines();
    expect(documents.length).toBeGreaterThanOrEqual(2);
    expect(documents.at(-1)).toMatchObject({ job_id, status: "completed" });
    expect(documents.filter((one) => one.status === "completed")).toHaveLength(1);
  });

  test("of a job that does not exist, or an ambiguous or strange id, ends with 2", async () => {
    for (const id of ["ffffffffffff", "zz", "", "../x", "'; drop table app.jobs; --"]) {
      const { code, err } = await fanfold(["watch", id]);
      expect(code, id).toBe(2);
      expect(err).toMatch(/error: .*job/);
    }
  });
});

describe("cancel", () => {
  test("ends a running job, and whoever waits for it gets 1", async () => {
    const gate = path.join(folder, "gate-cancel");
    const { job_id } = (await fanfold(["submit", "fixture_wait", `gate=${gate}`, "--json"])).json();
    const watching = start(["watch", job_id]);
    await watching.until("work  processing");
    expect((await fanfold(["cancel", job_id.slice(0, 10), "--reason", "not needed", "--json"])).json()).toMatchObject({
      status: "cancelled",
    });
    expect((await watching.done).code).toBe(1);
    expect((await fanfold(["status", job_id, "--json"])).json()).toMatchObject({ status: "cancelled" });
    // The handler need not wait for the heartbeat that would tell it.
    await writeFile(gate, "");
  });
});

describe("jobs and status", () => {
  test("list what was submitted, by type and status, in pages", async () => {
    for (const n of [21, 22, 23]) await fanfold(["submit", "hello_world", `n=${n}`, "--label", "team=maps", "--wait"]);
    const page = (
      await fanfold(["jobs", "--type", "hello_world", "--status", "completed", "--limit", "2", "--json"])
    ).json();
    expect(page.jobs).toHaveLength(2);
    expect(page.jobs[0]).toMatchObject({ job_type: "hello_world", status: "completed", labels: { team: "maps" } });
    const next = (
      await fanfold(["jobs", "--type", "hello_world", "--limit", "2", "--cursor", page.next, "--json"])
    ).json();
    expect(next.jobs.map((job: { job_id: string }) => job.job_id)).not.toContain(page.jobs[0].job_id);
    const { out } = await fanfold(["jobs", "--limit", "3"]);
    expect(out).toMatch(/^JOB +TYPE +STATUS +RUN +CREATED +LABELS\n/);
    expect(out).toContain("team=maps");
    expect(out).toContain("--cursor");
  });

  test("a forged cursor is refused", async () => {
    for (const cursor of ["x", "1-2", "'; drop table app.jobs"]) {
      expect((await fanfold(["jobs", "--cursor", cursor])).code).toBe(2);
    }
  });

  test("status shows a job by the first characters of its id, and exits with 0 whatever it shows", async () => {
    const { job_id } = (await fanfold(["submit", "fixture_fail", "message=this one too", "--wait", "--json"])).json();
    const { code, out } = await fanfold(["status", job_id.slice(0, 9)]);
    expect(code).toBe(0);
    for (const word of [job_id, "fixture_fail", "failed", "this one too", `fanfold resume ${job_id.slice(0, 12)}`])
      expect(out).toContain(word);
    expect((await fanfold(["status", job_id.slice(0, 9), "--json"])).json()).toMatchObject({
      job_id,
      status: "failed",
    });
  });
});

describe("text from jobs", () => {
  test("cannot touch the terminal: labels, parameters and errors are shown, not obeyed", async () => {
    const hostile = "\u001b[2J\u001b]0;owned\u0007\r\nfake: all is well\u202e<img src=x onerror=alert(1)>";
    const labelled = await fanfold(["submit", "fixture_fail", "message=x", "--label", `note=${hostile}`]);
    expect(labelled).toMatchObject({ code: 2, err: expect.stringContaining("invisible mark") });
    const submitted = await fanfold(["submit", "fixture_fail", `message=${JSON.stringify(hostile)}`, "--wait"]);
    // As one from before labels were looked at.
    await database().db.sql`update app.jobs set labels = ${JSON.stringify({ note: hostile })}::text::jsonb`;
    const listed = await fanfold(["jobs", "--type", "fixture_fail"], { colour: false, width: 400 });
    const id = listed.out.split("\n")[1]?.split(" ")[0] as string;
    const shown = await fanfold(["status", id]);
    const tasks = await fanfold(["tasks", "list", "--job", id, "--status", "failed"], { width: 400 });
    for (const { out, err } of [submitted, listed, shown, tasks]) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what must not be there
      expect(out + err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
      expect(out).toContain("\\x1b[2J");
      expect(out.split("\n").some((text) => text.startsWith("fake:"))).toBe(false);
    }
    const told = await fanfold(["status", id, "--json"]);
    expect(told.json().parameters.message).toBe(hostile);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what must not be there
    expect(told.out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  });
});

describe("tasks", () => {
  test("are enqueued once per key, refused with another body, listed, moved and cancelled", async () => {
    const enqueue = (...more: string[]) => fanfold(["tasks", "enqueue", "hello.greet", ...more, "--json"]);
    const first = await enqueue("number=1", "--key", "k1", "--at", "2099-01-01T00:00:00Z");
    expect(first.json()).toMatchObject({ created: true, task_id: expect.any(String) });
    const { task_id } = first.json();
    expect((await enqueue("number=1", "--key", "k1", "--at", "2099-01-01T00:00:00Z")).json()).toMatchObject({
      created: false,
      task_id,
    });
    const conflict = await enqueue("number=2", "--key", "k1");
    expect(conflict.code).toBe(2);
    expect(conflict.json().error.code).toBe("conflict");
    const moved = await fanfold(["tasks", "reschedule", task_id, "2098-01-01T00:00:00+02:00", "--json"]);
    expect(moved.json()).toMatchObject({ task_id });
    const list = (await fanfold(["tasks", "list", "--type", "hello.greet", "--status", "queued", "--json"])).json();
    expect(list.tasks).toMatchObject([{ task_id, status: "queued" }]);
    expect((await fanfold(["tasks", "cancel", task_id, "--json"])).json()).toMatchObject({ status: "cancelled" });
    expect((await fanfold(["tasks", "list", "--type", "hello.greet", "--status", "queued"])).out).toBe("no tasks\n");
  });

  test("whose parameters do not fit their handler are refused", async () => {
    const { code, err } = await fanfold(["tasks", "enqueue", "hello.greet", "number=seven"]);
    expect(code).toBe(2);
    expect(err).toContain("number");
  });

  test("with an empty key, a key of 10 KB and a key of symbols are all kept apart", async () => {
    const codes: number[] = [];
    for (const key of ["k".repeat(10_000), "🗺️ karte", "k".repeat(9_999)]) {
      codes.push((await fanfold(["tasks", "enqueue", "hello.greet", "number=1", "--key", key])).code);
    }
    expect(codes).toEqual([0, 0, 0]);
  });
});

describe("doctor", () => {
  test("finds a healthy server healthy, with a word about the superuser", async () => {
    const ended = await fanfold(["doctor", "--json"]);
    expect(ended.code).toBe(0);
    const { ok, findings } = ended.json();
    expect(ok).toBe(true);
    const levels = Object.fromEntries(findings.map((one: { name: string; level: string }) => [one.name, one.level]));
    expect(levels).toMatchObject({
      database: "ok",
      version: "ok",
      schema: "ok",
      roles: "ok",
      row_security: "ok",
      workers: "ok",
      login: "warn",
    });
  });
});
