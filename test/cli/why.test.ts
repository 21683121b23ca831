// why, verify and sweep as they read on the terminal, against a server. No worker runs: tests claim and finish by hand.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { fileBar } from "../../src/cli/commands/verify.js";
import { whyLines } from "../../src/cli/commands/why.js";
import { openFolderStore } from "../../src/storage/folder_store.js";
import { claim, drain, finish, one, register, submit } from "../engine/floor.js";
import { bound, idOf, silence } from "../engine/past.js";
import { freshDatabase } from "../postgres.js";
import { type FakeOptions, fanfold as run } from "./fake_terminal.js";

let database: Awaited<ReturnType<typeof freshDatabase>>;
let folder: string;
let env: Record<string, string>;
let round = 0;

const fanfold = (argv: string[], options: FakeOptions = {}) => run(argv, { env, ...options });

beforeAll(async () => {
  database = await freshDatabase();
  folder = await mkdtemp(path.join(tmpdir(), "fanfold-why-"));
  env = { DATABASE_URL: database.url, FANFOLD_DATA_DIR: folder };
});

afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

// Each test has job parameters of its own, and the jobs and workers of others are gone.
beforeEach(async () => {
  round += 1;
  await database.db.sql`update app.workers set status = 'stopped', ended_at = now() where status = 'live'`;
  await database.db.sql`select app.cancel_job(job_id) from app.jobs where finished_at is null`;
});

const wide = { name: "wide", task: "t.wide", plan: { count: 5, index: "part-{ordinal}" } };
const submitWide = () => submit(database.db, [wide], { round });

describe("why", () => {
  test("says the verdict first, then what proves it, and ends with the command alone", async () => {
    const { job_id } = await submitWide();
    const { code, out, err } = await fanfold(["why", job_id.slice(0, 10)]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const lines = out.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^NO_WORKER_FOR_TYPE {2}no live worker serves tenant "default"/);
    expect(out).toMatch(/^ {2}since +\d{4}-\d{2}-\d{2} /m);
    expect(out).toMatch(/^ {2}task type +t\.wide$/m);
    expect(out).toMatch(/^ {2}queued +5$/m);
    expect(lines.at(-3)).toMatch(/^heals: a worker that registers it/);
    expect(lines.slice(-2)).toEqual(["run:", "  fanfold up"]);
  });

  test("with --json is the record as the database gave it, with its action as a command", async () => {
    const { job_id } = await submitWide();
    const ended = await fanfold(["why", job_id, "--json"]);
    expect(ended.code).toBe(0);
    expect(Object.keys(ended.json())).toEqual([
      "id",
      "status",
      "code",
      "reason",
      "evidence",
      "since",
      "heals_at",
      "heals",
      "action",
      "command",
    ]);
    expect(ended.json()).toMatchObject({
      id: job_id,
      status: "queued",
      code: "NO_WORKER_FOR_TYPE",
      action: { verb: "up" },
      command: "fanfold up",
    });
  });

  test("of a task shows its error and the command that runs it again", async () => {
    const { job_id } = await submitWide();
    const worker = await register(database.db, ["t.wide"]);
    const [task] = await drain(database.db, worker, ["t.wide"], ({ ordinal }) =>
      ordinal === 0 ? { category: "permanent", message: "no such tile" } : {},
    );
    const { code, out } = await fanfold(["why", idOf(task!)]);
    expect(code).toBe(0);
    expect(out).toMatch(/^FAILED {2}task \d+-0 failed at attempt 1: no such tile$/m);
    expect(out.trimEnd().split("\n").at(-1)).toBe(`  fanfold retry --task ${idOf(task!)}`);
    expect((await fanfold(["why", job_id])).out).toContain(`fanfold resume ${job_id.slice(0, 12)}`);
  });

  test("an id that is none ends with 2 and says how to find one", async () => {
    const job = await fanfold(["why", "feedfacefeed"]);
    expect(job).toMatchObject({ code: 2, out: "" });
    expect(job.err).toContain('there is no job "feedfacefeed"');
    const task = await fanfold(["why", "1-99999", "--json"]);
    expect(task.code).toBe(2);
    expect(task.json().error).toMatchObject({ code: "not_found", next: expect.stringContaining("fanfold tasks list") });
  });

  test("shows control characters of job text instead of obeying them", async () => {
    const { job_id } = await submitWide();
    const { operate } = bound(database.db);
    await operate.pause(job_id, { reason: "\u001b[2Jgone\r\n\u202ereversed", actor: "\u0007bell" });
    const { out } = await fanfold(["why", job_id]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left but line ends
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(out).toContain("\\x1b[2Jgone\\r\\n\\u202ereversed");
  });

  test("writes lists one entry a line, and objects as their parts", () => {
    const lines = [
      ...whyLines(
        {
          id: "1-0",
          status: "queued",
          code: "X",
          reason: "r",
          since: null,
          heals_at: null,
          heals: null,
          action: null,
          command: null,
          evidence: {
            holders: [
              { stage: "a", held: 2 },
              { stage: "b", nothing: null },
            ],
            registered_types: ["a.b", "c.d"],
            elapsed_s: 61,
            worker: { host: "h\n1", pid: 1200 },
          },
        },
        false,
      ),
    ];
    expect(lines).toEqual([
      "X  r",
      "  holders           stage a, held 2",
      "                    stage b",
      "  registered types  a.b, c.d",
      "  elapsed s         1m01s",
      "  worker            host h\\n1, pid 1,200",
    ]);
  });

  test("status of an open job that does not move says why in one line", async () => {
    const { job_id } = await submitWide();
    expect((await fanfold(["status", job_id])).out).toMatch(/^why {9}no live worker serves/m);
    const worker = await register(database.db, ["t.wide"]);
    const tasks = await claim(database.db, worker, ["t.wide"]);
    expect((await fanfold(["status", job_id])).out).not.toMatch(/^why/m);
    await finish(database.db, worker, tasks);
    expect((await fanfold(["status", job_id])).out).not.toMatch(/^why/m);
  });
});

describe("verify", () => {
  async function completed(): Promise<{ job_id: string; stage_id: number }> {
    const { job_id } = await submitWide();
    const worker = await register(database.db, ["t.wide"]);
    const [task] = await drain(database.db, worker, ["t.wide"]);
    return { job_id, stage_id: task!.stage_id };
  }

  test("of a clean job ends with 0 and shows where its tasks are", async () => {
    const { job_id } = await completed();
    const { code, out } = await fanfold(["verify", job_id.slice(0, 10)]);
    expect(code).toBe(0);
    expect(out).toMatch(/^STAGE +STATUS +TOTAL +READY +CLAIMS +COMPLETED +FAILED +SKIPPED +ABSENT$/m);
    expect(out).toMatch(/^wide +completed +5 +0 +0 +5 +0 +0 +0$/m);
    expect(out).toContain("every task is in exactly one place");
    expect((await fanfold(["verify", job_id, "--json"])).json()).toMatchObject({ ok: true, files: 0, problems: [] });
  });

  test("of a job that runs ends with 0: what is queued and held counts", async () => {
    const { job_id } = await submitWide();
    const worker = await register(database.db, ["t.wide"]);
    await claim(database.db, worker, ["t.wide"], 2);
    const { code, out } = await fanfold(["verify", job_id]);
    expect(code).toBe(0);
    expect(out).toMatch(/^wide +processing +5 +3 +2 +0 +0 +0 +0$/m);
  });

  test("ends with 1 when a counter was changed, and names the stage", async () => {
    const { job_id, stage_id } = await completed();
    await database.db.sql`update app.stage_progress set completed = 4, failed = 1 where stage_id = ${stage_id}::bigint`;
    const { code, out } = await fanfold(["verify", job_id]);
    expect(code).toBe(1);
    expect(out).toContain(`✘ stage ${stage_id}: the ledger says (4,1,0), the results say (5,0,0)`);
    expect(out).toContain("problems: 1;");
    // A sweep looks at some stages by chance, and must not find this one in the tests below.
    await database.db.sql`update app.stage_progress set completed = 5, failed = 0 where stage_id = ${stage_id}::bigint`;
  });

  test("ends with 1 when a task is in two places, and names it and them", async () => {
    const { job_id, stage_id } = await completed();
    await database.db.sql`insert into app.ready (stage_id, lo, hi, tenant_id, task_type)
      values (${stage_id}::bigint, 3, 4, 'default', 't.wide')`;
    const ended = await fanfold(["verify", job_id, "--json"]);
    expect(ended.code).toBe(1);
    expect(ended.json().problems).toContain(`ordinal 3 of stage ${stage_id} is in 2 places: {ready,results}`);
    await database.db.sql`delete from app.ready where stage_id = ${stage_id}::bigint`;
  });

  test("ends with 1 when a spilled file was altered or removed, and names the tasks", async () => {
    const { job_id, stage_id } = await completed();
    const storage = path.join(folder, "storage");
    const store = openFolderStore(storage);
    const keys: string[] = [];
    for (const ordinal of [0, 1, 2]) {
      const ref = await store.put(`tenant-default/results/${round}/${ordinal}.json`, JSON.stringify({ ordinal }));
      keys.push(ref.key);
      await database.db.sql`update app.results set result = null, spill = ${JSON.stringify(ref)}::text::jsonb
        where stage_id = ${stage_id}::bigint and ordinal = ${ordinal}::bigint`;
    }
    const clean = await fanfold(["verify", job_id]);
    expect(clean).toMatchObject({ code: 0, out: expect.stringContaining("3 of 3 files checked\n") });
    await database.db.sql`
      insert into app.assets (tenant_id, zone, key, name, bytes, sha256, media_type, job_id)
      values ('default', 'silver', ${`verified/${round}.tif`}, 'a.tif', 1, ${"0".repeat(64)}, 'image/tiff', ${job_id})`;
    expect((await fanfold(["verify", job_id])).out).toContain(
      `silver:verified/${round}.tif is not there; it came from outside: put it back`,
    );
    expect((await fanfold(["verify", job_id, "--json"])).json()).toMatchObject({ files: 4, file_count: 4 });
    const altered = path.join(storage, keys[1]!);
    await writeFile(altered, (await readFile(altered, "utf8")).replace("1", "9"));
    await rm(path.join(storage, keys[2]!));
    const { code, out } = await fanfold(["verify", job_id]);
    expect(code).toBe(1);
    expect(out).not.toContain(`task ${stage_id}-0`);
    expect(out).toMatch(new RegExp(`✘ the result of task ${stage_id}-1 is spilled: .*is not what was written`));
    expect(out).toMatch(new RegExp(`✘ the result of task ${stage_id}-2 is spilled: .*is not there`));
    expect(out).toContain("problems: 3;");
  });
});

describe("the bar of verify", () => {
  function drawn(live: boolean, ms_per_file: number): string[] {
    const drawings: string[] = [];
    let now = 0;
    const io = { live, colour: false, draw: (text: string) => drawings.push(text), drawn: () => drawings.push("end") };
    const bar = fileBar(io, () => now);
    for (let file = 1; file <= 10; file++) {
      now += ms_per_file;
      bar.checked(file, 10);
    }
    bar.end();
    return drawings;
  }

  test("is drawn now and then while many files are read, and is full at the end", () => {
    const drawings = drawn(true, 70);
    expect(drawings).toHaveLength(5);
    expect(drawings[0]).toBe(`${"█".repeat(9)}${"░".repeat(21)}  3/10 files checked`);
    expect(drawings.slice(-2)).toEqual([`${"█".repeat(30)}  10/10 files checked`, "end"]);
  });

  test("is not drawn for few files, nor into a pipe", () => {
    expect(drawn(true, 1)).toEqual([]);
    expect(drawn(false, 70)).toEqual([]);
  });
});

describe("sweep", () => {
  test("takes back what a silent worker holds, and says so", async () => {
    const { job_id } = await submitWide();
    const worker = await register(database.db, ["t.wide"]);
    await claim(database.db, worker, ["t.wide"], 2);
    await silence(database.db, worker, 700);
    await database.db.sql`update app.janitor set last_run_at = now(), last_success_at = now()`;
    expect((await fanfold(["why", job_id])).out).toMatch(
      /LEASE_EXPIRED_PENDING_SWEEP[\s\S]*run:\n {2}fanfold sweep\n$/,
    );
    const { code, out } = await fanfold(["sweep"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^workers declared lost, their leases being over: 1$/m);
    expect(out).toMatch(/^tasks of theirs taken back: 2$/m);
    expect((await fanfold(["why", job_id, "--json"])).json().code).toBe("NO_WORKER_FOR_TYPE");
    await database.db.sql`update app.janitor set last_run_at = null`;
    const again = await fanfold(["sweep", "--json"]);
    expect(again.json()).toMatchObject({ lost_workers: 0, tasks: 0, failed: [], reasons: {}, alerts: [] });
  });

  test("ends with 1 when a duty failed, and says which and why", async () => {
    await database.db.script("alter function app.expire_jobs(uuid, json, json) rename to expire_jobs_away");
    const { code, out } = await fanfold(["sweep"]);
    await database.db.script("alter function app.expire_jobs_away(uuid, json, json) rename to expire_jobs");
    expect(code).toBe(1);
    expect(out).toMatch(/✘ expire_jobs could not be done: .*expire_jobs/);
    const { last_error } = await one(database.db.sql<{ last_error: string }>`select last_error from app.janitor`);
    expect(last_error).toContain("expire_jobs");
  });
});
