// How jobs and handlers are declared. Nothing is thrown here: createRegistry tells every problem of every declaration at
// once, so that nobody repairs them one by one. Pure.
import type { z } from "zod";
import { type Blueprint, buildJob, max_timeout_s } from "./blueprint.js";
import type { Loose, PlanContext, TaskContext } from "./context.js";
import { taskTypeProblem } from "./names.js";
import { isZodSchema } from "./parameter_schema.js";
import type { PlanData } from "./plan_data.js";
import { kindOf, type Problem, shorten } from "./problems.js";
import { Report } from "./report.js";
import type { Importance, OnTaskFailure, Parallelism } from "./statuses.js";

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
  /** Default: 3. */
  max_attempts?: number;
  /** Default: critical. */
  importance?: Importance;
  failure_budget?: { count: number } | { percent: number };
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
  /** Seconds until a job of this type is failed if it has not ended; 7200 when left out. */
  deadline_s?: number;
  stages: readonly StageDeclaration<Output<Schema>>[];
}

export interface Job<Schema extends z.ZodObject | undefined = z.ZodObject | undefined> {
  readonly kind: "job";
  readonly type: string;
  readonly blueprint: Blueprint;
  readonly schema: Schema;
  readonly planners: ReadonlyMap<string, Planner>;
  readonly conditions: ReadonlyMap<string, Condition>;
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
  timeout_s?: number;
  /** Where it runs: in the worker's own process. */
  isolation?: "none";
}

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
  report.at("options").unknownKeys(given, ["parameters", "timeout_s", "isolation"]);
  const { parameters } = given;
  if (parameters !== undefined && !isZodSchema(parameters)) {
    report.add(
      "parameters",
      `is not a zod 4 schema but ${kindOf(parameters)}`,
      "Use z.object({ … }), or leave it out.",
    );
  }
  if (given.isolation !== undefined && given.isolation !== "none") {
    report.add("isolation", "this version runs handlers in the worker's process only", "Leave it out.");
  }
  if (typeof run !== "function") report.add("", `must be a function, not ${kindOf(run)}`, "Give it as third argument.");
  return Object.freeze({
    kind: "handler" as const,
    name: String(name),
    options: {
      parameters: isZodSchema(parameters) ? parameters : undefined,
      timeout_s: report.wholeNumber("timeout_s", given.timeout_s, 1, max_timeout_s) ?? undefined,
      isolation: "none" as const,
    },
    run,
    problems,
  });
}

function label(name: unknown): string {
  return typeof name === "string" && name !== "" ? shorten(name) : "without a name";
}
