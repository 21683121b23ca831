import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { build, root, spawnFanfold } from "./built_program.js";
import { migratedFolder } from "./embedded_folder.js";
import { start as begin, type FakeOptions, fanfold as run } from "./fake_terminal.js";

// A busy machine may take ten times as long to start a database, and one test cut short would hold the folder for the rest.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const app = ["--app", fileURLToPath(new URL("./fixture_app.ts", import.meta.url))];
let folder: string;
let data: string[];

const fanfold = (argv: string[], options: FakeOptions = {}) => run([...argv, ...app, ...data], options);
const start = (argv: string[], options: FakeOptions = {}) => begin([...argv, ...app, ...data], options);

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "fanfold-embedded-"));
  data = ["--data-dir", path.join(folder, "data")];
  await build();
  await migratedFolder(path.join(folder, "data"));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

test("the built program runs a handler of a TypeScript module in a process of its own", async () => {
  const file = path.join(folder, "isolated.ts");
  const app_text = `
    import { defineHandler, defineJob } from ${JSON.stringify(`${root}dist/index.js`)};
    const options = { isolation: "process", module: import.meta.url } as const;
    export default {
      jobs: [defineJob({ type: "who", stages: [{ name: "only", task: "who.am_i" }] })],
      handlers: [defineHandler("who.am_i", options, (): { pid: number } => ({ pid: process.pid }))],
    };`;
  await writeFile(file, app_text);
  const spawned = spawnFanfold(["submit", "who", "--wait", "--json", "--app", file, ...data]);
  const { code, out, err } = await spawned.ended;
  expect(code, err).toBe(0);
  const { pid } = JSON.parse(out).job.result;
  expect(pid).toBeGreaterThan(0);
  expect(pid).not.toBe(spawned.child.pid);
});

test("the built program ends as it would have when nobody reads what it says on stderr", async () => {
  const spawned = spawnFanfold(["jobs", "--no-such-option"]);
  spawned.child.stderr!.destroy();
  expect(await spawned.ended).toMatchObject({ code: 2 });
});

describe("with the embedded database", () => {
  test("submit stores a job and says that nothing runs yet; watch then works on it to its end", async () => {
    const submitted = await fanfold(["submit", "hello_world", "n=2"]);
    expect(submitted.code).toBe(0);
    expect(submitted.out).toContain("nothing runs until");
    const id = /fanfold watch ([0-9a-f]{12})/.exec(submitted.out)?.[1] as string;
    expect((await fanfold(["status", id, "--json"])).json()).toMatchObject({ stages: [{ completed: 0 }, {}] });
    const watched = await fanfold(["watch", id]);
    expect(watched.code).toBe(0);
    expect(watched.out).toContain("completed");
  });

  test("why, verify and sweep answer about a job that nobody works on", async () => {
    const { job_id } = (await fanfold(["submit", "hello_world", "n=6", "--json"])).json();
    expect((await fanfold(["why", job_id, "--json"])).json()).toMatchObject({
      code: "NO_WORKER_FOR_TYPE",
      evidence: { task_type: "hello.greet", live_workers: 0, queued: 6 },
    });
    expect(await fanfold(["verify", job_id])).toMatchObject({
      code: 0,
      out: expect.stringContaining("exactly one place"),
    });
    expect((await fanfold(["sweep", "--json"])).json()).toMatchObject({ failed: [], lost_workers: 0 });
    expect((await fanfold(["watch", job_id])).code).toBe(0);
    expect((await fanfold(["why", job_id])).out).toMatch(/^COMPLETED {2}/);
  });

  test("submit --wait runs the job in its own process, fails with 1 and succeeds in part with 3", async () => {
    expect((await fanfold(["submit", "fixture_fail", "--wait"])).code).toBe(1);
    expect((await fanfold(["submit", "fixture_partial", "--wait"])).code).toBe(3);
  });

  test("a second Ctrl-C ends at once, and the job is there for the next watch", async () => {
    const gate = path.join(folder, "gate");
    const waiting = start(["submit", "fixture_wait", `gate=${gate}`, "--wait"]);
    await waiting.until("work  processing");
    waiting.signal("SIGINT");
    await waiting.until("Ctrl-C again");
    waiting.signal("SIGINT");
    const { code, err } = await waiting.done;
    expect(code).toBe(130);
    const id = /fanfold watch ([0-9a-f]{12})/.exec(err)?.[1] as string;
    await writeFile(gate, "");
    expect((await fanfold(["watch", id, "--json"])).lines().at(-1)).toMatchObject({
      status: "completed",
      stages: [{ completed: 1 }],
    });
  });

  test("resume stores that the job goes on; resume --wait goes on in its own process", async () => {
    const parts = path.join(folder, "parts");
    await mkdir(parts);
    const { job_id } = (await fanfold(["submit", "fixture_mend", `folder=${parts}`, "n=2", "--wait", "--json"])).json();
    const resumed = await fanfold(["resume", job_id]);
    expect(resumed).toMatchObject({ code: 0, out: expect.stringContaining("epoch 2, from stage 1: 2 tasks again") });
    expect(resumed.out).toContain("stored; nothing runs until");
    expect((await fanfold(["watch", job_id])).code).toBe(1);
    for (const number of [0, 1]) await writeFile(path.join(parts, `part-${number}`), "");
    const mended = (await fanfold(["resume", job_id, "--wait", "--json"])).json();
    expect(mended).toMatchObject({ epoch: 3, status: "completed", job: { result: { parts: 2 } } });
  });

  test("doctor finds it well, and migrate finds nothing to do", async () => {
    const ended = await fanfold(["doctor", "--json"]);
    expect(ended.code).toBe(0);
    expect(ended.json().findings.filter((one: { level: string }) => one.level !== "ok")).toEqual([]);
    expect((await fanfold(["migrate", "--json"])).json()).toMatchObject({ applied: [], functions: [] });
  });

  test("a file in place of the folder is refused with what to do", async () => {
    const file = path.join(folder, "file");
    await writeFile(file, "");
    const { code, err } = await run(["jobs", "--data-dir", file]);
    expect(code).toBe(5);
    expect(err).toContain("--data-dir");
  });
});

describe("as a process of its own", () => {
  test("up holds the folder, another process is told who holds it and what to do, and SIGTERM ends it with 0", async () => {
    const up = spawnFanfold(["up", "--port", "0", ...data]);
    await up.until("is up");
    const { code, err, out } = await fanfold(["jobs"]);
    expect({ code, out }).toEqual({ code: 5, out: "" });
    for (const word of [String(up.child.pid), "only one process", "--data-dir other", "DATABASE_URL"])
      expect(err).toContain(word);
    up.child.kill("SIGTERM");
    expect(await up.ended).toMatchObject({ code: 0, err: expect.stringContaining("stopped gracefully") });
    expect((await fanfold(["jobs"])).code).toBe(0);
  });

  test("a killed one leaves a folder that the next can use", async () => {
    const up = spawnFanfold(["up", "--port", "0", ...data]);
    await up.until("is up");
    up.child.kill("SIGKILL");
    await up.ended;
    expect((await fanfold(["submit", "hello_world", "n=1", "--wait"])).code).toBe(0);
  });

  test("the example of one's own job runs from its folder", async () => {
    const texts = JSON.stringify(["to be or not to be", "that is the question"]);
    const example = spawnFanfold(["submit", "word_count", `texts=${texts}`, "--wait", "--json", ...data], {
      cwd: `${root}examples/word_count`,
    });
    const { code, out, err } = await example.ended;
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(JSON.parse(out)).toMatchObject({ status: "completed", job: { result: { texts: 2, words: 10 } } });
  });

  test("ends although a module of the user's keeps a timer, and says in words what it threw too late", async () => {
    const lingering = path.join(folder, "lingering.mjs");
    await writeFile(lingering, "setInterval(() => {}, 1000); export default { jobs: [] };");
    expect((await spawnFanfold(["jobs", ...data, "--app", lingering]).ended).code).toBe(0);
    const throwing = path.join(folder, "throwing.mjs");
    await writeFile(throwing, "setTimeout(() => { throw new Error('too late'); }, 0); export default { jobs: [] };");
    const { code, err } = await spawnFanfold(["up", "--port", "0", ...data, "--app", throwing]).ended;
    expect(code).toBe(1);
    expect(err).toContain("error: too late");
    expect(err).not.toMatch(/\n\s+at /);
  });

  test("closing the pipe early is no error", async () => {
    const listing = spawnFanfold(["jobs", ...data]);
    listing.child.stdout?.destroy();
    expect((await listing.ended).err).toMatch(/^opening the embedded database in .*\n$/);
  });
});
