// @ts-check
// The dashboard before a million jobs: the real server with the built files, a real Chromium, nothing in its cache. When the first
// thing is painted and when what was asked for is drawn, how many bytes that took, how long the calls behind it take, and that none
// of them reads a table of tasks from end to end.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import postgres from "postgres";
import { percentile } from "../statistics.js";
import { seed, WIDE } from "./ui_seed.js";

const GOAL = { paint_ms: 1000, list_ms: 200, heat_kb: 150 };
const TENANT = "default";
const browsers = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/snap/bin/chromium"];
/** Whoever reads one of these as a whole to show a number does not last. */
const WATCHED = ["tasks", "results", "attempts", "stages", "stage_progress", "jobs", "events"];

/** @param {import("./place.js").Place} place @param {{ n?: number, samples?: number }} options
 * @returns {Promise<import("./main.js").Found>} */
export async function ui(place, { n = 1_000_000, samples = 40 }) {
  const { say } = place;
  const executablePath = browsers.find((path) => existsSync(path));
  if (executablePath === undefined) throw new Error(`there is no Chromium at ${browsers.join(", ")}`);
  const key = await place.key(TENANT);
  const sql = postgres(place.server.url("service"), { max: 1, onnotice: () => {} });
  try {
    say(`seeding ${n.toLocaleString("en")} jobs and one stage of ${WIDE.toLocaleString("en")} tasks`);
    const { wide_job_id: wide } = await seed(sql, TENANT, n, say);
    const server = await place.start("server");
    const { url } = server.ready;
    const before = await scans(sql);
    const calls = await timedCalls(url, key, wide, samples, say);
    const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
    const shown = [];
    try {
      for (const view of views(wide)) {
        say(`${view.what} in the browser`);
        const seen = [];
        for (let round = 0; round < 6; round++) seen.push(await visit(browser, url, key, view));
        // The first pays for what the server and Postgres have not read yet.
        shown.push({ view, seen: seen.slice(1), first: seen[0] });
      }
    } finally {
      await browser.close();
    }
    await new Promise((resolve) => setTimeout(resolve, 2000));
    const after = await scans(sql);
    await server.stop();
    const rows = [...shown.flatMap(viewRows), ...calls, ...scanRows(before, after)];
    return { title: `The dashboard before ${n.toLocaleString("en")} jobs`, rows, notes: [] };
  } finally {
    await sql.end();
  }
}

/** `drawn`: what must be there for the view to be what was asked for. @param {string} wide */
const views = (wide) => [
  { what: "list", path: "/jobs", drawn: 'document.querySelectorAll("tr.job-row").length >= 50' },
  {
    what: "filtered list",
    path: `/jobs?q=${encodeURIComponent('status:failed error:"timed out" label:team=hydro')}`,
    drawn: 'document.querySelectorAll("tr.job-row").length >= 50',
  },
  {
    what: "job page",
    path: `/jobs/${wide}`,
    drawn:
      '/process_raster/.test(document.querySelector("h1")?.textContent) && document.querySelector(".bar-part") !== null',
  },
  {
    what: "heat map",
    path: `/jobs/${wide}/tasks?stage=tiles`,
    drawn:
      'document.querySelector("canvas")?.width > 300 && performance.getEntriesByType("resource").some(({ name }) => /cells/.test(name))',
    heat: true,
  },
];

/** @param {import("playwright-core").Browser} browser @param {string} url @param {string} key @param {{ path: string, drawn: string }} view */
async function visit(browser, url, key, { path, drawn }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  try {
    await context.request.post(`${url}/api/session`, { data: { key } });
    await context.addInitScript(`{
      const look = () => (${drawn}) ? requestAnimationFrame(() => { globalThis.drawn_at = performance.now(); }) : requestAnimationFrame(look);
      document.addEventListener("DOMContentLoaded", look);
    }`);
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    await devtools.send("Network.enable");
    /** @type {Map<string, { bytes: number, cells: boolean }>} */
    const sent = new Map();
    devtools.on("Network.responseReceived", ({ requestId, response }) =>
      sent.set(requestId, { bytes: 0, cells: /\/cells/.test(response.url) }),
    );
    devtools.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
      const one = sent.get(requestId);
      if (one !== undefined) one.bytes = encodedDataLength;
    });
    await page.goto(url + path, { waitUntil: "commit" });
    // By the debugger: the page's policy lets nothing be evaluated within it.
    let drawn_ms = Number.NaN;
    for (const until = performance.now() + 20_000; Number.isNaN(drawn_ms) && performance.now() < until; ) {
      await page.waitForTimeout(50);
      drawn_ms = Number((await page.evaluate("globalThis.drawn_at ?? null").catch(() => null)) ?? Number.NaN);
    }
    const paint_ms = await page.evaluate('performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN');
    await page.waitForTimeout(100);
    const all = [...sent.values()];
    const sum = (/** @type {typeof all} */ list) => list.reduce((total, { bytes }) => total + bytes, 0) / 1024;
    return { drawn_ms, paint_ms: Number(paint_ms), kb: sum(all), cells_kb: sum(all.filter(({ cells }) => cells)) };
  } finally {
    await context.close();
  }
}

/** @param {{ view: { what: string, heat?: boolean }, seen: Awaited<ReturnType<typeof visit>>[], first: Awaited<ReturnType<typeof visit>> | undefined }} shown */
function viewRows({ view: { what, heat = false }, seen, first }) {
  const median = (/** @type {"drawn_ms" | "paint_ms" | "kb" | "cells_kb"} */ of) =>
    percentile(
      seen.map((one) => one[of]),
      50,
    );
  const [drawn, paint] = [median("drawn_ms"), median("paint_ms")];
  const rows = [
    {
      what: `${what}, first paint, empty cache`,
      value: paint,
      unit: "ms",
      ...below(paint, GOAL.paint_ms, "ms"),
      more: `${median("kb").toFixed(0)} KB over the wire`,
    },
    {
      what: `${what}, drawn, empty cache`,
      value: drawn,
      unit: "ms",
      ...below(drawn, GOAL.paint_ms, "ms"),
      more: `very first visit ${first?.drawn_ms.toFixed(0)} ms`,
    },
  ];
  if (!heat) return rows;
  const kb = median("cells_kb");
  return [
    ...rows,
    {
      what: `${what}, its ${WIDE.toLocaleString("en")} tasks over the wire`,
      value: kb,
      unit: "KB",
      ...below(kb, GOAL.heat_kb, "KB"),
      more: "",
    },
  ];
}

/** The calls that stand behind the views, one after the other. @param {string} url @param {string} key @param {string} wide
 * @param {number} samples @param {(line: string) => void} say */
async function timedCalls(url, key, wide, samples, say) {
  const get = async (/** @type {string} */ path) => {
    const began = performance.now();
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${text.slice(0, 200)}`);
    return { ms: performance.now() - began, text };
  };
  const day = new Date(Date.now() - 86_400_000).toISOString();
  /** @type {[string, string, boolean][]} */
  const asked = [
    ["the list", "/api/jobs?limit=50&progress=true", true],
    ["the list, failed", "/api/jobs?limit=50&progress=true&status=failed", true],
    ["the list, running", "/api/jobs?limit=50&progress=true&status=processing", true],
    ["the list, one type and failed", "/api/jobs?limit=50&progress=true&type=type_03&status=failed", true],
    [
      "the list, an error's text and a label",
      "/api/jobs?limit=50&progress=true&error=timed%20out&label=team:hydro",
      true,
    ],
    ["the list, retrying", "/api/jobs?limit=50&progress=true&retrying=true", true],
    ["the list, a word that no job has", "/api/jobs?limit=50&progress=true&q=nowhere", true],
    ["counts", "/api/jobs/counts", true],
    ["counts of one type", "/api/jobs/counts?type=type_03", true],
    ["counts of the last day", `/api/jobs/counts?created_after=${day}`, false],
    ["counts of a label", "/api/jobs/counts?label=team:hydro", false],
    ["what a filter can be about", "/api/jobs/facets", false],
    ["the job", `/api/jobs/${wide}`, true],
    ["the job's error groups", `/api/jobs/${wide}/errors`, false],
  ];
  const rows = [];
  for (const [what, path, has_goal] of asked) {
    say(`${what}: ${samples} calls`);
    await get(path);
    const times = [];
    for (let i = 0; i < samples; i++) times.push((await get(path)).ms);
    const p95 = percentile(times, 95);
    const { text } = await get(path);
    rows.push({
      what: `GET ${what}, p95`,
      value: p95,
      unit: "ms",
      ...(has_goal ? below(p95, GOAL.list_ms, "ms") : {}),
      more: `p50 ${percentile(times, 50).toFixed(1)} ms, ${(text.length / 1024).toFixed(0)} KB${examined(text)}`,
    });
  }
  return rows;
}

/** @param {string} text */
function examined(text) {
  const found = /"examined":(\d+)/.exec(text)?.[1];
  return found === undefined ? "" : `, ${Number(found).toLocaleString("en")} jobs looked at`;
}

/** @param {import("postgres").Sql} sql */
async function scans(sql) {
  await sql`select pg_stat_clear_snapshot()`;
  const rows = await sql`
    select relname, seq_scan::int, n_live_tup::int from pg_stat_user_tables where schemaname = 'app' and relname in ${sql(WATCHED)}`;
  return new Map(rows.map(({ relname, seq_scan, n_live_tup }) => [relname, { seq_scan, n_live_tup }]));
}

/** @param {Awaited<ReturnType<typeof scans>>} before @param {Awaited<ReturnType<typeof scans>>} after */
function scanRows(before, after) {
  const risen = WATCHED.map((name) => (after.get(name)?.seq_scan ?? 0) - (before.get(name)?.seq_scan ?? 0));
  const total = risen.reduce((sum, one) => sum + one, 0);
  const each = WATCHED.map((name, i) => `${name} ${risen[i]}`).join(", ");
  return [
    {
      what: "sequential scans of tasks, results, jobs and the like",
      value: total,
      unit: "",
      wanted: "0",
      met: total === 0,
      more: each,
    },
  ];
}

/** @param {number} found @param {number} goal @param {string} unit */
const below = (found, goal, unit) => ({ wanted: `< ${goal} ${unit}`, met: found < goal });
