// The jobs, handlers and recipes of one process. Everything that is wrong with any of them is told in one error, before anything
// runs. Maps only: a job type may be called constructor or toString. Pure.

import { DeclarationError, NotFound } from "../errors/errors.js";
import { kindOf, type Problem, quoted, suggestion } from "../errors/problems.js";
import { type Blueprint, default_timeout_s } from "./blueprint.js";
import type { Handler, Job } from "./declare.js";
import type { Recipe } from "./recipe.js";
import { recipePlanner } from "./recipe_planner.js";
import { isRecord, Report } from "./report.js";

export interface Registry {
  readonly jobs: ReadonlyMap<string, Job>;
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly recipes: ReadonlyMap<string, Recipe>;
}

export interface RegistryParts {
  jobs?: readonly Job[];
  handlers?: readonly Handler[];
  recipes?: readonly Recipe[];
}

/** Throws one DeclarationError with every problem there is. */
export function createRegistry(parts: RegistryParts): Registry {
  const problems: Problem[] = [];
  const report = new Report(problems, "createRegistry");
  const given = report.record("", parts, "Call createRegistry({ jobs: [ … ], handlers: [ … ] }).") ?? {};
  report.unknownKeys(given, ["jobs", "handlers", "recipes"]);
  const handlers = collect<Handler>("handler", "defineHandler", given.handlers, (handler) => handler.name, report);
  const declared = collect<Job>("job", "defineJob", given.jobs, (job) => job.type, report);
  const recipes = collect<Recipe>("recipe", "defineRecipe", given.recipes, (recipe) => recipe.data_type, report);
  for (const job of declared.values()) checkHandlers(job, handlers, new Report(problems, `job ${job.type}`));
  for (const recipe of recipes.values())
    checkJobs(recipe, declared, new Report(problems, `recipe ${recipe.data_type}`));
  if (problems.length > 0) throw new DeclarationError(problems);
  const jobs = new Map([...declared].map(([type, job]) => [type, resolved(job, handlers)]));
  // What of a recipe is code is asked of a worker that has it, as a task of a type of its own.
  for (const recipe of recipes.values()) {
    const planner = recipePlanner(recipe);
    if (planner !== null) handlers.set(planner.name, planner);
  }
  return Object.freeze({ jobs, handlers, recipes });
}

function collect<Part extends Job | Handler | Recipe>(
  kind: Part["kind"],
  maker: string,
  list: unknown,
  nameOf: (part: Part) => string,
  report: Report,
): Map<string, Part> {
  const found = new Map<string, Part>();
  if (list === undefined) return found;
  if (!Array.isArray(list)) {
    report.add(`${kind}s`, `must be a list, not ${kindOf(list)}`, `Give what ${maker} returned, in [ … ].`);
    return found;
  }
  for (const [position, value] of (list as unknown[]).entries()) {
    if (!isRecord(value) || value.kind !== kind || !Array.isArray(value.problems)) {
      report.add(`${kind}s[${position}]`, `is not a ${kind} but ${kindOf(value)}`, `Give what ${maker} returned.`);
      continue;
    }
    const part = value as unknown as Part;
    const name = nameOf(part);
    report.problems.push(...part.problems);
    if (found.has(name)) report.add(`${kind} ${name}`, "is registered twice", "Rename or remove one.");
    found.set(name, part);
  }
  return found;
}

function checkHandlers(job: Job, handlers: ReadonlyMap<string, Handler>, report: Report): void {
  for (const { name, task } of job.blueprint.stages) {
    if (task === "" || handlers.has(task)) continue;
    report.add(`stage ${name}`, `no handler is called ${quoted(task)}`, suggestion(task, handlers.keys()));
  }
}

/** A recipe in code names jobs in code: one that is saved may not be there when it is needed. */
function checkJobs({ recipe }: Recipe, jobs: ReadonlyMap<string, Job>, report: Report): void {
  for (const { name, job } of recipe.jobs) {
    if (job === "" || jobs.has(job)) continue;
    report.add(`job ${name}`, `no job type is called ${quoted(job)}`, suggestion(job, jobs.keys()));
  }
}

/** A job of its own for this registry: which handler a stage gets, and so its time-out, is known only here. */
function resolved(job: Job, handlers: ReadonlyMap<string, Handler>): Job {
  const stages = job.blueprint.stages.map((stage) => ({
    ...stage,
    timeout_s: stage.timeout_s ?? handlers.get(stage.task)?.options.timeout_s ?? default_timeout_s,
  }));
  const blueprint: Blueprint = { ...job.blueprint, stages };
  return Object.freeze({ ...job, blueprint });
}

/** The registered job of that type. Throws NotFound with what was perhaps meant. */
export function findJob(registry: Registry, job: string | { readonly type: string }): Job {
  const type = typeof job === "string" ? job : job.type;
  const found = registry.jobs.get(type);
  if (found !== undefined) return found;
  throw new NotFound(`There is no job type ${quoted(type)}.`, { hint: suggestion(String(type), registry.jobs.keys()) });
}

export function findHandler(registry: Registry, name: string): Handler {
  const found = registry.handlers.get(name);
  if (found !== undefined) return found;
  const hint = suggestion(String(name), registry.handlers.keys());
  throw new NotFound(`There is no handler for task type ${quoted(name)}.`, { hint });
}
