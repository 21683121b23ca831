// @ts-check
// A database as a service has it: tables of their owner, a login of the server that is neither superuser nor owner, tenants with
// keys; and processes on it, each of which ends with this one.
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRegistry, openEngine } from "../../dist/index.js";

const PROCESS = fileURLToPath(new URL("process.js", import.meta.url));

/**
 * @typedef {object} Place
 * @property {(line: string) => void} say
 * @property {import("../server.js").Server} server
 * @property {(tenant: string, scopes?: ("submit" | "read" | "operate" | "work" | "admin")[]) => Promise<string>} key of a tenant, made when new
 * @property {(role: "server" | "worker" | "load" | "boss_proxy", settings?: object) => Promise<Running>} start
 * @property {string} database_url of the server's login
 * @property {string} storage_dir
 * @property {import("../../dist/index.js").Engine["db"]} db as the owner of the tables
 * @property {() => Promise<void>} analyze what autovacuum would have done in a database that is not seconds old
 * @property {() => Promise<void>} close
 *
 * @typedef {object} Running
 * @property {any} ready what it said when it was up
 * @property {(order: object) => Promise<any>} ask
 * @property {(listener: (told: any) => void) => void} onTold
 * @property {() => Promise<void>} stop
 */

/** @param {import("../server.js").Server} server @param {(line: string) => void} say @returns {Promise<Place>} */
export async function openPlace(server, say) {
  await server.admin`create database service`;
  const storage_dir = mkdtempSync(join(tmpdir(), "fanfold-bench-storage-"));
  const admin_url = server.url("service");
  const admin = await openEngine({ database_url: admin_url, storage_dir, registry: createRegistry({}), migrate: true });
  await admin.db.script("create role bench_server login; grant fanfold_api, fanfold_worker to bench_server");
  await admin.db.sql`select app.map_role('bench_server', null)`;
  const login = new URL(admin_url);
  login.username = "bench_server";
  /** @type {Set<Running>} */
  const running = new Set();
  return {
    say,
    server,
    database_url: login.href,
    storage_dir,
    db: admin.db,
    analyze: () => admin.db.script("analyze"),
    async key(tenant, scopes = ["submit", "read"]) {
      await admin.db.sql`select app.create_tenant(${tenant})`;
      const made = await admin.forTenant(tenant).keys.create({ name: "bench", scopes });
      return made.key;
    },
    async start(role, settings = {}) {
      const one = await startProcess(role, { database_url: login.href, storage_dir, ...settings }, () =>
        running.delete(one),
      );
      running.add(one);
      return one;
    },
    async close() {
      await Promise.all([...running].map((one) => one.stop()));
      await admin.close();
      rmSync(storage_dir, { recursive: true, force: true });
    },
  };
}

/** @param {string} role @param {object} settings @param {() => void} gone @returns {Promise<Running>} */
export async function startProcess(role, settings, gone) {
  const child = fork(PROCESS, [role, JSON.stringify(settings)], { stdio: ["ignore", "ignore", "pipe", "ipc"] });
  let said = "";
  child.stderr?.on("data", (text) => {
    said = (said + text).slice(-4000);
  });
  /** @type {Map<number, { resolve(value: any): void, reject(error: Error): void }>} */
  const waiting = new Map();
  let next_id = 1;
  let on_told = (/** @type {any} */ _) => {};
  const ended = new Promise((resolve) => {
    child.once("exit", (code) => {
      for (const { reject } of waiting.values())
        reject(new Error(`the ${role} process ended with code ${code}\n${said}`));
      waiting.clear();
      gone();
      resolve(undefined);
    });
  });
  child.on("message", (/** @type {any} */ message) => {
    if (message.id === undefined) return on_told(message);
    const caller = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error !== undefined) caller?.reject(new Error(`${role}: ${message.error}`));
    else caller?.resolve(message.value);
  });
  const ask = (/** @type {object} */ order) =>
    new Promise((resolve, reject) => {
      const id = next_id++;
      waiting.set(id, { resolve, reject });
      child.send({ id, order });
    });
  return {
    ready: await ask({ what: "open" }),
    ask,
    onTold: (listener) => {
      on_told = listener;
    },
    async stop() {
      const kill = setTimeout(() => child.kill("SIGKILL"), 10_000);
      if (child.connected) await ask({ what: "close" }).catch(() => {});
      await ended;
      clearTimeout(kill);
    },
  };
}
