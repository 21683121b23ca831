// fanfold up: database, schema, worker and HTTP API in one process, until it is told to stop.
import { package_version } from "../../config.js";
import { Forbidden } from "../../core/errors/errors.js";
import { type Problem, quoted, suggestion } from "../../core/errors/problems.js";
import { printable } from "../../core/values/printable.js";
import { lease_limits } from "../../core/values/setting_values.js";
import { catalogState } from "../../engine/schema/catalog_schema.js";
import type { Worker } from "../../worker/worker.js";
import { answer, type Cli, type CliCommand, globals } from "../terminal/command.js";
import { CliFailure, explain, explanationLines, usage } from "../terminal/failure.js";
import { note } from "../terminal/io.js";
import { slotsOf, wholeNumber } from "../terminal/options.js";
import {
  httpDocument,
  httpLines,
  SERVER_POOL,
  type Serving,
  serveHttp,
  together,
  untilTold,
  warnWithoutSecretKey,
  workerBeside,
} from "../terminal/serving.js";
import { type Session, type SessionOptions, withSession } from "../terminal/session.js";

export interface UpOptions {
  slots?: string;
  lease?: string;
  onAlert?: string;
  logTasks?: boolean;
  memory?: string;
  host?: string;
  port?: string;
  /** false with --no-http. */
  http?: boolean;
  waitForDatabase?: string;
  /** Only tasks of these types, as patterns; all that the registry has when left out. */
  types?: readonly string[];
  /** Ends when there is nothing left to run. */
  once?: boolean;
  /** The schema is somebody else's to bring up to date. */
  migrate?: false;
}

/** What a command adds that serves data of its own. */
export interface UpMore {
  /** As it is typed, after fanfold. */
  name: string;
  session: SessionOptions;
  /** Before anything is served; the function it gives tells more once the address is known. */
  prepare(session: Session): Promise<(url: string) => Promise<{ document: object; lines: readonly string[] }>>;
}

export function addHttpOptions(command: CliCommand): CliCommand {
  return command
    .option("--host <address>", "answer HTTP on this address (default: FANFOLD_HOST or 127.0.0.1)")
    .option("--port <number>", "answer HTTP on this port, 0 for any (default: FANFOLD_PORT or 8080)");
}

export function addWaitOption(command: CliCommand): CliCommand {
  const words =
    "seconds to wait for a database that is away (default: FANFOLD_WAIT_FOR_DATABASE_S or 60; 0: not at all)";
  return command.option("--wait-for-database <seconds>", words);
}

export function waitOf({ waitForDatabase }: { waitForDatabase?: string }, problems: Problem[]): number | undefined {
  return wholeNumber("--wait-for-database", waitForDatabase, 0, 86_400, problems);
}

export function addUp(cli: Cli): void {
  const command = cli.program
    .command("up")
    .summary("run a worker and the HTTP API (and the embedded database)")
    .description(
      "Brings the schema up to date, runs a worker and answers the HTTP API until it is stopped: on the server of DATABASE_URL,\n" +
        "or else on the embedded database, which this process then holds. SIGTERM or Ctrl-C: running tasks are finished or\n" +
        "handed back, calls answered; a second one: at once.",
    )
    .option("--slots <number>", "how many tasks run at the same time (default 8); also of one type: 8,raster.warp=2")
    .option("--lease <seconds>", "for how long a worker that is not heard of keeps its tasks (default 30)")
    .option("--on-alert <url>", on_alert_words)
    .option("--memory <MB>", "what its isolated tasks may declare together (default: 75 % of this machine's memory)")
    .option("--log-tasks", "one line of the log for each task that ends, also for those that simply complete");
  addWaitOption(addHttpOptions(command).option("--no-http", "run the worker only"))
    .examples(
      "fanfold up",
      "fanfold up --port 8081",
      "fanfold up --database-url postgres://localhost/maps --slots 32 --no-http",
    )
    .action((options: UpOptions) => up(cli, options));
}

export const on_alert_words = "send alerts there, too, as POST with JSON (default: FANFOLD_ON_ALERT)";

export async function up(cli: Cli, options: UpOptions, more?: UpMore): Promise<void> {
  const problems: Problem[] = [];
  const { slots, type_slots } = slotsOf(options.slots, problems);
  const lease_s = wholeNumber("--lease", options.lease, lease_limits.least, lease_limits.most, problems);
  const worker_memory_mb = wholeNumber("--memory", options.memory, 1, 2 ** 31 - 1, problems);
  const wait_for_database_s = waitOf(options, problems);
  const port = wholeNumber("--port", options.port, 0, 65_535, problems);
  if (problems.length > 0) throw usage("the worker cannot start", { problems });
  const http = options.http ?? true;
  await withSession(
    cli,
    async (session) => {
      warnWithoutSecretKey(cli.io, session);
      const tellMore = await more?.prepare(session);
      refuseUnknownTypes("--slots", Object.keys(type_slots), session);
      await session.proveFiles();
      // Before the worker: a process that cannot serve as asked says so before it takes tasks.
      const serving = http ? await serveToo(cli, session, more?.name) : null;
      const worker = await workerBeside(session, serving?.server ?? null, typesThatFit(options.types, session));
      const told = serving === null ? undefined : await tellMore?.(serving.server.url);
      announce(cli, session, worker, serving, told, await catalogHints(session));
      session.showLog();
      const leaver = together([serving?.server ?? null, worker]);
      const drained = options.once === true ? worker.idle().then(() => leaver.stop()) : undefined;
      const how = await untilTold(cli.io, leaver, "finishing or handing back what runs", drained);
      const { completed, failed } = worker.stats();
      if (!globals(cli).json) note(cli.io, `stopped ${how}; ${completed} tasks completed, ${failed} attempts failed`);
    },
    {
      migrate: options.migrate ?? true,
      slots,
      type_slots,
      lease_s,
      log_tasks: options.logTasks,
      worker_memory_mb,
      on_alert: options.onAlert,
      host: options.host,
      port,
      log: true,
      waits: true,
      wait_for_database_s,
      ...more?.session,
      ...(http ? { pool: SERVER_POOL } : {}),
    },
  );
}

/**
 * On a server workers are started by the dozen, and often as the role that migrates: where no port was asked for, one that
 * is taken or a role that must not serve leaves a worker without HTTP, and says so.
 */
async function serveToo(cli: Cli, session: Session, name = "up"): Promise<Serving | null> {
  const { engine, config } = session;
  try {
    return await serveHttp(name, session, false);
  } catch (error) {
    const may_go_on = error instanceof Forbidden || error instanceof CliFailure;
    if (engine.db.kind === "embedded" || config.port_is_chosen || !may_go_on) throw error;
    for (const line of explanationLines(explain(error), "no HTTP here")) note(cli.io, line);
    return null;
  }
}

function announce(
  cli: Cli,
  session: Session,
  { worker_id }: Worker,
  serving: Serving | null,
  more: { document: object; lines: readonly string[] } = { document: {}, lines: [] },
  hints: readonly string[] = [],
): void {
  const { engine, config, registry } = session;
  const { kind } = engine.db;
  const where = kind === "embedded" ? `embedded, in ${config.data_dir}` : safeUrl(config.database_url ?? "");
  const job_types = [...registry.jobs.keys()].sort();
  const document = {
    version: package_version,
    database: { kind, where },
    http: null,
    worker_id,
    slots: config.slots,
    job_types,
    ...(serving === null ? {} : httpDocument(serving)),
    ...more.document,
  };
  answer(cli, document, () => [
    `fanfold ${package_version} is up`,
    ...(serving === null ? [] : httpLines(serving, kind)),
    `  database  ${printable(where)}`,
    `  worker    ${worker_id}, ${config.slots} slots`,
    `  jobs      ${job_types.join(", ")}`,
    ...(kind === "server"
      ? [`  storage   ${printable(config.storage_dir)}; workers on other machines must share it`]
      : []),
    "  stop      Ctrl-C (running tasks are finished or handed back; again: at once)",
    ...(kind === "embedded" ? embedded_hints : server_hints),
    ...hints,
    ...more.lines,
  ]);
}

const embedded_hints = [
  "  note      the embedded database serves one process; while this runs, other programs use HTTP;",
  "            the command line needs this to be stopped, or a server (DATABASE_URL)",
];
const server_hints = [
  "  next      in another terminal: fanfold submit hello_world n=3 --wait",
  "            fanfold jobs · fanfold watch <job> · fanfold doctor",
];

/** Raster jobs sent here would fail: better told now. */
async function catalogHints({ engine, config }: Session): Promise<string[]> {
  if (engine.db.kind !== "embedded" || config.catalog === "off") return [];
  const { database_version } = await catalogState(engine.db, { choice: config.catalog });
  return database_version === null
    ? [
        "  stac      no catalogue here; raster jobs need it: start with FANFOLD_CATALOG=stac (PostGIS, about 1 GB of memory)",
      ]
    : [];
}

/** A worker that takes only some types plans stages all the same: planning is short, and without it nothing would ever wait for them. */
function typesThatFit(patterns: readonly string[] | undefined, session: Session): string[] | undefined {
  if (patterns === undefined) return undefined;
  const { registry } = session;
  const known = [...registry.handlers.keys()];
  const fits = (pattern: string) => (type: string) =>
    pattern.endsWith(".*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
  refuseUnknownTypes(
    "--types",
    patterns.filter((pattern) => !known.some(fits(pattern))),
    session,
  );
  const planners = ["#plan", ...Array.from(registry.jobs.keys(), (job) => `#plan:${job}`)];
  return [...known.filter((type) => patterns.some((pattern) => fits(pattern)(type))), ...planners];
}

function refuseUnknownTypes(path: string, types: readonly string[], { registry }: Session): void {
  const known = [...registry.handlers.keys()];
  const problems = types
    .filter((type) => !registry.handlers.has(type))
    .map((type) => ({ path, problem: `there is no handler ${quoted(type)}`, fix: suggestion(type, known) }));
  if (problems.length > 0) throw usage("the worker cannot start", { problems });
}

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
