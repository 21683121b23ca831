// How requests for a kind of data become jobs: a recipe lists them as a job lists its stages. The recipe as data is what SQL snapshots
// into a request. Nothing is thrown here: createRegistry tells every problem of every declaration at once. Pure.
import type { z } from "zod";
import { kindOf, type Problem, quoted, shorten, suggestion } from "../errors/problems.js";
import { type Importance, importances } from "../shown/statuses.js";
import type { Loose } from "../task/context.js";
import { sourceHash } from "../values/ids.js";
import { json_limits, jsonProblems } from "../values/json_values.js";
import { max_gate_message, readCondition, readDescription } from "./blueprint.js";
import type { Output } from "./declare.js";
import { pathProblem } from "./json_path.js";
import { nameProblem } from "./names.js";
import { type JsonSchema, parameterNames, readJsonSchema, readObjectSchema } from "./parameter_schema.js";
import { checkTemplate, eachText, isOneName, type KnownNames } from "./plan_data.js";
import { isRecord, Report } from "./report.js";
import { orderStages } from "./stage_order.js";

/** What a function of a recipe sees: the request, and what its jobs came to so far. */
export interface RecipeContext<Parameters = Loose> {
  request: {
    request_id: string;
    tenant_id: string;
    dataset_id: string;
    resource_id: string;
    version_id: string;
    run: number;
    data_type: string;
    files: string[];
    parameters: Parameters;
    metadata: Record<string, Loose>;
    /** For what is made of it: the same at every run. `overwrite` is replace from the second run on. */
    names: { collection: string; item: string; overwrite: "refuse" | "replace" };
  };
  jobs: Record<string, { job_id: string | null; job_type: string; status: string; result: Loose }>;
}

export type RecipePlanner<Parameters = Loose> = (
  context: RecipeContext<Parameters>,
) => Record<string, unknown> | Promise<Record<string, unknown>>;
export type RecipeCondition<Parameters = Loose> = (context: RecipeContext<Parameters>) => boolean | Promise<boolean>;

export interface RecipeJobDeclaration<Parameters = Loose> {
  name: string;
  /** The type of the job. */
  job: string;
  /**
   * A template over {request…} and the results of jobs before it, {jobs.validate.result.crs}, or a function. The fields of an object under
   * the key "..." are taken over. The request's parameters when left out.
   */
  parameters?: Record<string, unknown> | string | RecipePlanner<Parameters>;
  /** Default: the job before it in the list. */
  after?: readonly string[];
  when?: string | RecipeCondition<Parameters>;
  /** Default: critical. */
  importance?: Importance;
  /** What a person approves before the job opens; with `when`, only where that holds. */
  gate?: string | { message: string; when: string };
  description?: string;
}

export interface Accepted {
  /** Ends of file names, such as ".tif". */
  extensions: readonly string[];
  /** Default: 1. */
  min_files?: number;
  /** Default: 10,000. */
  max_files?: number;
}

export interface RecipeDeclaration<Schema extends z.ZodObject | undefined = undefined> {
  data_type: string;
  description?: string;
  /** Which files find this recipe when a request names no data type. */
  accepts?: Accepted;
  parameters?: Schema;
  /** Nothing of it is published before a person has approved it. */
  approval?: boolean;
  jobs: readonly RecipeJobDeclaration<Output<Schema>>[];
}

export interface RecipeJobData {
  number: number;
  name: string;
  job: string;
  after: number[];
  /** Jobs of the same sequence run in parallel. */
  sequence: number;
  importance: Importance;
  when: { path: string } | { function: string } | null;
  gate: { message: string; when?: string } | null;
  parameters: { template: Record<string, unknown> | string } | { function: string } | null;
  description: string | null;
}

export interface RecipeData {
  data_type: string;
  description: string | null;
  accepts: { extensions: string[]; min_files: number; max_files: number } | null;
  parameters: JsonSchema | null;
  approval: boolean;
  jobs: RecipeJobData[];
}

export interface Recipe {
  readonly kind: "recipe";
  readonly data_type: string;
  readonly recipe: RecipeData;
  readonly schema: z.ZodObject | undefined;
  readonly planners: ReadonlyMap<string, RecipePlanner>;
  readonly conditions: ReadonlyMap<string, RecipeCondition>;
  /** It was sent as data by a caller. */
  readonly is_sent?: boolean;
  readonly problems: readonly Problem[];
}

const max_jobs = 100;
const max_names = 200;
export const most_files = 10_000;
/** Its planner's task type, platform.plan.<data_type>, is one too. */
const max_data_type = 40;
const recipe_keys = ["data_type", "description", "accepts", "parameters", "approval", "jobs"];
const job_keys = ["name", "job", "parameters", "after", "when", "importance", "gate", "description"];
const request_fields = [
  "request_id",
  "tenant_id",
  "dataset_id",
  "resource_id",
  "version_id",
  "run",
  "data_type",
  "files",
  "parameters",
  "metadata",
  "names",
];

// biome-ignore lint/complexity/noBannedTypes: typed where it is declared; here it is only carried
type Code = Function;

export function defineRecipe<Schema extends z.ZodObject | undefined = undefined>(
  declaration: RecipeDeclaration<Schema>,
): Recipe {
  const problems: Problem[] = [];
  const named = (declaration as { data_type?: unknown } | null | undefined)?.data_type;
  const report = new Report(
    problems,
    `recipe ${typeof named === "string" && named !== "" ? shorten(named) : "without a name"}`,
  );
  return Object.freeze({ kind: "recipe" as const, ...buildRecipe(declaration, report), problems });
}

/** Never throws: a wrong declaration gives a recipe nobody may use, and the reasons in the report. */
export function buildRecipe(declaration: unknown, report: Report): Omit<Recipe, "kind" | "problems"> {
  const declared = report.record("", declaration, "Call defineRecipe({ data_type, jobs: [ … ] }).") ?? {};
  report.unknownKeys(declared, recipe_keys);
  const malformed = nameProblem(declared.data_type);
  if (malformed !== null) report.add("data_type", malformed, 'Write e.g. "raster".');
  else if (String(declared.data_type).length > max_data_type)
    report.add("data_type", `is longer than ${max_data_type} characters`, "Shorten it.");
  const schema = declared.parameters === undefined ? null : readObjectSchema(declared.parameters, report);
  const code = { planners: new Map<string, Code>(), conditions: new Map<string, Code>() };
  const data_type = typeof declared.data_type === "string" ? declared.data_type : "";
  const recipe: RecipeData = {
    data_type,
    description: readDescription(declared.description, report),
    accepts: readAccepts(declared.accepts, report),
    parameters: schema === null ? null : readJsonSchema(schema, report),
    approval: report.boolean("approval", declared.approval) ?? false,
    jobs: readJobs(declared.jobs, schema, code, report),
  };
  return {
    data_type,
    recipe,
    schema: schema ?? undefined,
    planners: code.planners as unknown as ReadonlyMap<string, RecipePlanner>,
    conditions: code.conditions as unknown as ReadonlyMap<string, RecipeCondition>,
  };
}

function readAccepts(accepts: unknown, report: Report): RecipeData["accepts"] {
  if (accepts === undefined || accepts === null) return null;
  const fix = 'Write { extensions: [".tif"], max_files: 1 }, or leave it out: then it is found by its data_type alone.';
  const given = report.record("accepts", accepts, fix);
  if (given === null) return null;
  const own = report.at("accepts");
  own.unknownKeys(given, ["extensions", "min_files", "max_files"]);
  const { extensions } = given;
  const good =
    Array.isArray(extensions) &&
    extensions.length > 0 &&
    extensions.length <= 100 &&
    extensions.every((one) => typeof one === "string" && /^\.[A-Za-z0-9._-]{1,30}$/.test(one));
  if (!good) own.add("extensions", `must be a list of ends of file names, not ${quoted(extensions)}`, fix);
  const min_files = own.wholeNumber("min_files", given.min_files, 1, most_files) ?? 1;
  const max_files = own.wholeNumber("max_files", given.max_files, 1, most_files) ?? most_files;
  if (min_files > max_files)
    own.add("min_files", `is ${min_files}, more than max_files, ${max_files}`, "Correct one of them.");
  return { extensions: good ? (extensions as string[]) : [], min_files, max_files };
}

interface Codes {
  planners: Map<string, Code>;
  conditions: Map<string, Code>;
}

type Draft = RecipeJobData & { declared: Record<string, unknown>; report: Report };

function readJobs(jobs: unknown, schema: z.ZodObject | null, code: Codes, report: Report): RecipeJobData[] {
  if (!Array.isArray(jobs) || jobs.length === 0 || jobs.length > max_jobs) {
    report.add("jobs", `must be a list of 1 to ${max_jobs} jobs`, "Declare at least one: { name, job }.");
    return [];
  }
  const drafts = jobs.map((job, position) => readJob(job, position, code, report));
  const seen = new Set<string>();
  for (const { name, report: own } of drafts) {
    if (name !== "" && seen.has(name)) own.add("name", `there are two jobs called ${quoted(name)}`, "Rename one.");
    seen.add(name);
  }
  const { places, order } = orderStages(
    drafts.map(({ name, declared, report: own }) => {
      return { name, parallelism: "single" as const, after: declared.after, of: undefined, report: own };
    }),
    { one: "job", whole: "recipe" },
  );
  const numbers = new Map(order.map((position, place) => [position, place + 1]));
  const sequences = new Map<number, number>();
  const before = new Map<number, Set<string>>();
  return order.map((position, place) => {
    const { declared, report: own, ...job } = drafts[position]!;
    const { after } = places[position]!;
    const sequence = 1 + Math.max(0, ...after.map((one) => sequences.get(one) ?? 0));
    sequences.set(position, sequence);
    const known = new Set(after.flatMap((one) => [drafts[one]!.name, ...(before.get(one) ?? [])]));
    before.set(position, known);
    if (job.parameters !== null && "template" in job.parameters)
      checkNames(job.parameters.template, known, schema, own);
    return {
      ...job,
      number: place + 1,
      sequence,
      after: after.map((one) => numbers.get(one)!).sort((a, b) => a - b),
    };
  });
}

function readJob(value: unknown, position: number, code: Codes, recipe: Report): Draft {
  const declared = recipe.record(`job ${position + 1}`, value, "A job is { name, job, … }.") ?? {};
  const name = typeof declared.name === "string" ? declared.name : "";
  const report = recipe.at(nameProblem(name) === null ? `job ${name}` : `job ${position + 1}`);
  report.unknownKeys(declared, job_keys);
  const bad_name = nameProblem(declared.name);
  if (bad_name !== null) report.add("name", bad_name, 'Write e.g. "validate".');
  const bad_type = nameProblem(declared.job);
  if (bad_type !== null) report.add("job", bad_type, 'Write the type of a job, e.g. "process_raster".');
  return {
    number: position + 1,
    name,
    job: typeof declared.job === "string" ? declared.job : "",
    after: [],
    sequence: 1,
    importance: report.oneOf("importance", declared.importance, importances, "critical"),
    when: readCondition(name, declared.when, { ...code, is_sent: false }, report),
    gate: readGate(declared.gate, report),
    parameters: readParameters(name, declared.parameters, code.planners, report),
    description: readDescription(declared.description, report),
    declared,
    report,
  };
}

function readGate(gate: unknown, report: Report): RecipeJobData["gate"] {
  if (gate === undefined || gate === null) return null;
  const given = typeof gate === "string" ? { message: gate } : gate;
  const fix = 'Write what is to be approved, e.g. "Publish it?", or { message, when }.';
  if (
    !isRecord(given) ||
    typeof given.message !== "string" ||
    given.message.length < 1 ||
    given.message.length > max_gate_message
  ) {
    report.add("gate", `must be text of 1 to ${max_gate_message} characters`, fix);
    return null;
  }
  report.at("gate").unknownKeys(given, ["message", "when"]);
  if (given.when === undefined || given.when === null) return { message: given.message };
  const found = pathProblem(given.when, true);
  if (found === null) return { message: given.message, when: given.when as string };
  report.add("gate when", found.problem, found.fix);
  return null;
}

function readParameters(
  name: string,
  parameters: unknown,
  planners: Map<string, Code>,
  report: Report,
): RecipeJobData["parameters"] {
  if (parameters === undefined || parameters === null) return null;
  if (typeof parameters === "function") {
    planners.set(name, parameters);
    return { function: sourceHash(parameters) };
  }
  if (!isRecord(parameters) && !(typeof parameters === "string" && isOneName(parameters))) {
    const fix = 'Write e.g. { source: "{request.files.0}" }, or a function.';
    report.add("parameters", `must be an object of templates, not ${kindOf(parameters)}`, fix);
    return null;
  }
  const problems = jsonProblems(parameters, json_limits);
  for (const { path, problem, fix } of problems) report.add(`parameters at ${path}`, problem, fix);
  return problems.length === 0 ? { template: parameters } : null;
}

function checkNames(template: unknown, before: ReadonlySet<string>, schema: z.ZodObject | null, report: Report): void {
  const names = new RecipeNames(before, schema);
  eachText(template, (text) => checkTemplate("parameters", text, report, names));
  if (names.used > max_names) {
    report.add("parameters", `names more than ${max_names} values in its template`, "Name what holds several of them.");
  }
}

/** {request.<field>…}, {parameters.<name>} for those of the request, and {jobs.<a job before it>.(job_id|status|result)…}. */
class RecipeNames implements KnownNames {
  used = 0;
  private readonly parameters: readonly string[] | null;

  constructor(
    private readonly before: ReadonlySet<string>,
    schema: z.ZodObject | null,
  ) {
    const known = schema === null ? null : parameterNames(schema);
    this.parameters = known === null || known.open ? null : known.names;
  }

  problem(name: string): { problem: string; fix: string } | null {
    const [first, second, third, fourth] = name.split(".");
    if (first === "parameters") return this.parameter(name, second);
    if (first === "request") {
      if (second === "parameters") return this.parameter(name, third);
      if (second === undefined || request_fields.includes(second)) return null;
      return { problem: `{${name}}: a request has no ${quoted(second)}`, fix: suggestion(second, request_fields) };
    }
    if (first === "jobs") {
      if (second === undefined || !this.before.has(second)) {
        const fix =
          this.before.size === 0
            ? "It comes first: no job has ended before it."
            : suggestion(second ?? "", this.before);
        return { problem: `{${name}} names no job that comes before this one`, fix };
      }
      const fields = ["job_id", "job_type", "status", "result"];
      if (third !== undefined && fields.includes(third) && (third === "result" || fourth === undefined)) return null;
      return {
        problem: `{${name}}: of a job there is ${fields.join(", ")}`,
        fix: `Write e.g. {jobs.${second}.result.crs}.`,
      };
    }
    return { problem: `{${name}} is not known`, fix: "Write {request.…}, {parameters.…} or {jobs.<name>.result.…}." };
  }

  private parameter(name: string, parameter: string | undefined): { problem: string; fix: string } | null {
    if (parameter === undefined || this.parameters === null || this.parameters.includes(parameter)) return null;
    return { problem: `{${name}} names no parameter of the recipe`, fix: suggestion(parameter, this.parameters) };
  }
}
