// @ts-check
// One process of one contender: a producer or a worker. It does what the parent asks over IPC, times each call, and tells
// how many handlers have run; it ends when the parent is gone. Started by processes.js.
import { readFileSync } from "node:fs";
import { contenderModule } from "./contenders/index.js";

const [name = "", url = ""] = process.argv.slice(2);
const contender = await contenderModule(name);

let ran = 0;
/** @type {number[]} */
let lags = [];
/** @type {NodeJS.Timeout | null} */
let timer = null;

// Handlers run tens of thousands of times a second: the parent hears a total every few milliseconds, not each of them.
function tell() {
  timer = null;
  process.send?.({ ran, lags });
  lags = [];
}

/** @type {import("./contenders/index.js").Notes} */
const notes = {
  ran(count = 1) {
    ran += count;
    if (timer === null) timer = setTimeout(tell, 2);
  },
  // The monotonic clock is the machine's, so that a moment taken in the producer can be subtracted here.
  started(sent_at) {
    lags.push(Number(process.hrtime.bigint() - BigInt(sent_at)) / 1e6);
    ran += 1;
    if (timer === null) timer = setTimeout(tell, 0);
  },
};

/** @type {import("./contenders/index.js").Session | null} */
let session = null;

/** @param {string} verb @param {any} args */
async function perform(verb, args) {
  if (verb === "prepare") return contender.prepare(url);
  if (verb === "usage") return usage();
  if (verb === "close") return session?.close();
  session ??= await contender.open(url, notes);
  if (verb === "open") return;
  const method = /** @type {any} */ (session)[verb];
  if (!method) throw new Error(`${name} has no ${verb}`);
  return method.call(session, args);
}

function usage() {
  const { user, system } = process.cpuUsage();
  return { rss_mb: peakMemory() / 1024, cpu_ms: (user + system) / 1000 };
}

/** In KB. getrusage would carry the parent's size over the exec, so the kernel's own mark for this program comes first. */
function peakMemory() {
  try {
    const found = /VmHWM:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"));
    if (found) return Number(found[1]);
  } catch {
    // Not Linux.
  }
  return process.resourceUsage().maxRSS;
}

process.on("message", async (/** @type {{ id: number, verb: string, args: any }} */ { id, verb, args }) => {
  const started = performance.now();
  try {
    const value = await perform(verb, args);
    process.send?.({ id, value, ms: performance.now() - started });
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
  if (verb === "close") process.disconnect();
});
process.on("disconnect", () => process.exit());
process.on("SIGINT", () => {});
