// What a worker may be told, with every default in one place.
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Registry } from "../core/registry.js";
import type { Alert } from "../engine/janitor.js";

export interface WorkerOptions {
  /** Tasks that run at the same time. */
  slots?: number;
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
  /** Task types to run; all handlers and planners of the registry when left out. */
  types?: readonly string[];
  scratch_dir?: string;
  /** Flags of node for the processes of isolated handlers, besides this process's own. */
  isolation_node_args?: readonly string[];
  /** Variables for them, besides this process's own without the database's credentials. */
  isolation_env?: Readonly<Record<string, string>>;
  /** Told of what the janitor found that should not be, after the log and the event. */
  on_alert?: (alert: Alert) => unknown;
  log?: Logger;
}

export interface WorkerSettings extends Required<Omit<WorkerOptions, "log" | "on_alert">> {
  on_alert?: WorkerOptions["on_alert"];
  version: string;
}

export function workerSettings(options: WorkerOptions, registry: Registry): WorkerSettings {
  const { log: _, types = typesOf(registry), ...given } = options;
  const settings = {
    slots: 8,
    batch_max: 1000,
    lease_s: 30,
    poll_s: 1,
    grace_s: 30,
    abort_grace_s: 5,
    connections: 1,
    burst_connections: 1,
    scratch_dir: join(tmpdir(), "fanfold-scratch"),
    isolation_node_args: [],
    isolation_env: {},
    ...withoutUndefined(given),
    types,
    version: packageVersion(),
  };
  const problems = [
    ...wholeNumbers(settings, {
      slots: [1, 10_000],
      batch_max: [1, 10_000],
      lease_s: [1, 3600],
      connections: [1, 100],
    }),
    ...wholeNumbers(settings, { burst_connections: [1, 100] }),
    ...seconds(settings, ["poll_s", "grace_s", "abort_grace_s"]),
    ...types
      .filter((type) => !type.startsWith("#plan") && !registry.handlers.has(type))
      .map((type) => `types: there is no handler "${type}" in the registry`),
  ];
  if (problems.length > 0) throw new RangeError(`worker options: ${problems.join("; ")}`);
  return settings;
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

function wholeNumbers(settings: object, rules: Record<string, [least: number, most: number]>): string[] {
  return Object.entries(rules).flatMap(([name, [least, most]]) => {
    const value: unknown = (settings as Record<string, unknown>)[name];
    if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return [];
    return [`${name} must be a whole number from ${least} to ${most}, not ${String(value)}`];
  });
}

function seconds(settings: object, names: string[]): string[] {
  return names.flatMap((name) => {
    const value: unknown = (settings as Record<string, unknown>)[name];
    return typeof value === "number" && value >= 0 ? [] : [`${name} must be seconds, not ${String(value)}`];
  });
}
