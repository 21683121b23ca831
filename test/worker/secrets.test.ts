// Secrets by reference: where they come from, whose they are, and that none is ever written down.
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { environmentForHandlers } from "../../src/config.js";
import { defineHandler } from "../../src/core/declare/declare.js";
import type { Database } from "../../src/engine/database/database.js";
import { Sealer, sealedFor } from "../../src/engine/sealing.js";
import type { WorkerOptions } from "../../src/worker/options.js";
import { Secrets, secretVariable } from "../../src/worker/run/secrets.js";
import { node_args } from "./isolation_shop.js";
import { dies_with_secret, leaks, leaks_apart, opens } from "./secret_handlers.js";
import { eventually, openShop, type TestShop } from "./shop.js";

const value = "sk_live_51H8/+=?& \"'ÄöZ9q";

afterEach(() => {
  vi.unstubAllEnvs();
});

/** A log that keeps its lines. */
function keptLog() {
  const lines: string[] = [];
  return { lines, log: pino({ level: "trace" }, { write: (line: string) => void lines.push(line) }) };
}

/** Every row of every table, as text. */
async function everything(db: Database): Promise<string> {
  const tables = await db.sql<{ name: string }>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'app' order by 1`;
  let text = "";
  for (const { name } of tables) {
    const [row] = await db.sql<{ rows: string | null }>(
      Object.assign([`select string_agg(t::text, E'\\n') as rows from ${name} t`], {
        raw: [""],
      }) as unknown as TemplateStringsArray,
    );
    text += row?.rows ?? "";
  }
  return text;
}

/** The secret, in whatever way it is usually written, and its halves. */
function expectNoTrace(text: string): void {
  const forms = [
    value,
    value.slice(0, 12),
    encodeURIComponent(value),
    JSON.stringify(value).slice(1, -1),
    Buffer.from(value).toString("base64"),
    Buffer.from(value).toString("base64url"),
    Buffer.from(value).toString("hex"),
    // The middle of what `user:<value>` becomes.
    Buffer.from(`user:${value}`).toString("base64").slice(8, 28),
  ];
  for (const form of forms) expect(text.includes(form), form).toBe(false);
}

async function ended(shop: TestShop, task_id: string) {
  await eventually(async () => ["completed", "failed"].includes((await shop.engine.task(task_id)).status));
  return shop.engine.task(task_id);
}

async function openLeaking(more: WorkerOptions = {}) {
  const here = defineHandler("leaks", {}, leaks);
  const shop = await openShop({ handlers: [here, leaks_apart, dies_with_secret, opens] });
  const { lines, log } = keptLog();
  const worker = await shop.worker({ log, isolation_node_args: node_args, ...more });
  const run = async (name: string, parameters: Record<string, unknown>) => {
    const { task_id } = await shop.engine.enqueue(name, parameters, { max_attempts: 1 });
    return ended(shop, task_id);
  };
  const written = async () => {
    await worker.stop();
    return (await everything(shop.db)) + lines.join("");
  };
  return { shop, worker, run, written };
}

test("after success, failure and crash, here and in another process, a secret is in no row of any table and in no log", async () => {
  const { run, written } = await openLeaking({ secrets: async (_, name) => (name === "stripe_key" ? value : null) });
  for (const name of ["leaks", "leaks_apart"]) {
    const { result } = await run(name, { how: "returns" });
    expect(result).toMatchObject({ value: "[redacted]", untouched: "sk" });
    expect(await run(name, { how: "throws" })).toMatchObject({ status: "failed", error: { category: "permanent" } });
    expect(await run(name, { how: "returns_failure" })).toMatchObject({ error: { message: "no [redacted]" } });
  }
  const died = await run("dies_with_secret", {});
  expect(died).toMatchObject({ error: { message: expect.stringContaining("nobody catches [redacted]") } });
  const text = await written();
  expectNoTrace(text);
  // It was written seven times, and each time something else stands there.
  expect(text.split("the key is [redacted], as basic ").length).toBeGreaterThan(7);
  expect(text.includes("last words: [redacted]")).toBe(true);
});

test("a worker that ends by an error nobody caught does not tell its tasks' secrets", async () => {
  const { run, worker, written } = await openLeaking({ secrets: () => value });
  await run("leaks", { how: "returns" });
  await worker.crash(new Error(`with ${value}`));
  const text = await written();
  expectNoTrace(text);
  expect(text.includes("with [redacted]")).toBe(true);
});

test("what a log line says under a key that sounds secret is left out, whoever logs it", async () => {
  const talks = defineHandler("talks", {}, (_, ctx) => {
    ctx.log.info("calling", {
      headers: { Authorization: "Bearer abcdef", "x-api-key": "abcdef", accept: "json" },
      config: { db_password: "abcdef", accessToken: "abcdef", token_count: 3, secret: "secret://mine" },
    });
  });
  const shop = await openShop({ handlers: [talks] });
  const worker = await shop.worker();
  const { task_id } = await shop.engine.enqueue("talks", {});
  await ended(shop, task_id);
  await worker.stop();
  const [{ data } = { data: null }] = await shop.db.sql<{ data: unknown }>`select data from app.task_logs`;
  expect(data).toEqual({
    headers: { Authorization: "[redacted]", "x-api-key": "[redacted]", accept: "json" },
    config: { db_password: "[redacted]", accessToken: "[redacted]", token_count: 3, secret: "secret://mine" },
  });
});

test("a secret comes from the function, the environment or a file, in this order, for its own tenant only", async () => {
  const dir = await mkdtemp(join(tmpdir(), "fanfold-secrets-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  await mkdir(join(dir, "acme"));
  await writeFile(join(dir, "acme", "from.file"), "of a file\n");
  await writeFile(join(dir, "acme", "both"), "of a file");
  await writeFile(join(dir, "outside"), "not to be read");
  const env: Record<string, string> = {
    FANFOLD_SECRET_ACME__BOTH: "of the environment",
    FANFOLD_SECRET_ACME__ALL: "e",
  };
  const ask = async (tenant: string, name: string) => (name === "all" ? `of ${tenant}'s vault` : null);
  const secrets = new Secrets({ ask, dir, env: (name) => env[name] });
  expect(await secrets.tell("acme", "all")).toBe("of acme's vault");
  expect(await secrets.tell("acme", "secret://both")).toBe("of the environment");
  expect(await secrets.tell("acme", "from.file")).toBe("of a file");
  const message =
    'there is no secret "both" for tenant "other"; looked for: the worker\'s secrets function, ' +
    "the variable FANFOLD_SECRET_OTHER__BOTH, the file other/both in FANFOLD_SECRETS_DIR";
  await expect(secrets.tell("other", "both")).rejects.toMatchObject({ message, category: "permanent" });
  for (const name of ["../outside", "..", "", "a/b", "A", ".hidden", "x".repeat(64)]) {
    await expect(secrets.tell("acme", name)).rejects.toMatchObject({ code: "bad_secret_name" });
  }
  const broken = new Secrets({ ask: () => Promise.reject(new Error("token hvs.abc refused")), env: () => undefined });
  const down = await broken.tell("acme", "x").catch((error: unknown) => error);
  expect(down).toMatchObject({ category: "transient", code: "secret_unavailable" });
  expect(JSON.stringify(down) + (down as Error).stack).not.toContain("hvs.abc");
});

test("no two tenants' secrets have the same variable", () => {
  const tenants = ["a", "a_b", "a-b", "a__b", "b"];
  const names = ["x", "b__x", "b_x", "x.y", "_x"];
  const variables = tenants.flatMap((tenant) => names.map((name) => secretVariable(tenant, name)));
  const usable = variables.filter((one) => one !== null);
  expect(new Set(usable).size).toBe(usable.length);
  expect(secretVariable("a_b", "stripe_key")).toBe("FANFOLD_SECRET_A_B__STRIPE_KEY");
  expect(secretVariable("a-b", "x")).toBeNull();
});

test("secrets of the environment are told by name only, and a task without its secret fails for good", async () => {
  vi.stubEnv("FANFOLD_SECRET_DEFAULT__STRIPE_KEY", value);
  const { run, written } = await openLeaking();
  expect(await run("leaks_apart", { how: "returns" })).toMatchObject({ status: "completed" });
  vi.unstubAllEnvs();
  const missing = await run("leaks_apart", {});
  expect(missing).toMatchObject({ status: "failed", error: { category: "permanent", code: "secret_missing" } });
  expectNoTrace(await written());
});

test("the processes of isolated handlers are given neither secrets nor keys", () => {
  const given = {
    FANFOLD_SECRET_KEY: "key",
    FANFOLD_SECRETS_DIR: "/run/secrets",
    FANFOLD_SECRET_A_B__C: "value",
    PATH: "/bin",
  };
  expect(environmentForHandlers(given)).toMatchObject({
    FANFOLD_SECRET_KEY: "",
    FANFOLD_SECRETS_DIR: "",
    FANFOLD_SECRET_A_B__C: "",
    PATH: "/bin",
  });
});

test("what the service has sealed is opened for its own tenant, and taken out of the result", async () => {
  const key = randomBytes(32);
  const sealer = new Sealer([key]);
  const shop = await openShop({ handlers: [opens] });
  Object.assign(shop.engine, { sealer });
  const worker = await shop.worker({ isolation_node_args: node_args });
  const sealed = (tenant: string) => sealer.seal(value, sealedFor(tenant, "webhook/1"));
  const own = await shop.engine.enqueue("opens", { sealed: sealed("default") }, { max_attempts: 1 });
  const foreign = await shop.engine.enqueue("opens", { sealed: sealed("other") }, { max_attempts: 1 });
  expect(await ended(shop, own.task_id)).toMatchObject({ result: { length: value.length, value: "[redacted]" } });
  expect(await ended(shop, foreign.task_id)).toMatchObject({ status: "failed", error: { code: "not_sealed" } });
  await worker.stop();
});
