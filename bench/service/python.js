// @ts-check
// `npm run bench -- python`: one Python worker process over HTTP beside procrastinate (on the same Postgres) and dramatiq (on a Redis of its own):
// no-op tasks a second, the worker's CPU for each, how long an idle one takes to start a task, and the memory of a fan-in over 100,000 results.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { freePort } from "../postgres_binaries.js";
import { percentile } from "../statistics.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const HERE = join(ROOT, "bench", "python");
const ROUNDS = 3;

/** @param {import("./place.js").Place} place @param {{ n?: number, samples?: number }} options
 * @returns {Promise<import("./main.js").Found>} */
export async function python(place, { n = 20_000, samples = 60 }) {
  const { say } = place;
  const interpreter = environment(say);
  const dir = mkdtempSync(join(tmpdir(), "fanfold-bench-python-"));
  /** @type {Set<Talker>} */
  const talkers = new Set();
  const redis = await startRedis(dir);
  try {
    await place.server.admin`create database procrastinate`;
    const base = {
      PATH: process.env.PATH ?? "",
      PYTHONPATH: [join(ROOT, "python", "src"), HERE].join(":"),
      PYTHONDONTWRITEBYTECODE: "1",
      BENCH_LAGS: join(dir, "lags"),
      BENCH_REDIS: redis.url ?? "",
    };
    const peer_env = { ...base, BENCH_DATABASE: place.server.url("procrastinate") };
    const run = (/** @type {NodeJS.ProcessEnv} */ env, /** @type {string[]} */ args) => {
      const one = new Talker(interpreter, args, env);
      talkers.add(one);
      return one;
    };
    const peer = (/** @type {string[]} */ ...args) => run(peer_env, [join(HERE, "peers.py"), ...args]);
    await peer("procrastinate_schema").ended;

    const server = await place.start("server");
    // For its janitor, as a service has one.
    const upkeep = await place.start("worker", { slots: 1 });
    const key = await place.key("python", ["submit", "read", "operate", "work", "admin"]);
    const own_env = { ...base, FANFOLD_URL: server.ready.url, FANFOLD_KEY: key, FANFOLD_LOG_LEVEL: "warning" };
    const side = run({ ...own_env, BENCH_DATABASE: place.server.url("service") }, [join(HERE, "fanfold_side.py")]);
    const ours = () => run(own_env, ["-m", "fanfold.worker", "noop_app:app", "--slots", "16"]);
    await side.hear();

    /** @type {Record<string, { rates: number[], cpus: number[] }>} */
    const drains = {};
    const note = (/** @type {string} */ name, /** @type {number} */ tasks, /** @type {any} */ told) => {
      drains[name] ??= { rates: [], cpus: [] };
      drains[name].rates.push(tasks / told.seconds);
      drains[name].cpus.push((told.cpu_s / tasks) * 1e6);
      say(`${name}: ${Math.round(tasks / told.seconds)}/s, ${((told.cpu_s / tasks) * 1e6).toFixed(1)} µs`);
    };
    const few = Math.max(500, Math.floor(n / 10));
    const some = Math.max(500, Math.floor(n / 4));
    for (let round = 0; round < ROUNDS; round++) {
      const turns = [
        async () => {
          const worker = ours();
          for (const task_type of ["bench.def", "bench.async"]) {
            await side.ask({ what: "drain", pid: worker.pid, task_type, n: few });
            note(task_type, n, await side.ask({ what: "drain", pid: worker.pid, task_type, n }));
          }
          await worker.end("SIGTERM");
        },
        async () => {
          const tasks = Math.ceil(few / 500) * 500;
          await peer("procrastinate_enqueue", String(tasks)).ended;
          const worker = peer("procrastinate_drain");
          await worker.hear();
          note("procrastinate", tasks, await worker.ask({ go: true }));
          await worker.ended;
        },
        async () => {
          if (redis.url === null) return;
          await peer("dramatiq_enqueue", String(some)).ended;
          const pair = [peer("dramatiq_drain"), peer("dramatiq_drain")];
          for (const one of pair) await one.hear();
          const told = await Promise.all(pair.map((one) => one.ask({ go: true })));
          note("dramatiq", some, {
            seconds: Math.max(...told.map(({ seconds }) => seconds)),
            cpu_s: told.reduce((sum, { cpu_s }) => sum + cpu_s, 0),
          });
          for (const one of pair) await one.end("SIGTERM");
        },
      ];
      for (let turn = 0; turn < turns.length; turn++) await turns[(turn + round) % turns.length]?.();
    }

    say(`${samples} tasks, one at a time, in idle workers`);
    const worker = ours();
    await side.ask({ what: "drain", pid: worker.pid, task_type: "bench.async", n: 500 });
    await side.ask({ what: "latency", n: samples });
    const own_lags = readLags(base.BENCH_LAGS);
    say("a fan-in over 100,000 results");
    const folded = await side.ask({ what: "fold", pid: worker.pid });
    await worker.end("SIGTERM");
    const idle = peer("procrastinate_latency", String(samples));
    await idle.hear();
    await idle.ask({ go: true });
    const peer_lags = readLags(base.BENCH_LAGS);
    await side.end("SIGTERM");
    await upkeep.stop();
    await server.stop();
    return found({ drains, own_lags, peer_lags, folded, has_redis: redis.url !== null, n });
  } finally {
    for (const one of talkers) await one.end("SIGKILL");
    redis.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** @param {{ drains: Record<string, { rates: number[], cpus: number[] }>, own_lags: number[], peer_lags: number[], folded: any, has_redis: boolean, n: number }} told
 * @returns {import("./main.js").Found} */
function found({ drains, own_lags, peer_lags, folded, has_redis, n }) {
  const rate = (/** @type {string} */ name) => percentile(drains[name]?.rates ?? [Number.NaN], 50);
  const cpu = (/** @type {string} */ name) => percentile(drains[name]?.cpus ?? [Number.NaN], 50);
  const rows = Object.entries(drains).map(([name, { rates }]) => ({
    what: `no-op tasks, ${name}`,
    value: rate(name),
    unit: "/s",
    more: `all rounds ${rates.map(Math.round).join(" ")}, ${cpu(name).toFixed(1)} µs of worker CPU each`,
    ...(name === "bench.def" ? { wanted: ">= 5,000", met: rate(name) >= 5_000 } : {}),
  }));
  const best = Math.max(rate("bench.def"), rate("bench.async"));
  const goal = (
    /** @type {string} */ what,
    /** @type {number} */ value,
    /** @type {string} */ unit,
    /** @type {number} */ limit,
  ) => rows.push({ what, value, unit, more: "", wanted: `<= ${limit}`, met: value <= limit });
  const least = (/** @type {string} */ what, /** @type {number} */ value, /** @type {number} */ limit) =>
    rows.push({ what, value, unit: "×", more: "", wanted: `>= ${limit}`, met: value >= limit });
  least("one Python worker / procrastinate", best / rate("procrastinate"), 10);
  if (has_redis) least("one Python worker / dramatiq, two processes", best / rate("dramatiq"), 5);
  goal("worker CPU a task, def", cpu("bench.def"), "µs", 60);
  goal("worker CPU a task, async", cpu("bench.async"), "µs", 60);
  const p95 = percentile(peer_lags, 95) * 1000;
  rows.push({
    what: "from the call to the start in an idle worker, p95",
    value: percentile(own_lags, 95) * 1000,
    unit: "ms",
    more: `p50 ${(percentile(own_lags, 50) * 1000).toFixed(1)}; procrastinate p50 ${(percentile(peer_lags, 50) * 1000).toFixed(1)}`,
    wanted: `<= ${p95.toFixed(1)}, procrastinate's`,
    met: percentile(own_lags, 95) * 1000 <= p95,
  });
  goal("peak memory of the worker that folded 100,000 results", folded.peak_mb, "MB", 150);
  const notes = [
    `${n.toLocaleString("en")} tasks a round of ours, a tenth of that for procrastinate, a quarter for dramatiq; medians of ${ROUNDS} rounds in turns.`,
    `The fan-out of 100,000 and its fold took ${folded.seconds.toFixed(1)} s.`,
    ...(has_redis ? [] : ["dramatiq is left out: there is no redis-server on this machine."]),
  ];
  return { title: "A Python worker", rows, notes };
}

/** @param {string} file @returns {number[]} */
function readLags(file) {
  const lags = readFileSync(file, "utf8").trim().split("\n").map(Number);
  rmSync(file);
  return lags;
}

/** Made once: the peers are no dependencies of the package. @param {(line: string) => void} say */
function environment(say) {
  const venv = join(HERE, ".venv");
  const interpreter = join(venv, "bin", "python");
  const wanted = readFileSync(join(HERE, "requirements.txt"), "utf8");
  const mark = join(venv, "made_of");
  if (existsSync(mark) && readFileSync(mark, "utf8") === wanted) return interpreter;
  say("installing the peers");
  const pip = ["-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--only-binary", ":all:"];
  for (const [command, ...args] of [
    ["python3", "-m", "venv", "--clear", venv],
    [interpreter, ...pip, "-r", join(HERE, "requirements.txt")],
    [
      interpreter,
      "-c",
      "import shutil, sys; shutil.copy(sys.argv[1], sys.argv[2])",
      join(HERE, "requirements.txt"),
      mark,
    ],
  ]) {
    const { status, stderr } = spawnSync(command ?? "", args, { encoding: "utf8" });
    if (status !== 0) throw new Error(`the peers cannot be installed: ${stderr}`);
  }
  return interpreter;
}

/** Durable as the peers' pages suggest: every second. @param {string} dir @returns {Promise<{ url: string | null, stop(): void }>} */
async function startRedis(dir) {
  if (spawnSync("redis-server", ["--version"]).status !== 0) return { url: null, stop: () => {} };
  const port = await freePort();
  const given = ["--port", String(port), "--bind", "127.0.0.1", "--dir", dir, "--appendonly", "yes", "--save", ""];
  const child = spawn("redis-server", given, { stdio: ["ignore", "pipe", "ignore"] });
  await new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error("redis-server has ended")));
    createInterface({ input: child.stdout }).on("line", (line) => line.includes("Ready to accept") && resolve(null));
  });
  return { url: `redis://127.0.0.1:${port}/0`, stop: () => void child.kill("SIGKILL") };
}

/** A process that is told and answers in lines of JSON. */
class Talker {
  /** @type {((told: any) => void)[]} */
  #waiting = [];
  /** @type {any[]} */
  #told = [];
  #said = "";

  /** @param {string} command @param {string[]} args @param {NodeJS.ProcessEnv} env */
  constructor(command, args, env) {
    this.child = spawn(command, args, { env, cwd: HERE, stdio: ["pipe", "pipe", "pipe"] });
    this.pid = this.child.pid;
    this.child.stdin.on("error", () => {});
    this.child.stderr.on("data", (text) => {
      this.#said = (this.#said + text).slice(-4000);
    });
    createInterface({ input: this.child.stdout }).on("line", (line) => {
      const told = JSON.parse(line);
      const next = this.#waiting.shift();
      if (next === undefined) this.#told.push(told);
      else next(told);
    });
    /** @type {Promise<number | null>} */
    this.ended = new Promise((resolve) => this.child.once("close", resolve));
  }

  /** @returns {Promise<any>} */
  hear() {
    if (this.#told.length > 0) return Promise.resolve(this.#told.shift());
    const gone = this.ended.then((code) => {
      throw new Error(`${this.child.spawnargs.join(" ")} ended with ${code}:\n${this.#said}`);
    });
    // It may well end after it has answered.
    gone.catch(() => {});
    return Promise.race([gone, new Promise((resolve) => this.#waiting.push(resolve))]);
  }

  /** @param {object} order @returns {Promise<any>} */
  ask(order) {
    this.child.stdin.write(`${JSON.stringify(order)}\n`);
    return this.hear();
  }

  /** @param {NodeJS.Signals} signal */
  async end(signal) {
    this.child.kill(signal);
    await this.ended;
  }
}
