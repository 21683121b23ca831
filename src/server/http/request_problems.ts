// Everything that is wrong with a call's path, query and body, at once: what, where, and what to do.
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import type { Endpoint } from "../../core/api/endpoint.js";
import { unknownKeys } from "../../core/declare/parameter_schema.js";
import { issueProblems } from "../../core/declare/parameters.js";
import { BadRequest } from "../../core/errors/errors.js";
import { didYouMean, max_problems, type Problem } from "../../core/errors/problems.js";
import { textProblem } from "../../core/values/json_values.js";
import type { Call } from "./route.js";

type Read = Pick<Call, "params" | "query" | "body">;

export function checked(endpoint: Endpoint, request: FastifyRequest): Read {
  const problems: Problem[] = [];
  // A body's texts were looked at when it was parsed; those of the address were not.
  const params = read(problems, "path", endpoint.params, storable(problems, "path", request.params));
  const query = read(problems, "query", endpoint.query, storable(problems, "query", request.query));
  for (const bad of badNumbers(endpoint.query, request.query)) {
    if (!problems.some(({ path }) => path === bad.path)) problems.push(bad);
  }
  const body = endpoint.body === null ? undefined : read(problems, "body", endpoint.body, request.body);
  if (endpoint.body === null && request.body !== undefined) {
    problems.push({ path: "body", problem: "this call takes no body", fix: "Leave it out." });
  }
  if (problems.length > 0) {
    const few = problems.slice(0, max_problems);
    throw new BadRequest("the request is not right", {
      problems: few,
      hint: `GET /api/docs tells what ${endpoint.method} ${endpoint.path} takes`,
    });
  }
  return { params, query, body } as Read;
}

function read(problems: Problem[], name: string, schema: z.ZodType, value: unknown): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  if (value === undefined) {
    problems.push({
      path: name,
      problem: "is missing",
      fix: "Send a JSON object, with Content-Type: application/json.",
    });
    return undefined;
  }
  // Unknown keys are told with what was perhaps meant.
  const issues = result.error.issues.filter(({ code }) => code !== "unrecognized_keys").slice(0, max_problems);
  const known = [...unknownKeys(schema, value), ...issueProblems(issues, value)];
  // Inside alternatives unknown keys are not looked for: the refusal itself tells of them.
  const found = known.length > 0 ? known : issueProblems(result.error.issues.slice(0, max_problems), value);
  const hints = new Map(issues.map((issue) => [issue, fixOf(issue, value)]));
  const unknown = found.length - issues.length;
  for (const [position, { path, problem, fix }] of found.entries()) {
    const issue = issues[position - unknown];
    problems.push({
      path: `${name}${path.slice(1)}`,
      problem,
      fix: fix !== "" || issue === undefined ? fix : (hints.get(issue) ?? ""),
    });
  }
  return undefined;
}

/** A number of a query is written in digits; JavaScript would also take an empty text for 0, and "0x1f" for 31. */
function badNumbers({ shape }: z.ZodObject, values: unknown): Problem[] {
  const given = Object.entries((values ?? {}) as Record<string, unknown>);
  return given.flatMap(([key, value]) => {
    const is_number = Object.hasOwn(shape, key) && bare(shape[key]) instanceof z.ZodNumber;
    if (!is_number || typeof value !== "string" || /^-?\d+(\.\d+)?$/.test(value)) return [];
    return [{ path: `query.${key}`, problem: "is not a number", fix: "Write it in digits, or leave it out." }];
  });
}

/** A schema without its default, and without being optional. */
function bare(schema: unknown): unknown {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodOptional ? bare(schema.unwrap()) : schema;
}

function fixOf(issue: z.core.$ZodIssue, root: unknown): string {
  if (issue.code !== "invalid_value") return "";
  let value = root;
  for (const step of issue.path) value = (value as Record<PropertyKey, unknown> | null)?.[step];
  const words = issue.values.map(String);
  const close = typeof value === "string" ? didYouMean(value, words) : null;
  return close === null ? `Use one of: ${words.join(", ")}.` : `Did you mean ${JSON.stringify(close)}?`;
}

/** The same value, with a problem for each text that nothing could store. */
function storable(problems: Problem[], name: string, values: unknown): unknown {
  for (const [key, value] of Object.entries((values ?? {}) as Record<string, unknown>)) {
    for (const text of [key, ...(Array.isArray(value) ? value : [value])]) {
      const found = typeof text === "string" ? textProblem(text) : null;
      if (found !== null) problems.push({ path: `${name}.${key.slice(0, 60)}`, ...found });
    }
  }
  return values;
}
