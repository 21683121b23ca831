// @ts-check
// `npm run bench -- http` and `npm run bench -- fairness`: the service as it runs in production (its own process, its own role,
// API keys), measured from outside. Progress goes to stderr, the result to stdout. Ends everything it started.
import { parseArgs } from "node:util";
import { UsageError } from "../options.js";
import { startServer } from "../server.js";
import { fairness } from "./fairness.js";
import { http } from "./http.js";
import { openPlace } from "./place.js";
import { pooler } from "./pooler.js";
import { python } from "./python.js";
import { raster } from "./raster.js";
import { requests } from "./requests.js";
import { stac } from "./stac.js";
import { ui } from "./ui.js";
import { vector } from "./vector.js";

export const SERVICE_USAGE = `
npm run bench -- http     [--n most] [--callers n] [--json]   submits over HTTP, and the client's bulk calls
npm run bench -- stac     [--n items] [--json]                items a second into each catalogue, and searches
npm run bench -- ui       [--n jobs] [--samples n] [--json]   the dashboard before a million jobs, in Chromium
npm run bench -- fairness [--n queued] [--samples n] [--json] how long one tenant waits behind another's backlog
npm run bench -- requests [--n requests] [--callers n] [--json] requests of three jobs, beside jobs with depends_on
npm run bench -- pooler   [--samples n] [--json]              how long a task waits for an idle worker behind PgBouncer
npm run bench -- python   [--n tasks] [--samples n] [--json]  a Python worker beside procrastinate and dramatiq
npm run bench -- vector   [--n lines] [--samples n] [--json]  a load, features and tiles beside ogr2ogr, tipg and titiler
npm run bench -- h3       [--json]                            cells and pixels a CPU second, without the service
npm run bench -- raster   [--n tiles] [--samples n] [--only tiles,wasm,large] [--json] beside a shell loop and a Python script that do the same
`;

const measures = { http, fairness, stac, ui, pooler, requests, python, vector, raster };

/** @param {string | undefined} name */
export function isServiceBench(name) {
  return name !== undefined && Object.hasOwn(measures, name);
}

/** @param {string[]} args */
export async function serviceBench([name = "", ...rest]) {
  const began = performance.now();
  const say = (/** @type {string} */ line) =>
    process.stderr.write(`[${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s] ${line}\n`);
  const { values } = readArgs(rest);
  const measure = measures[/** @type {keyof typeof measures} */ (name)];
  const server = await startServer();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
  try {
    say(`Postgres ${server.version} on its own`);
    const place = await openPlace(server, say);
    try {
      const found = await measure(place, {
        n: count("--n", values.n),
        callers: count("--callers", values.callers),
        samples: count("--samples", values.samples),
        only: values.only?.split(",").filter(Boolean),
      });
      const errors = server.logged_errors();
      if (values.json) process.stdout.write(`${JSON.stringify({ ...found, server_errors: errors }, null, 2)}\n`);
      else process.stdout.write(worded(found, errors));
    } finally {
      await place.close();
    }
  } finally {
    await server.stop();
  }
}

/**
 * @typedef {object} Found
 * @property {string} title
 * @property {{ what: string, value: number, unit: string, more?: string, wanted?: string, met?: boolean }[]} rows
 * @property {string[]} notes
 */

/** @param {Found} found @param {{ sqlstate: string, count: number }[]} errors */
function worded({ title, rows, notes }, errors) {
  const lines = rows.map(({ what, value, unit, more = "", wanted, met }) => {
    const verdict = wanted === undefined ? "    " : met ? "PASS" : "MISS";
    const figure = value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(unit === "×" ? 2 : 1);
    const goal = wanted === undefined ? "" : `  (wanted ${wanted})`;
    return `  ${verdict}  ${what.padEnd(58)} ${figure.padStart(10)} ${unit}${goal}${more === "" ? "" : `  ${more}`}`;
  });
  const logged = errors.map(({ sqlstate, count: times }) => `${sqlstate}: ${times}`);
  const last = `Errors in the server's log: ${logged.length > 0 ? logged.join(", ") : "none"}.`;
  return `${[title, ...lines, ...notes, last].join("\n")}\n`;
}

/** @param {string[]} args */
function readArgs(args) {
  try {
    return parseArgs({
      args,
      options: {
        n: { type: "string" },
        callers: { type: "string" },
        samples: { type: "string" },
        only: { type: "string" },
        json: { type: "boolean" },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** @param {string} option @param {string | undefined} text @returns {number | undefined} */
function count(option, text) {
  if (text === undefined) return undefined;
  const value = Number(text.replaceAll("_", ""));
  if (!Number.isInteger(value) || value < 1)
    throw new UsageError(`${option}: ${text} is not a whole number above zero`);
  return value;
}
