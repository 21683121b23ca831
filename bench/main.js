// @ts-check
// `npm run bench`: installs the peers if need be, starts a private Postgres, runs every measure and prints what came of it.
// Progress goes to stderr, the result to stdout. Ends everything it started.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import { verdicts } from "./goals.js";
import { benchH3 } from "./h3.js";
import { allMeasures, runMeasure } from "./measures/index.js";
import { readOptions, USAGE, UsageError } from "./options.js";
import { wordResult } from "./report.js";
import { startServer } from "./server.js";
import { isServiceBench, SERVICE_USAGE, serviceBench } from "./service/main.js";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const began = performance.now();
const elapsed_s = () => (performance.now() - began) / 1000;
const say = (/** @type {string} */ line) => process.stderr.write(`[${elapsed_s().toFixed(0).padStart(4)} s] ${line}\n`);

/** @param {import("./options.js").Options} options */
async function bench(options) {
  installPeers();
  const server = await startServer();
  // The server's guard sees this process go; the children see it too.
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
  try {
    say(`Postgres ${server.version} on its own, ${options.quick ? "quick" : "full"} run`);
    const time_is_up = () => options.budget_s !== null && elapsed_s() > options.budget_s;
    const measures = [];
    for (const measure of allMeasures(options)) {
      if (!options.measures.has(measure.name)) continue;
      if (!measure.rows.some(({ contender }) => options.contenders.has(contender))) continue;
      measures.push(await runMeasure({ server, options, say }, measure, time_is_up));
    }
    const server_errors = server.logged_errors();
    const environment = describe(server);
    return { environment, measures, goals: verdicts(measures, server_errors), server_errors, took_s: elapsed_s() };
  } finally {
    await server.stop();
  }
}

/** The peers are no dependencies of the package: they live here, with a lockfile of their own. */
function installPeers() {
  if (existsSync(`${HERE}node_modules/pg-boss`) && existsSync(`${HERE}node_modules/graphile-worker`)) return;
  say("installing the peers");
  execFileSync("npm", ["ci", "--prefix", HERE, "--no-audit", "--no-fund", "--loglevel", "error"], {
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
}

/** @param {import("./server.js").Server} server */
function describe(server) {
  const version = (/** @type {string} */ name) =>
    JSON.parse(readFileSync(`${HERE}node_modules/${name}/package.json`, "utf8")).version;
  return {
    node: process.version,
    postgres: server.version,
    "graphile-worker": version("graphile-worker"),
    "pg-boss": version("pg-boss"),
    cores: cpus().length,
    memory_gb: Math.round(totalmem() / 2 ** 30),
    ...server.settings,
  };
}

/** @param {string[]} args */
async function main(args) {
  if (isServiceBench(args[0])) return serviceBench(args);
  if (args[0] === "h3") return benchH3(args.slice(1));
  const options = readOptions(args);
  if (options === null) {
    process.stdout.write(USAGE + SERVICE_USAGE);
    return;
  }
  const result = await bench(options);
  process.stdout.write(options.json ? `${JSON.stringify(result, null, 2)}\n` : wordResult(result));
  if (result.measures.some(({ rows }) => rows.some(({ errors }) => errors.length > 0))) process.exitCode = 1;
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n\n${USAGE}${SERVICE_USAGE}`);
  process.exitCode = 2;
}
