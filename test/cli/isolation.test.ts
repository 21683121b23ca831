// However `fanfold up` ends, no process of a handler outlives it.
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { plainScript } from "../plain_code.js";
import { aliveIn } from "../worker/isolation_shop.js";
import { attemptsOf, eventually, openShop, type TestShop } from "../worker/shop.js";

const file = (name: string) => plainScript(new URL(name, import.meta.url));

async function startUp(shop: TestShop, ...flags: string[]) {
  const argv = [file("../../src/cli/main.ts"), "up", "--no-http", "--app", file("./isolation_app.ts"), ...flags];
  const env = {
    ...process.env,
    DATABASE_URL: shop.url,
    FANFOLD_DATA_DIR: shop.storage_dir,
    FANFOLD_LOG_LEVEL: "fatal",
    // Its handlers write to files of the test.
    FANFOLD_ISOLATION_USER: "same",
  };
  const child = spawn(process.execPath, argv, { env, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (more) => (text += more));
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  await eventually(() => text.includes("is up"));
  return { child, ended, text: () => text };
}

/** Starts a task of this type and gives the pid of its process. */
async function running(shop: TestShop, task_type: string): Promise<number> {
  const said = path.join(shop.storage_dir, task_type);
  await (await shop.otherEngine({})).enqueue(task_type, { file: said });
  let pid = 0;
  await eventually(async () => {
    pid = Number(await readFile(said, "utf8").catch(() => "0"));
    return pid > 0;
  });
  return pid;
}

test("SIGTERM ends the warm processes of up", async () => {
  const shop = await openShop({});
  const { child, ended } = await startUp(shop);
  const pid = await running(shop, "app.calm");
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
  expect(aliveIn(pid)).toEqual([]);
});

test("a second SIGTERM ends the busy processes of up and hands their tasks back", async () => {
  const shop = await openShop({});
  const { child, ended, text } = await startUp(shop);
  const pids = [await running(shop, "app.deaf"), await running(shop, "app.spin")];
  child.kill("SIGTERM");
  await eventually(() => text().includes("SIGTERM: finishing"));
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
  expect(pids.flatMap(aliveIn)).toEqual([]);
  expect(await attemptsOf(shop.db)).toMatchObject([{ outcome: "released" }, { outcome: "released" }]);
});

test("the processes of an up that is killed with -9 end by themselves, even in an endless loop", async () => {
  const shop = await openShop({});
  const { child, ended } = await startUp(shop);
  const pids = [await running(shop, "app.calm"), await running(shop, "app.deaf"), await running(shop, "app.spin")];
  child.kill("SIGKILL");
  await ended;
  await eventually(() => pids.flatMap(aliveIn).length === 0);
});

test("a handler that exits the process of up takes the processes of others with it", async () => {
  const shop = await openShop({});
  const { ended } = await startUp(shop);
  const pid = await running(shop, "app.spin");
  await (await shop.otherEngine({})).enqueue("app.exit", {});
  expect(await ended).toBe(5);
  await eventually(() => aliveIn(pid).length === 0);
});

test("an error nobody caught ends up with 1: what ran beside it is lost, what has not started is handed back", async () => {
  const shop = await openShop({});
  const { ended, text } = await startUp(shop, "--slots", "2");
  const pid = await running(shop, "app.spin");
  const { task_ids } = await (await shop.otherEngine({})).enqueueMany("app.throw_aside", [
    { parameters: {} },
    { parameters: {} },
    { parameters: {} },
  ]);
  expect(await ended).toBe(1);
  expect(text()).toContain("out of a timer");
  expect(text()).toContain("an error that nobody caught");
  expect(aliveIn(pid)).toEqual([]);
  await shop.db.sql`update app.workers set heartbeat_at = now() - interval '1 hour'`;
  await shop.engine.worker_commands.reap_workers(shop.db);
  const attempts = await shop.db.sql<{ outcome: string; task: string }>`
    select outcome, stage_id || '-' || ordinal as task from app.attempts order by outcome`;
  expect(attempts.map(({ outcome }) => outcome)).toEqual(["lost", "released"]);
  expect(task_ids).toContain(attempts[0]!.task);
});
