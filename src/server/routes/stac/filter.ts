// Filters: CQL2 as text or JSON, and the older query extension, both made into one CQL2 expression in JSON.
import { item_names } from "../../../catalog/fields.js";
import { isRecord } from "../../../core/declare/report.js";
import { isFanfoldError } from "../../../core/errors/errors.js";
import { kindOf, type Problem, quoted } from "../../../core/errors/problems.js";
import { parseJson } from "../../../core/values/json.js";
import { type FilterNames, normalFilter } from "../../../geo/cql2/filter.js";
import { cql2FromText } from "../../../geo/cql2/text.js";

export type FilterLang = "cql2-text" | "cql2-json";

const fix = "See CQL2 (OGC 21-065r2); GET /stac/queryables tells what there is to filter by.";

/** The expression in JSON, or a problem. */
export function readFilter(
  value: unknown,
  lang: FilterLang,
  path: string,
  problems: Problem[],
  names: FilterNames = item_names,
): unknown {
  if (lang === "cql2-text" && typeof value !== "string") {
    const problem = `is ${kindOf(value)}, and filter-lang says cql2-text`;
    problems.push({ path, problem, fix: "Give text, or filter-lang cql2-json." });
    return undefined;
  }
  try {
    const expression =
      typeof value === "string" ? (lang === "cql2-text" ? cql2FromText(value) : parseJson(value)) : value;
    normalFilter(expression, names);
    return expression;
  } catch (error) {
    if (!isFanfoldError(error) || error.http_status !== 400) throw error;
    const told =
      error.problems.length > 0 ? error.problems : [{ path: "$", problem: error.title.slice(0, 300), fix: "" }];
    problems.push(
      ...told.slice(0, 3).map((one) => ({ path, problem: one.problem, fix: one.fix || error.hint || fix })),
    );
    return undefined;
  }
}

type Comparison = (property: unknown, value: unknown) => unknown;
const compare =
  (op: string): Comparison =>
  (property, value) => ({ op, args: [property, value] });
/** % and _ mean anything, and a backslash takes the meaning away. */
const like =
  (before: string, after: string): Comparison =>
  (property, value) => ({
    op: "like",
    args: [property, before + String(value).replaceAll(/[\\%_]/g, "\\$&") + after],
  });

const operators: Record<string, Comparison> = {
  eq: compare("="),
  neq: compare("<>"),
  lt: compare("<"),
  lte: compare("<="),
  gt: compare(">"),
  gte: compare(">="),
  in: compare("in"),
  startsWith: like("", "%"),
  endsWith: like("%", ""),
  contains: like("%", "%"),
};

/** Reads the filter of an address, as text. */
export function queryFilterOfText(text: string, problems: Problem[]): unknown {
  const fix = 'Give properties, each with operators: {"gsd":{"lte":30}}, URL-encoded.';
  const refuse = (problem: string) => problems.push({ path: "query.query", problem, fix });
  let query: unknown;
  try {
    query = parseJson(text);
  } catch {
    return void refuse("is not JSON");
  }
  const is_query = isRecord(query) && Object.values(query).every(isRecord);
  return is_query ? queryFilter(query as Queried, problems, "query") : void refuse("is no object of objects");
}

type Queried = Record<string, Record<string, unknown>>;

export function queryFilter(query: Queried, problems: Problem[], place: "body" | "query" = "body"): unknown {
  const found: unknown[] = [];
  for (const [name, conditions] of Object.entries(query)) {
    for (const [word, value] of Object.entries(conditions)) {
      const path = `${place}.query[${quoted(name)}]`;
      const make = Object.hasOwn(operators, word) ? operators[word] : undefined;
      if (make === undefined) {
        const fix = `Use one of ${Object.keys(operators).join(", ")}.`;
        problems.push({ path, problem: `${quoted(word)} is not an operator`, fix });
      } else if (!isFitting(word, value)) {
        const fix = word === "in" ? "Give a list of texts or numbers." : "Give a text, a number or a boolean.";
        problems.push({ path: `${path}.${word}`, problem: `${quoted(value)} is not a value for it`, fix });
      } else found.push(make({ property: name }, value));
    }
  }
  return allOf(found);
}

function isFitting(word: string, value: unknown): boolean {
  const is_scalar = (one: unknown) => ["string", "number", "boolean"].includes(typeof one);
  if (word === "in") return Array.isArray(value) && value.length > 0 && value.length <= 1000 && value.every(is_scalar);
  if (["startsWith", "endsWith", "contains"].includes(word)) return typeof value === "string";
  return is_scalar(value);
}

export function allOf(expressions: readonly unknown[]): unknown {
  const given = expressions.filter((one) => one !== undefined);
  if (given.length <= 1) return given[0];
  return { op: "and", args: given };
}
