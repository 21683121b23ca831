// @ts-check
// How many submits a second one server takes over HTTP, and how many tasks the client brings in bulk; beside pg-boss's own
// proxy, where that can be had.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { freePort } from "../postgres_binaries.js";

const BENCH = fileURLToPath(new URL("..", import.meta.url));
const GOAL = { submits: 1000, tasks: 10_000 };

/** @param {import("./place.js").Place} place @param {{ n?: number, callers?: number }} options
 * @returns {Promise<import("./main.js").Found>} */
export async function http(place, { n = Number.POSITIVE_INFINITY, callers = 32 }) {
  const { say } = place;
  const submits = Math.min(n, 20_000);
  const bulk = Math.min(n, 200_000);
  const jobs = Math.min(n, 50_000);
  const key = await place.key("default");
  const server = await place.start("server");
  const load = await place.start("load");
  const { url } = server.ready;
  const headers = { authorization: `Bearer ${key}` };
  const submit = (/** @type {number} */ from, /** @type {number} */ count) =>
    load.ask({
      what: "calls",
      url,
      headers,
      from,
      n: count,
      callers,
      expect: 201,
      path: "/api/jobs/submit/bench_one",
      body: '{"parameters":{"i":"#"}}',
    });
  const warm_up = Math.min(submits, 2000);
  await submit(0, warm_up);
  await place.analyze();
  say("submits, one job a call");
  const used = await server.ask({ what: "usage" });
  const one = await submit(warm_up, submits);
  const then = await server.ask({ what: "usage" });
  say("the client's enqueueMany");
  const enqueue = { what: "client", url, key, verb: "enqueueMany", type: "bench.noop", from: 0 };
  await load.ask({ ...enqueue, n: Math.min(bulk, 5000) });
  const before_bulk = await server.ask({ what: "usage" });
  const tasks = await load.ask({ ...enqueue, n: bulk });
  const after_bulk = await server.ask({ what: "usage" });
  say("the client's submitMany");
  const submit_many = { what: "client", url, key, verb: "submitMany", from: 10_000_000 };
  const many = await load.ask({ ...submit_many, type: "bench_one", n: jobs });
  const wide = await load.ask({ ...submit_many, type: "bench_hundred", n: Math.ceil(jobs / 20) });
  const cpu = (then.cpu_ms - used.cpu_ms) / submits;
  const rows = [
    {
      what: `submits over HTTP, ${callers} callers`,
      value: one.per_s,
      unit: "jobs/s",
      more: `p50 ${one.p50_ms.toFixed(1)} ms, p99 ${one.p99_ms.toFixed(1)} ms, max ${one.max_ms.toFixed(1)} ms, server ${cpu.toFixed(2)} ms of CPU each`,
      ...atLeast(one.per_s, GOAL.submits),
    },
    {
      what: "the client's enqueueMany",
      value: tasks.per_s,
      unit: "tasks/s",
      more: `server ${(((after_bulk.cpu_ms - before_bulk.cpu_ms) / bulk) * 1000).toFixed(0)} ms of CPU per thousand`,
      ...atLeast(tasks.per_s, GOAL.tasks),
    },
    {
      what: "the client's submitMany, jobs of 100 tasks",
      value: wide.per_s * 100,
      unit: "tasks/s",
      ...atLeast(wide.per_s * 100, GOAL.tasks),
    },
    { what: "the client's submitMany, jobs of one task", value: many.per_s, unit: "jobs/s" },
  ];
  await server.stop();
  const boss = await besideBoss(place, load, { submits, warm_up, callers });
  if ("row" in boss) rows.push(boss.row);
  return { title: "The HTTP service", rows, notes: "note" in boss ? [boss.note] : [] };
}

/** @param {import("./place.js").Place} place @param {import("./place.js").Running} load
 * @param {{ submits: number, warm_up: number, callers: number }} sizes */
async function besideBoss(place, load, { submits, warm_up, callers }) {
  const why = installProxy();
  if (why !== null) return { note: `pg-boss's own HTTP proxy is not beside it: ${why}` };
  try {
    place.say("pg-boss's proxy, one job a call");
    await place.server.admin`create database boss_proxy`;
    const boss_url = place.server.url("boss_proxy");
    const proxy = await place.start("boss_proxy", { boss_url, port: await freePort() });
    const send = (/** @type {number} */ from, /** @type {number} */ count) =>
      load.ask({
        what: "calls",
        url: proxy.ready.url,
        headers: {},
        from,
        n: count,
        callers,
        expect: 200,
        path: "/api/send",
        body: '{"name":"noop","data":{"i":"#"}}',
      });
    await send(0, warm_up);
    const sent = await send(warm_up, submits);
    await proxy.stop();
    const more = `p50 ${sent.p50_ms.toFixed(1)} ms, p99 ${sent.p99_ms.toFixed(1)} ms, max ${sent.max_ms.toFixed(1)} ms`;
    return { row: { what: `pg-boss's own proxy, send, ${callers} callers`, value: sent.per_s, unit: "jobs/s", more } };
  } catch (error) {
    return {
      note: `pg-boss's own HTTP proxy failed: ${error instanceof Error ? error.message.split("\n")[0] : error}`,
    };
  }
}

/** Null when it is there; else why not. It is no part of the lockfile, because npm may not have it. */
function installProxy() {
  const there = () => existsSync(`${BENCH}node_modules/@pg-boss/proxy`);
  if (there()) return null;
  try {
    if (!existsSync(`${BENCH}node_modules/pg-boss`)) npm("ci");
    npm("install", "--no-save", "@pg-boss/proxy");
    return there() ? null : "npm installed nothing";
  } catch (error) {
    const text = String(Object(error).stderr ?? error);
    if (/E404/.test(text)) return "npm has no package @pg-boss/proxy";
    return `@pg-boss/proxy could not be installed (${/npm error (.*)/.exec(text)?.[1] ?? "npm failed"})`;
  }
}

/** @param {string[]} args */
function npm(...args) {
  execFileSync("npm", [...args, "--prefix", BENCH, "--no-audit", "--no-fund", "--loglevel", "error"], {
    stdio: ["ignore", "ignore", "pipe"],
    shell: process.platform === "win32",
    encoding: "utf8",
    timeout: 120_000,
  });
}

/** @param {number} found @param {number} goal */
const atLeast = (found, goal) => ({ wanted: `>= ${goal.toLocaleString("en")}`, met: found >= goal });
