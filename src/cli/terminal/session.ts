// One opened engine for the length of one command: configuration, registry, database, and on request a worker.
import { existsSync } from "node:fs";
import { type Config, loadConfig } from "../../config.js";
import type { Registry } from "../../core/declare/registry.js";
import { printable } from "../../core/values/printable.js";
import { type Patience, patienceFor } from "../../engine/database/await_database.js";
import { EmbeddedFolderBusy } from "../../engine/database/embedded_folder.js";
import type { Engine } from "../../engine/engine.js";
import type { EngineOptions } from "../../engine/open_engine.js";
import { readSchemaFacts, readServerFacts, readWorkerFacts } from "../../engine/schema/server_facts.js";
import { assertSameFiles } from "../../engine/upkeep/file_proof.js";
import { createLog } from "../../log.js";
import type { Worker } from "../../worker/worker.js";
import { loadRegistry } from "./app_module.js";
import { answer, type Cli, globals } from "./command.js";
import { CliFailure, explainBusy } from "./failure.js";
import { note } from "./io.js";
import { servedAt } from "./served_at.js";

export interface Session {
  readonly config: Config;
  readonly registry: Registry;
  readonly engine: Engine;
  /** Does something that needs the database, which may be away at the start. */
  readonly patience: Patience;
  /** `types`: only these of the registry. */
  startWorker(types?: readonly string[]): Promise<Worker>;
  /** Throws where this process would see other files than the others. */
  proveFiles(): Promise<void>;
  /** Says so when a submitted job would wait for a worker that is not there. */
  warnWithoutWorkers(): Promise<void>;
  /** The command has said that it is up: from here on its log may be seen. */
  showLog(): void;
}

export interface SessionOptions {
  /** Bring a server's schema up to date first. */
  migrate?: boolean;
  /** Use the embedded database of this folder, whatever the environment says. */
  embedded_dir?: string;
  /** In place of what the environment says, by its names. */
  settings?: Readonly<Record<string, string>>;
  /** The worker's lines go to standard error instead of nowhere. */
  log?: boolean;
  slots?: number | undefined;
  type_slots?: Readonly<Record<string, number>> | undefined;
  lease_s?: number | undefined;
  /** A line of the log for each task that ends. */
  log_tasks?: boolean | undefined;
  wait_for_database_s?: number | undefined;
  worker_memory_mb?: number | undefined;
  /** Where alerts are sent to. */
  on_alert?: string | undefined;
  host?: string | undefined;
  port?: number | undefined;
  /** Settings of the engine's own pool; a server answers many at a time, and none for ever. */
  pool?: Pick<EngineOptions, "connections" | "statement_timeout_s" | "wait_s" | "apart">;
  /** A database that is away is waited for, as long as the configuration says. */
  waits?: boolean;
  /** Loaded already, to check something before the database is opened. */
  registry?: Registry;
  /** An embedded database that has no catalogue gets one, unless the environment says otherwise. */
  needs_catalog?: boolean;
}

export function registryOf(cli: Cli): Promise<Registry> {
  return loadRegistry(cli.io.cwd, globals(cli).app);
}

/** Flags win over the environment; config.ts reports everything that is wrong with either at once. */
export function configOf(cli: Cli, options: SessionOptions = {}): Config {
  const { dataDir, databaseUrl, tenant } = globals(cli);
  const flags = {
    data_dir: dataDir,
    database_url: databaseUrl,
    tenant,
    slots: options.slots,
    lease_s: options.lease_s,
    wait_for_database_s: options.wait_for_database_s,
    worker_memory_mb: options.worker_memory_mb,
    host: options.host,
    port: options.port,
  };
  const { on_alert } = options;
  const told = on_alert === undefined ? {} : { FANFOLD_ON_ALERT: on_alert };
  const given = { ...cli.env, ...options.settings, ...told };
  if (options.embedded_dir === undefined) return loadConfig(given, flags);
  const env = { ...given, DATABASE_URL: undefined, FANFOLD_STORAGE_DIR: undefined, ...no_zones };
  return loadConfig(env, { ...flags, database_url: undefined, data_dir: options.embedded_dir });
}

/** The demo's data stays in its own folder. */
const no_zones = { FANFOLD_ZONE_BRONZE: undefined, FANFOLD_ZONE_SILVER: undefined, FANFOLD_ZONE_GOLD: undefined };

/** A command that asks one thing and answers it: the document with --json, else its lines. */
export function answering<T>(
  cli: Cli,
  ask: (session: Session) => Promise<T> | T,
  lines: (reply: T, width: number) => Iterable<string>,
): Promise<void> {
  return withSession(cli, async (session) => {
    const reply = await ask(session);
    answer(cli, reply, () => lines(reply, cli.io.width()));
  });
}

export async function withSession<T>(
  cli: Cli,
  work: (session: Session) => Promise<T>,
  options: SessionOptions = {},
): Promise<T> {
  const config = configOf(cli, options);
  const registry = options.registry ?? (await registryOf(cli));
  // Lines of the worker would tear the live view apart; only `up`, which has none, writes them.
  const lines = cli.io.live ? new HeldLines(cli) : undefined;
  const log = createLog({ level: options.log ? config.log_level : "silent", stream: lines });
  const { database_url, data_dir, storage_dir, zones, tenant, prepare, listen_url } = config;
  const patience = patienceOf(cli, options.waits === true ? config.wait_for_database_s : 0);
  const { outbound, raster, leftovers_after_h, uploads, secret_keys, secrets_dir } = config;
  const catalog =
    options.needs_catalog && database_url === undefined && config.catalog === "auto" ? "stac" : config.catalog;
  const opened = sayOpening(cli, config, catalog);
  const engine = await openOrExplain(data_dir, {
    database_url,
    data_dir,
    storage_dir,
    zones,
    leftovers_after_h,
    uploads,
    tenant,
    prepare,
    listen_url,
    secret_keys,
    outbound,
    registry,
    catalog,
    migrate: options.migrate,
    ...options.pool,
    patience,
    log,
  }).finally(opened);
  try {
    return await work({
      config,
      registry,
      engine,
      patience,
      startWorker: async (types) => {
        const { startWorker } = await import("../../worker/worker.js");
        const { vaultSecrets } = await import("../../worker/run/vaults.js");
        const { alertsTo } = await import("../../engine/upkeep/alert_webhook.js");
        const { slots, lease_s, isolation_user, worker_memory_mb: memory_mb, retry, on_alert } = config;
        const settings = {
          slots,
          lease_s,
          types,
          isolation_user,
          memory_mb,
          retry,
          on_alert: on_alert === undefined ? undefined : alertsTo(on_alert),
          log_tasks: options.log_tasks,
          type_slots: options.type_slots,
          secrets_dir,
          secrets: config.vault && vaultSecrets(config.vault),
          outbound,
          raster,
          log,
        };
        return patience(() => startWorker(engine, settings));
      },
      proveFiles: () => patience(() => proveSameFiles(cli, engine)),
      warnWithoutWorkers: () => warnWithoutWorkers(cli, engine),
      showLog: () => lines?.show(),
    });
  } finally {
    lines?.show();
    await engine.close();
  }
}

/** The log on a terminal: no line of it stands above what the command says first. */
class HeldLines {
  #held: string[] | null = [];

  constructor(private readonly cli: Cli) {}

  write(text: string): void {
    if (this.#held === null) this.cli.io.err(text);
    else this.#held.push(text);
  }

  show(): void {
    for (const text of this.#held?.splice(0) ?? []) this.cli.io.err(text);
    this.#held = null;
  }
}

/** Says what takes so long. The embedded database is said first, because this process stands still while it starts. */
export function sayOpening(cli: Cli, { database_url, data_dir, database_dir }: Config, catalog: string): () => void {
  const { io } = cli;
  if (globals(cli).json) return () => {};
  if (database_url === undefined) {
    const first = existsSync(database_dir) ? "" : catalog === "stac" ? first_with_postgis : first_time;
    const text = `opening the embedded database in ${printable(data_dir)}${first}`;
    if (io.live) io.draw(text);
    else note(io, text);
    return () => io.err("");
  }
  const timer = setTimeout(() => io.live && io.draw("connecting to the database"), soon_ms);
  return () => {
    clearTimeout(timer);
    io.err("");
  };
}

const soon_ms = 300;
const first_time = ", which takes a few seconds the first time";
const first_with_postgis = ", with PostGIS: ten seconds or more the first time";

function patienceOf({ io }: Cli, seconds: number): Patience {
  const tell = (why: string, left_s: number) => note(io, `waiting for the database, up to ${left_s} s more: ${why}`);
  return patienceFor({ seconds, tell });
}

/** When another process holds the embedded database, it may have said where it answers HTTP. */
async function openOrExplain(data_dir: string, options: EngineOptions): Promise<Engine> {
  // Loaded only now, when the command has said what it does.
  const { openEngine } = await import("../../engine/open_engine.js");
  try {
    return await openEngine(options);
  } catch (error) {
    if (!(error instanceof EmbeddedFolderBusy)) throw error;
    throw new CliFailure(explainBusy(error, servedAt(data_dir, error.pid)));
  }
}

async function warnWithoutWorkers(cli: Cli, engine: Engine): Promise<void> {
  const { is_superuser } = await readServerFacts(engine.db);
  // Only who sees all workers can say that there are none.
  const sees_all = is_superuser || (await readSchemaFacts(engine.db)).mapping === "server";
  const workers = sees_all ? await readWorkerFacts(engine.db) : null;
  if (workers?.live === 0) note(cli.io, "no worker is live: the job waits until one is started with: fanfold up");
}

/** One process is its own witness: the embedded database needs none. */
async function proveSameFiles(cli: Cli, engine: Engine): Promise<void> {
  const { db, tenant, zones, shared_store: store } = engine;
  if (db.kind === "embedded") return;
  for (const { place, seen_as, state, why } of await assertSameFiles({ db, tenant, zones, store })) {
    if (state === "away") note(cli.io, `warning: ${place} (${seen_as}) does not answer as it should: ${why}`);
  }
}
