// The examples run as they stand, each as a process of its own. The first one uses the database in memory, as whoever reads it
// will; the others a Postgres server, under the role a service runs as.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { openServer } from "../src/engine/database/server_database.js";
import { withoutPostgis } from "./catalog_packages.js";
import { build, root } from "./cli/built_program.js";
import { type FreshDatabase, freshDatabase, realServer, type Variant } from "./postgres.js";

const login = `ff_example_${Math.random().toString(36).slice(2, 10)}`;
/** As `npx jiti` runs it. */
const jiti = join(root, "node_modules", "jiti", "lib", "jiti-cli.mjs");
const databases: FreshDatabase[] = [];
let cwd: string;

// They mostly wait, so they run side by side; and processes of their own take their time on a machine that has much to do.
vi.setConfig({ testTimeout: 120_000 });

beforeAll(async () => {
  await build();
  cwd = await mkdtemp(join(tmpdir(), "fanfold-examples-"));
  // Roles are the server's, not a database's: it is made once for all of them.
  const fresh = await freshDatabase();
  databases.push(fresh);
  await fresh.db.script(`create role ${login} login; grant fanfold_api, fanfold_worker to ${login}`);
});
afterAll(async () => {
  for (const { drop } of databases) await drop();
  const admin = openServer((await realServer()).admin_url);
  await admin.script(`drop role if exists ${login}`);
  await admin.close();
  await rm(cwd, { recursive: true, force: true });
});

/** The server's login on a database of its own. */
async function serverUrl(variant: Variant = "app"): Promise<string> {
  const fresh = await freshDatabase({ variant });
  databases.push(fresh);
  await fresh.db.sql`select app.map_role(${login}::text::name, null)`;
  const url = new URL(fresh.url);
  url.username = login;
  return url.href;
}

/** What it says, line by line; anything on stderr or any other end than a good one fails. */
async function run(name: string, env: Record<string, string> = {}): Promise<string[]> {
  const { DATABASE_URL: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [jiti, join(root, "examples", name, "main.ts")], {
    cwd,
    env: { ...inherited, ...env },
  });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (err += text));
  const code = await new Promise((resolve) => child.on("close", resolve));
  expect([code, err]).toEqual([0, ""]);
  return out.trimEnd().split("\n");
}

test("every example is a folder with a README that says how to run it", async () => {
  const folders = readdirSync(join(root, "examples"), { withFileTypes: true })
    .filter(
      (entry) =>
        entry.isDirectory() && !/^(word_count|platform_request|cubed_resume|odc_stac|readme-)/.test(entry.name),
    )
    .map(({ name }) => name);
  expect(folders.length).toBeGreaterThanOrEqual(7);
  for (const name of folders) {
    const readme = await readFile(join(root, "examples", name, "README.md"), "utf8");
    const command = name.startsWith("python_")
      ? `python examples/${name}/main.py`
      : `npx jiti examples/${name}/main.ts`;
    expect(readme).toContain(command);
  }
});

test.concurrent("first_job: a job is declared, run and read, in memory", async ({ expect }) => {
  expect(await run("first_job")).toEqual(["completed: 26 characters in 3 texts", "submitted again: the same job"]);
});

test.concurrent("approval_gate: a person decides", async ({ expect }) => {
  expect(await run("approval_gate", { DATABASE_URL: await serverUrl() })).toEqual([
    "Flood map 2030: Read the draft. Is it fit to be seen?",
    "  approved (reads well), job completed: <h1>Flood map 2030</h1>",
    "Flood map of my cat: Read the draft. Is it fit to be seen?",
    "  rejected (not a map), job failed",
  ]);
});

test.concurrent("multi_tenant_service: two customers share a service and see nothing of each other", async ({
  expect,
}) => {
  const lines = await run("multi_tenant_service", { DATABASE_URL: await serverUrl() });
  expect(lines).toEqual([
    "same parameters, same job id: false",
    "acme's job: completed",
    "globex's job: completed",
    "globex asks for acme's job: not found",
    "globex asks for acme's job: not found",
    "globex sees 1 job, acme sees 1",
    expect.stringMatching(/^globex, four images: .*\b3\b/),
    "acme, four images: completed",
  ]);
});

test.concurrent("webhook_receiver: what is signed is heard, what is forged is not", async ({ expect }) => {
  expect(await run("webhook_receiver", { DATABASE_URL: await serverUrl() })).toEqual([
    "heard: job.completed, resize_image is completed, 7680 bytes",
    "forged: answered with 401, heard 1 message in all",
  ]);
});

test("webhook_receiver: it believes what the reference library of Standard Webhooks signs, and each message once", async () => {
  const { startReceiver } = await import("../examples/webhook_receiver/receiver.ts");
  const secret = `whsec_${randomBytes(32).toString("base64")}`;
  const heard: unknown[] = [];
  const receiver = await startReceiver({
    secrets: () => [secret],
    onWebhook: (message: unknown) => heard.push(message),
  });
  onTestFinished(() => receiver.stop());
  const body = JSON.stringify({ type: "job.completed", name: "Zoë" });
  const at = new Date();
  const send = async (id: string, signed_as = id, text = body) => {
    const headers = {
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
      "webhook-signature": new Webhook(secret).sign(signed_as, at, body),
    };
    return (await fetch(receiver.url, { method: "POST", headers, body: text })).status;
  };
  expect([await send("msg_1"), await send("msg_1"), await send("msg_2")]).toEqual([204, 204, 204]);
  expect([await send("msg_3", "msg_4"), await send("msg_5", "msg_5", `${body} `)]).toEqual([401, 401]);
  expect(heard).toEqual([JSON.parse(body), JSON.parse(body)]);
});

test.concurrent("scheduled_job: each time gets one job", async ({ expect }) => {
  const [words, ...rest] = await run("scheduled_job", { DATABASE_URL: await serverUrl() });
  expect(words).toMatch(/^0 3 \* \* \* would be: .+/);
  expect(rest).toEqual([
    "a job for its own time: true, completed",
    "a job for its own time: true, completed",
    "two times, two jobs: true",
  ]);
});

test.concurrent("custom_connector: a connector of one's own calls through the guard, with a secret that is only named", async ({
  expect,
}) => {
  expect(await run("custom_connector", { DATABASE_URL: await serverUrl() })).toEqual([
    "job completed",
    "Bern: 12 celsius",
    "Zug: 9 celsius",
    "the service answered: 200, 429",
  ]);
});

test.concurrent("raster_to_stac: a scene becomes a COG that is found by its place and read over HTTP", async ({
  expect,
}) => {
  // Where the server has no PostGIS, on the database in memory, which always has.
  const env: Record<string, string> =
    (await withoutPostgis()) === null ? { DATABASE_URL: await serverUrl("stac") } : {};
  expect(await run("raster_to_stac", env)).toEqual([
    "completed: 1 cogs, 1 stac_items, 1 collection",
    "found there: dem",
    "found elsewhere: 0",
    "its COG: 206, 4 bytes of image/tiff",
  ]);
});
