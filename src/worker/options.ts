// What a worker may be told, with every default in one place.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { rasterFromEnvironment, retryFromEnvironment } from "../config.js";
import { default_memory_mb } from "../core/declare/declare.js";
import type { Registry } from "../core/declare/registry.js";
import { isRecord, Report } from "../core/declare/report.js";
import { type Retry, readRetry } from "../core/declare/retry.js";
import { type Problem, quoted, shorten, suggestion } from "../core/errors/problems.js";
import { default_policy, type OutboundPolicy, policyProblems } from "../core/places/outbound.js";
import {
  type CatalogSetting,
  catalog_settings,
  type RasterEngineChoice,
  type RasterSettings,
  raster_engines,
} from "../core/task/raster_settings.js";
import type { Alert } from "../engine/upkeep/janitor.js";
import { type IsolationUser, isolation_users } from "./isolation/fence.js";
import { machineMemory } from "./run/machine_memory.js";
import { ownScratch } from "./run/scratch.js";

export interface WorkerOptions {
  /** Tasks that run at the same time. */
  slots?: number;
  /** By task type: how many of these slots its tasks take at most. */
  type_slots?: Readonly<Record<string, number>>;
  /** The largest claim. */
  batch_max?: number;
  /** How long the database waits for a sign of life. */
  lease_s?: number;
  /** How often an idle worker looks for work unasked. */
  poll_s?: number;
  /** How long stop() lets running tasks run. */
  grace_s?: number;
  /** How long a handler may take to stop once ctx.signal is aborted. */
  abort_grace_s?: number;
  /** For claims and finishes; the heartbeat has one more, LISTEN another. */
  connections?: number;
  /** For handlers' own short writes and for reading results; opened when first used. */
  burst_connections?: number;
  /**
   * What tasks of isolated handlers may declare together (their memory_mb): more do not start. Default: three quarters of the
   * machine's memory, or of what its control group allows.
   */
  memory_mb?: number;
  /** Task types to run; all handlers and planners of the registry when left out. */
  types?: readonly string[];
  /** Where attempts have their scratch directories. Default: one of this user's among the system's temporary files. */
  scratch_dir?: string;
  /** A vault: the value of a tenant's secret, or null. Asked before the environment and the files of secrets. */
  secrets?: (tenant_id: string, name: string) => Promise<string | null | undefined> | string | null | undefined;
  /** <dir>/<tenant>/<name> holds a secret; FANFOLD_SECRETS_DIR when left out. */
  secrets_dir?: string;
  /** What handlers may call besides the public internet over TLS. Tenants can only narrow it. */
  outbound?: Partial<OutboundPolicy>;
  /** FANFOLD_RASTER_ENGINE, FANFOLD_SOURCE_CACHE_MB, FANFOLD_SOURCE_MAX_MB and PATH when left out. */
  raster?: {
    engine?: RasterEngineChoice;
    source_cache_mb?: number;
    source_max_mb?: number;
    catalog?: CatalogSetting;
    path?: string;
    env?: Readonly<Record<string, string>>;
  };
  /** How failed tasks are tried again where neither their submit nor stage nor handler says so; FANFOLD_RETRY when left out. */
  retry?: Retry;
  /** Told of what the janitor found that should not be, after the log and the event. */
  on_alert?: ((alert: Alert) => unknown) | undefined;
  /** Flags of node for the processes of isolated handlers, besides this process's own. */
  isolation_node_args?: readonly string[];
  /** Variables for them, besides this process's own without the database's credentials. */
  isolation_env?: Readonly<Record<string, string>>;
  /** What keeps them from this process: auto is the best there is, own a user for each tenant or no start, same nothing. */
  isolation_user?: IsolationUser;
  /** One line of the log for each task that ends, at level info; usual: only for those that do not simply complete. */
  log_tasks?: boolean;
  log?: Logger;
}

type Unset = "log" | "on_alert" | "secrets" | "secrets_dir" | "outbound" | "raster" | "retry";

export interface WorkerSettings
  extends Required<Omit<WorkerOptions, Unset>>,
    Pick<WorkerOptions, "on_alert" | "secrets" | "secrets_dir" | "retry"> {
  outbound: OutboundPolicy;
  raster: RasterSettings;
  version: string;
  /** MB by isolated type that fits. */
  memory_needs: ReadonlyMap<string, number>;
  /** MB by isolated type that does not: they are not among `types`. */
  too_large: Readonly<Record<string, number>>;
}

export function workerSettings(options: WorkerOptions, registry: Registry): WorkerSettings {
  const { log: _, types = typesOf(registry), ...given } = options;
  const memory_mb = options.memory_mb ?? usualMemory();
  const { needs, too_large } = memoryNeeds(Array.isArray(types) ? types : [], registry.handlers, memory_mb);
  const settings = {
    slots: 8,
    type_slots: {},
    batch_max: 1000,
    lease_s: 30,
    poll_s: 1,
    grace_s: 30,
    abort_grace_s: 5,
    connections: 1,
    burst_connections: 1,
    scratch_dir: given.scratch_dir ?? ownScratch(),
    isolation_node_args: [],
    isolation_env: {},
    isolation_user: "auto" as const,
    log_tasks: false,
    retry: retryFromEnvironment(),
    ...withoutUndefined(given),
    // Each call follows none unless its connector asks for it.
    outbound: { ...default_policy, max_redirects: 3, ...withoutUndefined(given.outbound ?? {}) },
    memory_mb,
    types: Array.isArray(types) ? types.filter((type) => !Object.hasOwn(too_large, type)) : types,
    version: packageVersion(),
    memory_needs: needs,
    too_large,
  };
  const problems = [
    ...unknownKeys(options),
    ...Object.entries(rules).flatMap(([name, rule]) => rule(name, (settings as Record<string, unknown>)[name])),
    ...unknownTypes("types", types, registry),
    ...(isRecord(settings.type_slots) ? unknownTypes("type_slots", Object.keys(settings.type_slots), registry) : []),
  ];
  if (problems.length > 0) throw new RangeError(`worker options: ${problems.join("; ")}`);
  return { ...settings, raster: rasterSettings(given.raster, settings.scratch_dir) };
}

/** Beside the scratch directories, on the same disk: a source is then in both places and there once. */
function rasterSettings(given: WorkerOptions["raster"], scratch_dir: string): RasterSettings {
  const { source_cache_mb, source_max_mb, ...rest } = { ...rasterFromEnvironment(), ...withoutUndefined(given ?? {}) };
  const bytes = source_cache_mb * 2 ** 20;
  const source_max_bytes = source_max_mb * 2 ** 20;
  return { ...rest, source_max_bytes, source_cache: bytes > 0 ? { dir: join(scratch_dir, "sources"), bytes } : null };
}

/** The rest is for this process, the system, and what a database on the same machine needs. */
const MEMORY_SHARE = 0.75;

export function usualMemory(): number {
  return Math.max(1, Math.floor(machineMemory() * MEMORY_SHARE));
}

export function memoryNeeds(types: Iterable<string>, handlers: Registry["handlers"], memory_mb: number) {
  const needs = new Map<string, number>();
  const too_large: Record<string, number> = {};
  for (const type of types) {
    const options = handlers.get(type)?.options;
    if (options?.isolation !== "process") continue;
    const need = options.memory_mb ?? default_memory_mb;
    if (need <= memory_mb) needs.set(type, need);
    // Most likely nobody declared anything: on a small machine it runs alone rather than never.
    else if (need === default_memory_mb) needs.set(type, memory_mb);
    else too_large[type] = need;
  }
  return { needs, too_large };
}

/** "#plan": stages whose plan is data; "#plan:<job>": those that need a function of that job. */
function typesOf(registry: Registry): string[] {
  return [...registry.handlers.keys(), "#plan", ...Array.from(registry.jobs.keys(), (job) => `#plan:${job}`)];
}

/** Told at registration, so that one can see which build a worker runs. */
function packageVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

function withoutUndefined<T extends object>(given: T): Partial<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** What is wrong with the value of an option, in words. */
type Rule = (name: string, value: unknown) => string[];

/** A timer cannot be set for longer: 2 ** 31 milliseconds. */
const MOST_SECONDS = 2_147_483;

const rules: Record<keyof WorkerOptions, Rule> = {
  slots: wholeNumber(1, 10_000),
  type_slots: (name, value) => {
    if (!isRecord(value)) return must(false, name, "an object of numbers", value);
    return Object.entries(value).flatMap(([type, most]) => wholeNumber(1, 10_000)(`${name}.${shorten(type)}`, most));
  },
  batch_max: wholeNumber(1, 10_000),
  lease_s: wholeNumber(1, 3600),
  poll_s: seconds,
  grace_s: seconds,
  abort_grace_s: seconds,
  connections: wholeNumber(1, 100),
  burst_connections: wholeNumber(1, 100),
  memory_mb: wholeNumber(1, 2 ** 31 - 1),
  types: texts,
  scratch_dir: text,
  on_alert: (name, value) => (value === undefined ? [] : must(typeof value === "function", name, "a function", value)),
  isolation_node_args: texts,
  isolation_env: textsByName,
  isolation_user: (name, value) =>
    must(isolation_users.includes(value as IsolationUser), name, `one of ${isolation_users.join(", ")}`, value),
  secrets: (name, value) => (value === undefined ? [] : must(typeof value === "function", name, "a function", value)),
  secrets_dir: (name, value) => (value === undefined ? [] : text(name, value)),
  outbound: policy,
  raster: rasterProblems,
  retry: retryProblems,
  log_tasks: (name, value) => must(typeof value === "boolean", name, "true or false", value),
  log: () => [],
};

function retryProblems(_: string, value: unknown): string[] {
  const problems: Problem[] = [];
  readRetry(value, new Report(problems, ""));
  return problems.map(({ path, problem }) => `${path.replace(/^, /, "")} ${problem}`);
}

function rasterProblems(name: string, value: unknown): string[] {
  if (value === undefined) return [];
  if (!isRecord(value)) return must(false, name, "an object", value);
  const known = ["engine", "source_cache_mb", "source_max_mb", "catalog", "path", "env"];
  const { engine, source_cache_mb, source_max_mb, catalog, path, env } = value;
  return [
    ...Object.keys(value)
      .filter((key) => !known.includes(key))
      .map((key) => `there is no ${name}.${shorten(key)} (${suggestion(key, known)})`),
    ...must(
      engine === undefined || raster_engines.includes(engine as RasterEngineChoice),
      `${name}.engine`,
      `one of ${raster_engines.join(", ")}`,
      engine,
    ),
    ...must(
      source_cache_mb === undefined || isCount(source_cache_mb),
      `${name}.source_cache_mb`,
      "a whole number",
      source_cache_mb,
    ),
    ...must(
      source_max_mb === undefined || (isCount(source_max_mb) && source_max_mb !== 0),
      `${name}.source_max_mb`,
      "a whole number from 1",
      source_max_mb,
    ),
    ...must(
      catalog === undefined || catalog_settings.includes(catalog as CatalogSetting),
      `${name}.catalog`,
      `one of ${catalog_settings.join(", ")}`,
      catalog,
    ),
    ...(path === undefined ? [] : text(`${name}.path`, path)),
    ...(env === undefined ? [] : textsByName(`${name}.env`, env)),
  ];
}

function policy(name: string, value: unknown): string[] {
  if (!isRecord(value)) return must(false, name, "an object", value);
  const known = [...Object.keys(default_policy), "allow_hosts", "resolver", "ca"];
  return [
    ...Object.keys(value)
      .filter((key) => !known.includes(key))
      .map((key) => `there is no ${name}.${shorten(key)} (${suggestion(key, known)})`),
    ...must(typeof value.allow_http === "boolean", `${name}.allow_http`, "true or false", value.allow_http),
    ...["allow_private", "allow_names", "allow_hosts"].flatMap((key) =>
      value[key] === undefined ? [] : texts(`${name}.${key}`, value[key]),
    ),
    ...(Array.isArray(value.ports) ? [] : must(false, `${name}.ports`, "an array of ports", value.ports)),
    ...Object.entries(default_policy).flatMap(([key, usual]) =>
      typeof usual === "number" ? must(isCount(value[key]), `${name}.${key}`, "a whole number", value[key]) : [],
    ),
    ...policyProblemsSafely(value as Partial<OutboundPolicy>, name),
  ];
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Lists that are no lists were told already. */
function policyProblemsSafely(value: Partial<OutboundPolicy>, name: string): string[] {
  const lists = [value.allow_private, value.allow_names, value.allow_hosts, value.ports];
  if (lists.some((list) => list !== undefined && !Array.isArray(list))) return [];
  return policyProblems(value, name).map(({ path, problem, fix }) => `${path}: ${problem} (${fix})`);
}

function must(is_right: boolean, name: string, what: string, value: unknown): string[] {
  return is_right ? [] : [`${name} must be ${what}, not ${quoted(value)}`];
}

function wholeNumber(least: number, most: number): Rule {
  return (name, value) => {
    const is_right = Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
    return must(is_right, name, `a whole number from ${least} to ${most}`, value);
  };
}

function seconds(name: string, value: unknown): string[] {
  const is_right = typeof value === "number" && value >= 0 && value <= MOST_SECONDS;
  return must(is_right, name, `seconds from 0 to ${MOST_SECONDS}`, value);
}

function text(name: string, value: unknown): string[] {
  return must(typeof value === "string", name, "text", value);
}

function texts(name: string, value: unknown): string[] {
  if (!Array.isArray(value)) return must(false, name, "an array of texts", value);
  return value.flatMap((one: unknown, at) => text(`${name}[${at}]`, one));
}

function textsByName(name: string, value: unknown): string[] {
  if (!isRecord(value)) return must(false, name, "an object of texts", value);
  return Object.entries(value).flatMap(([key, one]) => text(`${name}.${shorten(key)}`, one));
}

/** A misspelt option would otherwise be an option silently not set. */
function unknownKeys(options: object): string[] {
  const known = Object.keys(rules);
  return Object.keys(options)
    .filter((key) => !known.includes(key))
    .map((key) => `there is no option ${quoted(key)} (${suggestion(key, known)})`);
}

function unknownTypes(name: string, types: readonly unknown[], registry: Registry): string[] {
  if (!Array.isArray(types)) return [];
  return types
    .filter((type) => typeof type === "string" && !type.startsWith("#plan") && !registry.handlers.has(type))
    .map((type) => `${name}: there is no handler "${type}" in the registry`);
}
