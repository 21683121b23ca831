// A job type declared as data: read by the same code as defineJob, with a JSON Schema for its parameters; functions are named by a hash, and
// run by workers that have them. Pure.

import { type Problem, shorten } from "../errors/problems.js";
import { type Blueprint, buildJob, default_timeout_s } from "./blueprint.js";
import type { Handler, Job } from "./declare.js";
import { readJsonSchemaText } from "./json_schema.js";
import type { JsonSchema } from "./parameter_schema.js";
import { isRecord, Report } from "./report.js";

export interface ReadDeclaration {
  /** null when there are problems. */
  job: Job | null;
  /** As far as it could be read. */
  blueprint: Blueprint;
  problems: Problem[];
}

export function readDeclaration(
  type: unknown,
  declaration: unknown,
  handlers: ReadonlyMap<string, Handler>,
): ReadDeclaration {
  const problems: Problem[] = [];
  const report = new Report(
    problems,
    `job ${typeof type === "string" && type !== "" ? shorten(type) : "without a name"}`,
  );
  const given = isRecord(declaration) ? declaration : {};
  const schema =
    given.parameters === undefined || given.parameters === null ? null : readJsonSchemaText(given.parameters, report);
  const { parameters: _, ...rest } = given;
  const built = buildJob({ ...rest, type, ...(schema === null ? {} : { parameters: schema }) }, report, {
    is_sent: true,
  });
  const stages = built.blueprint.stages.map((stage) => ({
    ...stage,
    timeout_s: stage.timeout_s ?? handlers.get(stage.task)?.options.timeout_s ?? default_timeout_s,
  }));
  const parameters = schema === null ? null : (given.parameters as JsonSchema);
  const blueprint: Blueprint = { ...built.blueprint, parameters, stages };
  if (problems.length > 0) return { job: null, blueprint, problems };
  const job: Job = Object.freeze({
    kind: "job" as const,
    type: blueprint.type,
    blueprint,
    schema: schema ?? undefined,
    problems,
    is_sent: true,
    planners: new Map(),
    conditions: new Map(),
  });
  return { job, blueprint, problems };
}
