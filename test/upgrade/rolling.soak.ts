// 0.5.1 under load becomes this version, process by process: the schema first, while old workers and the old server go on; then a new worker
// for each old one, then the server. Nothing that was promised is lost, nothing runs twice, and no caller is sent away for more than five
// seconds.
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { openServer } from "../../src/engine/database/server_database.js";
import { build, root } from "../cli/built_program.js";
import { quietPort, startCluster } from "../faults/cluster.js";
import { call, Truth } from "../nemesis/truth.js";
import { appOf, earlierRelease } from "./earlier_release.js";

const seconds_of_each_step = 6;
const longest_refusal_ms = 5_000;
const say = (line: string) => process.stdout.write(`[upgrade] ${line}\n`);

interface Running {
  name: string;
  said(): string;
  /** Asks it to end, as a supervisor does, and gives its exit code. */
  end(): Promise<number | null>;
}

test("0.5.1 is upgraded under load", { timeout: 1_200_000 }, async () => {
  await build();
  const dir = await mkdtemp(join(tmpdir(), "fanfold-upgrade-"));
  const cluster = await startCluster();
  const truth = new Truth(dir);
  const running = new Set<Running>();
  try {
    const releases = { old: await earlierRelease(dir), new: root };
    const apps = { old: join(dir, "old.mjs"), new: join(dir, "new.mjs") };
    for (const release of ["old", "new"] as const)
      await writeFile(apps[release], appOf(join(releases[release], "dist", "index.js")));

    const admin_url = cluster.url("upgrade");
    const maker = openServer(cluster.url());
    await maker.script("create database upgrade template template0");
    await maker.close();
    const env = {
      // Settings of the test run are not those of a release of before, which refuses what it does not know.
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(FANFOLD_|DATABASE_URL$)/.test(name))),
      NEMESIS_DIR: dir,
      FANFOLD_STORAGE_DIR: join(dir, "storage"),
      FANFOLD_DATA_DIR: dir,
      FANFOLD_SECRET_KEY: Buffer.alloc(32, 7).toString("base64"),
      FANFOLD_LOG_LEVEL: "warn",
    };
    const start = (release: "old" | "new", name: string, url: string, ...argv: string[]): Running => {
      const program = join(releases[release], "dist", "cli", "main.js");
      const child = spawn(process.execPath, [program, ...argv, "--app", apps[release], "--database-url", url], {
        cwd: dir,
        env,
      });
      let text = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (text += bytes));
      const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
      const one: Running = {
        name,
        said: () => text,
        async end() {
          running.delete(one);
          child.kill("SIGTERM");
          return ended;
        },
      };
      running.add(one);
      ended.then((code) => running.delete(one) && say(`${name} ended by itself with ${code}: ${text}`));
      return one;
    };
    const done = async (release: "old" | "new", ...argv: string[]) => {
      const program = join(releases[release], "dist", "cli", "main.js");
      const child = spawn(process.execPath, [program, ...argv, "--app", apps[release], "--database-url", admin_url], {
        cwd: dir,
        env,
      });
      let [out, err] = ["", ""];
      child.stdout.on("data", (bytes) => (out += bytes));
      child.stderr.on("data", (bytes) => (err += bytes));
      const code = await new Promise((resolve) => child.on("close", resolve));
      if (code !== 0) throw new Error(`${release} fanfold ${argv.join(" ")} ended with ${code}: ${err}${out}`);
      return out;
    };

    await done("old", "migrate");
    const admin = openServer(admin_url);
    await admin.script("create role upgrade_server login in role fanfold_api, fanfold_worker");
    await admin.sql`select app.map_role('upgrade_server', null)`;
    await admin.close();
    const key = (JSON.parse(await done("old", "--json", "keys", "create", "all", "--scope", "all")) as { key: string })
      .key;
    const login = new URL(admin_url);
    login.username = "upgrade_server";
    const ports = { old: await quietPort(), new: await quietPort() };
    const serve = async (release: "old" | "new") => {
      const server = start(release, `${release} server`, login.href, "serve", "--port", String(ports[release]));
      const url = `http://127.0.0.1:${ports[release]}`;
      await expect
        .poll(async () => (await fetch(`${url}/api/health/ready`).catch(() => null))?.status, { timeout: 60_000 })
        .toBe(200);
      return { server, url };
    };
    const worker = (release: "old" | "new", n: number) =>
      start(release, `${release} worker ${n}`, login.href, "up", "--no-http", "--slots", "8");

    const before = await serve("old");
    const old_workers = [worker("old", 1), worker("old", 2)];
    let url = before.url;
    let over = false;
    let longest_ms = 0;
    const callers = Array.from({ length: 3 }, async (_, caller) => {
      for (let n = 0; !over; n++) {
        const began = performance.now();
        // It is repeated until it is answered: how long that takes is how long a caller was sent away.
        await truth.submit(url, key, `job ${caller}-${n}`, 20 + ((n * 37) % 200), 5 + ((n * 13) % 30), () => over);
        longest_ms = Math.max(longest_ms, performance.now() - began);
        await sleep(250);
      }
    });
    const step = async (what: string) => {
      say(`${what}: ${truth.promised.length} jobs promised, longest call ${Math.round(longest_ms)} ms`);
      await sleep(seconds_of_each_step * 1000);
    };
    await step("0.5.1 runs");
    await done("new", "migrate");
    // Calls that were running when the schema changed under them fail whole, and are repeated: 0.5.1 says 500 to them, later releases 503.
    const cut_short = truth.broken.length;
    expect(cut_short).toBeLessThanOrEqual(callers.length);
    await step("the schema is new, the programs are old");
    for (const [n, old] of old_workers.entries()) {
      worker("new", n + 1);
      expect([old.name, await old.end(), old.said()]).toEqual([old.name, 0, expect.anything()]);
      await step(`${old.name} is replaced`);
    }
    const after = await serve("new");
    url = after.url;
    await sleep(1_000);
    expect([await before.server.end(), before.server.said()]).toEqual([0, expect.anything()]);
    await step("the server is replaced");
    over = true;
    await Promise.all(callers);

    const jobs = truth.promised;
    await expect
      .poll(
        async () => {
          const open = [];
          for (const { job_id } of jobs)
            if ((await call(`${url}/api/jobs/${job_id}`, key, "GET")).body.status !== "completed") open.push(job_id);
          return open;
        },
        { timeout: 120_000, interval: 1_000 },
      )
      .toEqual([]);
    const effects = truth.effects();
    let items = 0;
    for (const { job_id, name, n } of jobs) {
      const { body } = await call(`${url}/api/jobs/${job_id}`, key, "GET");
      expect([name, body.result]).toEqual([name, { total: (n * (n + 1)) / 2 }]);
      for (let i = 0; i < n; i++) expect([name, i, effects.get(`${name} ${i}`)]).toEqual([name, i, 1]);
      items += n;
    }
    say(`${jobs.length} jobs, ${items} items, each once; longest call ${Math.round(longest_ms)} ms`);
    expect(truth.broken.slice(cut_short), before.server.said()).toEqual([]);
    expect(longest_ms).toBeLessThan(longest_refusal_ms);
  } finally {
    for (const one of [...running]) await one.end();
    await cluster.close();
    await rm(dir, { recursive: true, force: true });
  }
});
