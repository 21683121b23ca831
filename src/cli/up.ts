// fanfold up: database, schema and worker in one process, until it is told to stop.

import { package_version } from "../config.js";
import type { Problem } from "../core/problems.js";
import type { Worker } from "../worker/worker.js";
import { answer, type Cli, examples, globals } from "./command.js";
import { usage } from "./failure.js";
import { type Io, note } from "./io.js";
import { wholeNumber } from "./options.js";
import { printable } from "./printable.js";
import { type Session, withSession } from "./session.js";

export function addUp(cli: Cli): void {
  cli.program
    .command("up")
    .summary("run a worker (and the embedded database)")
    .description(
      "Brings the schema up to date and runs a worker until it is stopped: on the server of DATABASE_URL, or else on the\n" +
        "embedded database, which this process then holds. SIGTERM or Ctrl-C: running tasks are finished or handed back;\n" +
        "a second one: at once.",
    )
    .option("--slots <number>", "how many tasks run at the same time (default 8)")
    .addHelpText("after", examples("fanfold up", "fanfold up --database-url postgres://localhost/maps --slots 32"))
    .action((options: { slots?: string }) => up(cli, options));
}

async function up(cli: Cli, options: { slots?: string }): Promise<void> {
  const problems: Problem[] = [];
  const slots = wholeNumber("--slots", options.slots, 1, 10_000, problems);
  if (problems.length > 0) throw usage("the worker cannot start", { problems });
  await withSession(
    cli,
    async (session) => {
      const worker = await session.startWorker();
      announce(cli, session, worker);
      const how = await untilTold(cli.io, worker);
      const { completed, failed } = worker.stats();
      if (!globals(cli).json) note(cli.io, `stopped ${how}; ${completed} tasks completed, ${failed} attempts failed`);
    },
    { migrate: true, slots, log: true },
  );
}

function announce(cli: Cli, { engine, config, registry }: Session, { worker_id }: Worker): void {
  const { kind } = engine.db;
  const where = kind === "embedded" ? `embedded, in ${config.data_dir}` : safeUrl(config.database_url ?? "");
  const job_types = [...registry.jobs.keys()].sort();
  const document = { version: package_version, database: { kind, where }, worker_id, slots: config.slots, job_types };
  answer(cli, document, () => [
    `fanfold ${package_version} is up`,
    `  database  ${printable(where)}`,
    `  worker    ${worker_id}, ${config.slots} slots`,
    `  jobs      ${job_types.join(", ")}`,
    ...(kind === "server"
      ? [`  storage   ${printable(config.storage_dir)}; workers on other machines must share it`]
      : []),
    "  stop      Ctrl-C (running tasks are finished or handed back; again: at once)",
    ...(kind === "embedded" ? embedded_hints : server_hints),
  ]);
}

const embedded_hints = [
  "  note      the embedded database serves one process; to submit while this runs, use a server (DATABASE_URL),",
  "            or stop this and: fanfold submit hello_world n=3 --wait",
];
const server_hints = [
  "  next      in another terminal: fanfold submit hello_world n=3 --wait",
  "            fanfold jobs · fanfold watch <job> · fanfold doctor",
];

/** Without its password: what is printed ends up in logs and screenshots. */
export function safeUrl(url: string): string {
  try {
    const parsed = new URL(url);
    if (parsed.password) parsed.password = "***";
    if (parsed.searchParams.has("password")) parsed.searchParams.set("password", "***");
    return parsed.href;
  } catch {
    return "the server of DATABASE_URL";
  }
}

function untilTold(io: Io, worker: Worker): Promise<"gracefully" | "at once"> {
  return new Promise((resolve, reject) => {
    let told = 0;
    const forget = io.onSignal((signal) => {
      told += 1;
      if (told === 1) note(io, `${signal}: finishing or handing back what runs (again: at once)`);
      const leaving = told === 1 ? worker.stop() : worker.kill();
      leaving.then(() => {
        forget();
        resolve(told === 1 ? "gracefully" : "at once");
      }, reject);
    });
  });
}
