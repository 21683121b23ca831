// Plans as data: `each` or `count` with templates. SQL fills them; here they are only checked, as far as that is possible
// without a database. Pure.

import { quoted, suggestion } from "../errors/problems.js";
import { json_limits, jsonProblems } from "../values/json_values.js";
import { pathProblem } from "./json_path.js";
import { isRecord, type Report } from "./report.js";

interface PlanTemplates {
  index?: string;
  parameters?: Record<string, unknown> | string;
  parent?: string;
  metadata?: Record<string, unknown> | string;
}

/** `each` is a JSONPath as Postgres speaks it; `count` a number or "{parameters.n}". */
export type PlanData = ({ each: string; count?: undefined } | { count: number | string; each?: undefined }) &
  PlanTemplates;

export const max_count = 10_000_000;
/** Values that templates fill in for each task. */
const max_names = 1_000;

/** The plan with only its known keys; null with problems when it is not a plan. */
export function readPlanData(
  value: unknown,
  report: Report,
  parameter_names: readonly string[] | null,
): PlanData | null {
  const plan = report.record(
    "",
    value,
    "Give a function, or { each, index, parameters } or { count, index, parameters }.",
  );
  if (plan === null) return null;
  report.unknownKeys(plan, ["each", "count", "index", "parameters", "parent", "metadata"]);
  const { each, count, index, parameters, parent, metadata } = plan;
  if ((each === undefined) === (count === undefined)) {
    const both = each !== undefined;
    report.add("", both ? "has both each and count" : "has neither each nor count", "Keep exactly one of the two.");
    return null;
  }
  const names = new TemplateNames(count === undefined, parameter_names);
  if (each !== undefined) checkPath("each", each, report);
  else checkCount(count, report, names);
  if (index !== undefined) checkText("index", index, report, names);
  if (parent !== undefined) checkText("parent", parent, report, names);
  if (parameters !== undefined) checkObject("parameters", parameters, report, names);
  if (metadata !== undefined) checkObject("metadata", metadata, report, names);
  if (names.used > max_names) {
    const fix = "Name what holds several of them, e.g. {item}.";
    report.add("", `names more than ${max_names} values in its templates`, fix);
  }
  const kept = Object.entries({ each, count, index, parameters, parent, metadata }).filter(
    ([, part]) => part !== undefined,
  );
  return Object.fromEntries(kept) as unknown as PlanData;
}

export interface KnownNames {
  used: number;
  problem(name: string): { problem: string; fix: string } | null;
}

/** Which names a template may use, as far as they are known before a run. */
class TemplateNames implements KnownNames {
  used = 0;

  constructor(
    private readonly has_item: boolean,
    private readonly parameter_names: readonly string[] | null,
  ) {}

  problem(name: string): { problem: string; fix: string } | null {
    const [first, second] = name.split(".");
    if (first === "ordinal") return null;
    if (first === "parameters") {
      if (second === undefined || this.parameter_names === null || this.parameter_names.includes(second)) return null;
      return { problem: `{${name}} names no parameter of the job`, fix: suggestion(second, this.parameter_names) };
    }
    if (this.has_item) return null;
    return { problem: `{${name}}: a plan with count has no item`, fix: "Use {ordinal} or {parameters.…}." };
  }
}

function checkPath(part: string, path: unknown, report: Report): void {
  const found = pathProblem(path, false);
  if (found !== null) report.add(part, found.problem, found.fix);
}

function checkCount(count: unknown, report: Report, names: TemplateNames): void {
  const fix = `Give a whole number from 0 to ${max_count}, or one name like "{parameters.n}".`;
  if (typeof count === "number") {
    if (!Number.isInteger(count) || count < 0 || count > max_count) report.add("count", `${count} is not a count`, fix);
  } else if (typeof count === "string" && isOneName(count)) {
    checkTemplate("count", count, report, names);
  } else {
    report.add("count", `${quoted(count)} is not a count`, fix);
  }
}

function checkText(part: string, template: unknown, report: Report, names: TemplateNames): void {
  if (typeof template === "string" && template !== "") checkTemplate(part, template, report, names);
  else report.add(part, `must be a template in a string, not ${quoted(template)}`, 'Write e.g. "tile-{x}-{y}".');
}

function checkObject(part: string, template: unknown, report: Report, names: TemplateNames): void {
  if (!isRecord(template) && !(typeof template === "string" && isOneName(template))) {
    report.add(part, `must be an object, not ${quoted(template)}`, 'Write e.g. { tile: "{item}" }.');
    return;
  }
  const problems = jsonProblems(template, json_limits);
  for (const { path, problem, fix } of problems) report.add(`${part} at ${path}`, problem, fix);
  if (problems.length === 0) eachText(template, (text) => checkTemplate(part, text, report, names));
}

export function eachText(value: unknown, visit: (text: string) => void): void {
  if (typeof value === "string") visit(value);
  else if (typeof value === "object" && value !== null)
    for (const inner of Object.values(value)) eachText(inner, visit);
}

export function isOneName(text: string): boolean {
  return /^\{[^{}]+\}$/.test(text);
}

/** {{ and }} are braces; {name} is a name; a brace that stands alone is a mistake SQL would pass through as text. */
export function checkTemplate(part: string, template: string, report: Report, names: KnownNames): void {
  for (const [piece, name] of template.matchAll(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g)) {
    if (piece === "{" || piece === "}") {
      report.add(
        part,
        `${quoted(template)} has unbalanced braces`,
        "Write {{ and }} for braces that are meant as text.",
      );
      return;
    }
    if (name === undefined) continue;
    if (!/^[^\s.]+(\.[^\s.]+)*$/.test(name)) {
      report.add(
        part,
        `${quoted(template)}: ${quoted(piece)} is not a name`,
        "Write e.g. {item.x}, {x}, {ordinal}, {parameters.n}.",
      );
      continue;
    }
    names.used++;
    const found = names.problem(name);
    if (found !== null) report.add(part, found.problem, found.fix);
  }
}
