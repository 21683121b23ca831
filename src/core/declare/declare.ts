// How jobs and handlers are declared. Nothing is thrown here: createRegistry tells every problem of every declaration at
// once, so that nobody repairs them one by one. Pure.
import type { z } from "zod";
import { kindOf, type Problem, quoted, shorten } from "../errors/problems.js";
import type { Importance, OnTaskFailure, Parallelism } from "../shown/statuses.js";
import type { Loose, PlanContext, TaskContext } from "../task/context.js";
import type { RasterSettings } from "../task/raster_settings.js";
import { type Blueprint, buildJob, max_timeout_s } from "./blueprint.js";
import { taskTypeProblem } from "./names.js";
import { isZodSchema } from "./parameter_schema.js";
import type { PlanData } from "./plan_data.js";
import { Report } from "./report.js";
import { type Retry, readRetry } from "./retry.js";
import type { FailureBudget, StageOverrides } from "./stage_options.js";

/** What a schema gives after validation; without a schema, whatever was sent. */
export type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : Record<string, Loose>;
/** What a submitter may send: defaults may be left out. */
export type Input<Schema> = Schema extends z.ZodType ? z.input<Schema> : Record<string, Loose>;

export interface PlannedTask {
  /** Names the task in its stage; the ordinal when left out. */
  index?: string;
  /** The job's parameters when left out. */
  parameters?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
  /** The index of the predecessor in the stage before, when it is not the same. */
  parent?: string;
  bbox?: readonly number[];
}

export type Planner<Parameters = Loose> = (
  context: PlanContext<Parameters>,
) => Iterable<PlannedTask> | AsyncIterable<PlannedTask> | Promise<Iterable<PlannedTask>>;

export type Condition<Parameters = Loose> = (context: PlanContext<Parameters>) => boolean | Promise<boolean>;

export interface StageDeclaration<Parameters = Loose> {
  name: string;
  task: string;
  /** Default: single. */
  parallelism?: Parallelism;
  /** Default: the stage before it in the list. */
  after?: readonly string[];
  of?: string;
  batch?: number;
  max_parallel?: number;
  /** Default: the handler's, else 1800. */
  timeout_s?: number;
  /** The same as retry.attempts. */
  max_attempts?: number;
  /** How failed tasks are tried again. Default: the handler's, else by what failed. */
  retry?: Retry;
  /** Default: critical. */
  importance?: Importance;
  failure_budget?: FailureBudget;
  /** How far a submit may set failure_budget, max_parallel and attempts otherwise; false: not at all. Usual: no more than is said here. */
  overrides?: StageOverrides;
  /** Default: finish_stage. fail_fast ends the stage at the first failure beyond the budget. */
  on_task_failure?: OnTaskFailure;
  /** The objective, in words: outcomes and the dashboard show it. */
  description?: string;
  /** What a person approves before the stage opens. */
  gate?: string;
  when?: string | Condition<Parameters>;
  tasks?: Planner<Parameters> | PlanData;
}

export interface JobDeclaration<Schema extends z.ZodObject | undefined = undefined> {
  type: string;
  description?: string;
  parameters?: Schema;
  /** The parameters that tell two jobs apart; all of them when left out. */
  identity?: readonly (keyof Output<Schema> & string)[];
  /** Seconds from the start of its work until a job of this type is failed if it has not ended; 7200 when left out, null: none. */
  deadline_s?: number | null;
  stages: readonly StageDeclaration<Output<Schema>>[];
}

export interface Job<Schema extends z.ZodObject | undefined = z.ZodObject | undefined> {
  readonly kind: "job";
  readonly type: string;
  readonly blueprint: Blueprint;
  readonly schema: Schema;
  readonly planners: ReadonlyMap<string, Planner>;
  readonly conditions: ReadonlyMap<string, Condition>;
  /** Its schema was sent by a caller: how much work a check may be is bounded. */
  readonly is_sent?: boolean;
  /** What createRegistry will refuse it for. */
  readonly problems: readonly Problem[];
}

export function defineJob<Schema extends z.ZodObject | undefined = undefined>(
  declaration: JobDeclaration<Schema>,
): Job<Schema> {
  const problems: Problem[] = [];
  const type = (declaration as { type?: unknown } | null | undefined)?.type;
  const { blueprint, schema, planners, conditions } = buildJob(declaration, new Report(problems, `job ${label(type)}`));
  return Object.freeze({
    kind: "job" as const,
    type: blueprint.type,
    blueprint,
    schema: (schema ?? undefined) as Schema,
    planners: planners as unknown as ReadonlyMap<string, Planner>,
    conditions: conditions as unknown as ReadonlyMap<string, Condition>,
    problems,
  });
}

export interface HandlerOptions<Schema extends z.ZodType | undefined = z.ZodType | undefined> {
  parameters?: Schema;
  /** What it returns: anything else fails the task for good, with the path of the offence. */
  result?: z.ZodType;
  /** Only for a connector: what a tenant may configure for it, by name. */
  configuration?: z.ZodObject;
  timeout_s?: number;
  /** How its failed tasks are tried again, unless their stage or submit says otherwise. */
  retry?: Retry;
  /** Where it runs: in the worker's own process (none, the default), or in a child process that may crash alone. */
  isolation?: "none" | "process";
  /** With isolation "process": the file that exports the handler, as `import.meta.url`. The child imports it. */
  module?: string;
  /** With isolation "process": the most memory the child and all it starts may use. Default: 2048. */
  memory_mb?: number;
  /**
   * With isolation "process": what every child would find out about this machine, found out once by the worker. What it gives is
   * ctx.raster in the children; the same object it was given: nothing was found, and the next task asks again.
   */
  prepare?: (raster: RasterSettings) => Promise<RasterSettings>;
  /** With isolation "process": processes it keeps from one task to the next, at most. More than these are ended. Default: 0. */
  helpers?: number;
  /** With isolation "process": it may use ctx.db, as role fanfold_handler and for its task's tenant. Default: false. */
  database?: boolean;
  /** With isolation "process": the most it may write to stdout and stderr in one task. Default: 10 MB. */
  output_bytes?: number;
}

export const default_memory_mb = 2048;
export const default_output_bytes = 10 * 1024 * 1024;
/** Node itself needs about half of it. */
const least_memory_mb = 128;
const most_memory_mb = 4 * 1024 * 1024;
const most_helpers = 8;
const isolations = ["none", "process"] as const;

export interface Handler {
  readonly kind: "handler";
  readonly name: string;
  readonly options: Readonly<HandlerOptions>;
  readonly run: (parameters: Loose, context: TaskContext) => unknown;
  readonly problems: readonly Problem[];
}

export function defineHandler<Schema extends z.ZodType | undefined = undefined>(
  name: string,
  options: HandlerOptions<Schema>,
  run: (parameters: Output<Schema>, context: TaskContext) => unknown,
): Handler {
  const problems: Problem[] = [];
  const report = new Report(problems, `handler ${label(name)}`);
  const bad_name = taskTypeProblem(name);
  if (bad_name !== null) report.add("", bad_name, 'Write e.g. "raster.cog_tile".');
  const given = report.record("options", options, "Give {} when there are none.") ?? {};
  report
    .at("options")
    .unknownKeys(given, [
      "parameters",
      "result",
      "configuration",
      "timeout_s",
      "retry",
      "isolation",
      ...process_options,
    ]);
  const [parameters, result, configuration] = (["parameters", "result", "configuration"] as const).map((key) => {
    const schema = given[key];
    if (schema === undefined || isZodSchema(schema)) return schema;
    report.add(key, `is not a zod 4 schema but ${kindOf(schema)}`, "Use z.object({ … }), or leave it out.");
    return undefined;
  });
  const isolation = readIsolation(report, given);
  if (typeof run !== "function") report.add("", `must be a function, not ${kindOf(run)}`, "Give it as third argument.");
  return Object.freeze({
    kind: "handler" as const,
    name: String(name),
    options: {
      parameters,
      result,
      configuration: configuration as z.ZodObject | undefined,
      timeout_s: report.wholeNumber("timeout_s", given.timeout_s, 1, max_timeout_s) ?? undefined,
      retry: readRetry(given.retry, report) ?? undefined,
      ...isolation,
    },
    run,
    problems,
  });
}

const process_options = ["module", "memory_mb", "prepare", "helpers", "database", "output_bytes"] as const;

function readPrepare(report: Report, given: unknown): HandlerOptions["prepare"] {
  if (given === undefined || typeof given === "function") return given as HandlerOptions["prepare"];
  report.add("prepare", `must be a function, not ${kindOf(given)}`, "Leave it out, or give (raster) => raster.");
  return undefined;
}

type Isolation = Pick<HandlerOptions, "isolation" | (typeof process_options)[number]>;

function readIsolation(report: Report, given: Record<string, unknown>): Isolation {
  const isolation = report.oneOf("isolation", given.isolation, isolations, "none");
  const memory_mb = report.wholeNumber("memory_mb", given.memory_mb, least_memory_mb, most_memory_mb);
  const output_bytes = report.wholeNumber("output_bytes", given.output_bytes, 1, Number.MAX_SAFE_INTEGER);
  if (isolation === "none") {
    // A misspelt isolation is one problem, not four.
    const asked = given.isolation === undefined || given.isolation === "none" ? process_options : [];
    for (const name of asked) {
      if (given[name] === undefined) continue;
      report.add(name, 'means nothing without isolation: "process"', 'Add isolation: "process", or leave it out.');
    }
    return { isolation };
  }
  return {
    isolation,
    module: readModule(report, given.module),
    memory_mb: memory_mb ?? default_memory_mb,
    prepare: readPrepare(report, given.prepare),
    helpers: report.wholeNumber("helpers", given.helpers, 0, most_helpers) ?? 0,
    database: report.boolean("database", given.database) ?? false,
    output_bytes: output_bytes ?? default_output_bytes,
  };
}

/** A child process cannot be given a function: it imports the file and takes the handler it exports. */
function readModule(report: Report, module: unknown): string | undefined {
  const fix = "Write module: import.meta.url in the file that exports the handler.";
  if (module === undefined) {
    report.add("module", 'is missing: with isolation "process" the child process imports the handler from it', fix);
  } else if (typeof module !== "string" || !URL.canParse(module) || new URL(module).protocol !== "file:") {
    report.add("module", `must be a file: URL, not ${quoted(module)}`, fix);
  } else return module;
  return undefined;
}

function label(name: unknown): string {
  return typeof name === "string" && name !== "" ? shorten(name) : "without a name";
}
