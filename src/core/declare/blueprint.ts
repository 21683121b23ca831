// The blueprint as data: what SQL snapshots into a job, so that a deploy never changes a running job's shape. Made here
// from a declaration, with everything that is wrong reported. Pure.

import type { z } from "zod";
import { quoted, suggestion } from "../errors/problems.js";
import {
  type Importance,
  importances,
  type OnTaskFailure,
  on_task_failures,
  type Parallelism,
  parallelisms,
} from "../shown/statuses.js";
import { sourceHash } from "../values/ids.js";
import { usual_deadline_s } from "./deadline.js";
import { pathProblem } from "./json_path.js";
import { nameProblem, taskTypeProblem } from "./names.js";
import { type JsonSchema, parameterNames, readJsonSchema, readObjectSchema } from "./parameter_schema.js";
import { type PlanData, readPlanData } from "./plan_data.js";
import { isRecord, type Report } from "./report.js";
import { type Retry, readRetryOf } from "./retry.js";
import { type FailureBudget, readOverrides, type StageOverrides } from "./stage_options.js";
import { orderStages } from "./stage_order.js";

export interface StageBlueprint {
  number: number;
  name: string;
  task: string;
  parallelism: Parallelism;
  after: number[];
  /** Whose results are this stage's `previous`; null when it has none, or several and must name one at each reading. */
  of: number | null;
  batch: number | null;
  max_parallel: number | null;
  /** null until the registry fills in the handler's, or the default. */
  timeout_s: number | null;
  /** null: nobody said, and the kind of failure decides. */
  retry: Retry | null;
  importance: Importance;
  failure_budget: FailureBudget | null;
  /** The most that a submit may ask for; without it, what the stage says itself. */
  overrides?: StageOverrides;
  when: { path: string } | { function: string } | null;
  plan: PlanData | { function: string } | null;
  /** The objective, in words. */
  description: string | null;
  on_task_failure: OnTaskFailure;
  /** A person approves before the stage opens. */
  gate: { message: string } | null;
}

export interface Blueprint {
  type: string;
  description: string | null;
  parameters: JsonSchema | null;
  identity: string[] | null;
  /** Null: none, unless the submit says otherwise. */
  deadline_s: number | null;
  stages: StageBlueprint[];
}

// biome-ignore lint/complexity/noBannedTypes: typed where it is declared; here it is only carried
type Code = Function;

export interface BuiltJob {
  blueprint: Blueprint;
  schema: z.ZodObject | null;
  planners: Map<string, Code>;
  conditions: Map<string, Code>;
}

export const default_timeout_s = 1800;
/** Node's timers end at 2^31 ms; a longer one would fire at once. */
export const max_timeout_s = 2_147_483;
const max_stages = 1000;
const max_description = 4000;

export const max_gate_message = 1000;
/** Ten years. */
const max_deadline_s = 315_360_000;

const job_keys = ["type", "description", "parameters", "identity", "deadline_s", "stages"];
const stage_keys = [
  "name",
  "task",
  "parallelism",
  "after",
  "of",
  "batch",
  "max_parallel",
  "timeout_s",
  "max_attempts",
  "retry",
  "importance",
  "failure_budget",
  "overrides",
  "on_task_failure",
  "description",
  "gate",
  "when",
  "tasks",
];

/** Never throws: a wrong declaration gives a blueprint nobody may use, and the reasons in the report. */
export function buildJob(declaration: unknown, report: Report, { is_sent = false } = {}): BuiltJob {
  const declared = report.record("", declaration, "Call defineJob({ type, stages: [ … ] }).") ?? {};
  report.unknownKeys(declared, job_keys);
  const malformed = nameProblem(declared.type);
  if (malformed !== null) report.add("type", malformed, 'Write e.g. "process_raster".');
  const schema = declared.parameters === undefined ? null : readObjectSchema(declared.parameters, report);
  const code = { planners: new Map<string, Code>(), conditions: new Map<string, Code>(), is_sent };
  const blueprint: Blueprint = {
    type: typeof declared.type === "string" ? declared.type : "",
    description: readDescription(declared.description, report),
    parameters: schema === null ? null : readJsonSchema(schema, report),
    identity: readIdentity(declared.identity, schema, report),
    deadline_s: report.wholeNumber(
      "deadline_s",
      declared.deadline_s === undefined ? usual_deadline_s : declared.deadline_s,
      1,
      max_deadline_s,
    ),
    stages: readStages(declared.stages, schema, code, report),
  };
  const { planners, conditions } = code;
  return { blueprint, schema, planners, conditions };
}

export function readDescription(description: unknown, report: Report): string | null {
  if (description === undefined || description === null) return null;
  if (typeof description === "string" && description.length <= max_description) return description;
  const problem = `must be text of at most ${max_description} characters`;
  report.add("description", problem, "Shorten it or leave it out.");
  return null;
}

function readIdentity(identity: unknown, schema: z.ZodObject | null, report: Report): string[] | null {
  if (identity === undefined || identity === null) return null;
  const fix = "Name the parameters that make two jobs different, or leave it out: then all do.";
  if (!Array.isArray(identity) || identity.length === 0 || !identity.every((name) => typeof name === "string")) {
    report.add("identity", "must be a list of parameter names", fix);
    return null;
  }
  const known = schema === null ? [] : parameterNames(schema).names;
  for (const [position, name] of identity.entries()) {
    if (!known.includes(name)) report.add("identity", `${quoted(name)} is no parameter`, suggestion(name, known));
    if (identity.indexOf(name) !== position) report.add("identity", `names ${quoted(name)} twice`, "Name it once.");
  }
  return [...identity];
}

type Draft = StageBlueprint & { declared: Record<string, unknown>; report: Report };

function readStages(stages: unknown, schema: z.ZodObject | null, code: Codes, report: Report): StageBlueprint[] {
  if (!Array.isArray(stages) || stages.length === 0 || stages.length > max_stages) {
    report.add("stages", `must be a list of 1 to ${max_stages} stages`, "Declare at least one: { name, task }.");
    return [];
  }
  const drafts = stages.map((stage, position) => readStage(stage, position, schema, code, report));
  const seen = new Set<string>();
  for (const { name, report: own } of drafts) {
    if (name !== "" && seen.has(name)) own.add("name", `there are two stages called ${quoted(name)}`, "Rename one.");
    seen.add(name);
  }
  const { places, order } = orderStages(
    drafts.map(({ name, parallelism, declared, report: own }) => {
      return { name, parallelism, after: declared.after, of: declared.of, report: own };
    }),
  );
  const numbers = new Map(order.map((position, place) => [position, place + 1]));
  return order.map((position, place) => {
    const { declared, report: own, ...stage } = drafts[position]!;
    const { after, of } = places[position]!;
    // An `after` that names nothing known is told already.
    const is_first = declared.after === undefined ? after.length === 0 : isEmptyList(declared.after);
    if (is_first && stage.parallelism !== "single") {
      const fix = 'Use "single", or put a stage before it.';
      own.add("parallelism", `a ${stage.parallelism} stage needs a stage before it`, fix);
    }
    return {
      ...stage,
      number: place + 1,
      after: after.map((before) => numbers.get(before)!).sort((a, b) => a - b),
      of: of === null ? null : numbers.get(of)!,
    };
  });
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

interface Codes {
  planners: Map<string, Code>;
  conditions: Map<string, Code>;
  /** As data, by a caller: functions are those of workers, named by their hash. */
  is_sent: boolean;
}

function readStage(value: unknown, position: number, schema: z.ZodObject | null, code: Codes, job: Report): Draft {
  const declared = job.record(`stage ${position + 1}`, value, "A stage is { name, task, … }.") ?? {};
  const name = typeof declared.name === "string" ? declared.name : "";
  const report = job.at(nameProblem(name) === null ? `stage ${name}` : `stage ${position + 1}`);
  report.unknownKeys(declared, stage_keys);
  const bad_name = nameProblem(declared.name);
  if (bad_name !== null) report.add("name", bad_name, 'Write e.g. "tiles".');
  const bad_task = taskTypeProblem(declared.task);
  if (bad_task !== null) report.add("task", bad_task, 'Write the name of a handler, e.g. "raster.cog_tile".');
  const parallelism = report.oneOf("parallelism", declared.parallelism, parallelisms, "single");
  const batch = report.wholeNumber("batch", declared.batch, 1, 1_000_000);
  if (batch !== null && parallelism !== "fan_in") {
    report.add(
      "batch",
      `is for fan_in, but this stage is ${parallelism}`,
      'Use parallelism: "fan_in", or leave it out.',
    );
  }
  const overrides = readOverrides(declared.overrides, report, readBudget);
  return {
    number: position + 1,
    name,
    task: typeof declared.task === "string" ? declared.task : "",
    parallelism,
    after: [],
    of: null,
    batch,
    max_parallel: report.wholeNumber("max_parallel", declared.max_parallel, 1, 1_000_000),
    timeout_s: report.wholeNumber("timeout_s", declared.timeout_s, 1, max_timeout_s),
    retry: readRetryOf(declared, report),
    importance: report.oneOf("importance", declared.importance, importances, "critical"),
    failure_budget: readBudget(declared.failure_budget, report),
    ...(overrides === undefined ? {} : { overrides }),
    when: readCondition(name, declared.when, code, report),
    plan: readPlan(name, parallelism, declared.tasks, schema, code, report),
    description: readDescription(declared.description, report),
    on_task_failure: report.oneOf("on_task_failure", declared.on_task_failure, on_task_failures, "finish_stage"),
    gate: readGate(declared.gate, report),
    declared,
    report,
  };
}

function readBudget(budget: unknown, report: Report): StageBlueprint["failure_budget"] {
  if (budget === undefined || budget === null) return null;
  const fix = "Write { count: 10 } or { percent: 1 }.";
  const given = report.record("failure_budget", budget, fix);
  if (given === null) return null;
  report.at("failure_budget").unknownKeys(given, ["count", "percent"]);
  const { count, percent } = given;
  if ((count === undefined) === (percent === undefined)) {
    report.add("failure_budget", "needs either count or percent", fix);
    return null;
  }
  if (count !== undefined) {
    const found = report.wholeNumber("failure_budget count", count, 0, Number.MAX_SAFE_INTEGER);
    return found === null ? null : { count: found };
  }
  if (typeof percent === "number" && percent >= 0 && percent <= 100) return { percent };
  report.add("failure_budget percent", `must be a number from 0 to 100, not ${quoted(percent)}`, fix);
  return null;
}

function readGate(gate: unknown, report: Report): StageBlueprint["gate"] {
  if (gate === undefined || gate === null) return null;
  if (typeof gate === "string" && gate.length >= 1 && gate.length <= max_gate_message) return { message: gate };
  const problem = `must be text of 1 to ${max_gate_message} characters`;
  report.add("gate", problem, 'Write what is to be approved, e.g. "Publish these tiles?".');
  return null;
}

/** Code of a worker, named by a hash of its text: a worker that registers the job type for planning has it. */
function isElsewhere(value: unknown): value is { function: string } {
  const { function: hash, ...others } = (isRecord(value) ? value : {}) as { function?: unknown };
  return typeof hash === "string" && /^[0-9a-f]{12,64}$/.test(hash) && Object.keys(others).length === 0;
}

export function readCondition(
  stage: string,
  when: unknown,
  { conditions, is_sent }: Codes,
  report: Report,
): StageBlueprint["when"] {
  if (when === undefined || when === null) return null;
  if (typeof when === "function") {
    conditions.set(stage, when);
    return { function: sourceHash(when) };
  }
  if (is_sent && isElsewhere(when)) return { function: when.function };
  const found = pathProblem(when, true);
  if (found === null) return { path: when as string };
  report.add("when", found.problem, found.fix);
  return null;
}

function readPlan(
  stage: string,
  parallelism: Parallelism,
  tasks: unknown,
  schema: z.ZodObject | null,
  { planners, is_sent }: Codes,
  report: Report,
): StageBlueprint["plan"] {
  if (tasks === undefined || tasks === null) {
    if (parallelism === "fan_out")
      report.add("tasks", "is missing: a fan_out says how its tasks are made", "Add a function or { each, … }.");
    return null;
  }
  if (parallelism === "fan_in" || parallelism === "match_previous") {
    report.add("tasks", `a ${parallelism} stage has its tasks made by the engine`, 'Leave it out, or use "fan_out".');
    return null;
  }
  if (typeof tasks === "function") {
    planners.set(stage, tasks);
    return { function: sourceHash(tasks) };
  }
  if (is_sent && isElsewhere(tasks)) return { function: tasks.function };
  const known = schema === null ? null : parameterNames(schema);
  return readPlanData(tasks, report.at("tasks"), known === null || known.open ? null : known.names);
}
