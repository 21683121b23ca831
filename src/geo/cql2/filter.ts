// CQL2 filters: text or JSON in, a normal form out that SQL functions make statements of (stac.predicate_text, geo.predicate_text). Every
// name is resolved by who is asked, every comparison has its type, every value stays a value. What is not understood is refused with its
// place in the filter. Pure.
import { BadRequest } from "../../core/errors/errors.js";
import { jsonPath, kindOf, quoted, type Step, suggestion } from "../../core/errors/problems.js";
import { bboxGeometry, bboxProblem, boxProblem, geometryProblems } from "../geojson.js";
import { isDay, isMoment } from "../times.js";
import { cql2FromText } from "./text.js";

const deepest = 32;
const most_nodes = 5_000;
const most_in_list = 10_000;

export type Type = "text" | "number" | "boolean" | "time";
export type Node = Record<string, unknown>;
/** One side of a comparison; its type is null when only the records know it. */
export interface Scalar {
  node: Node;
  type: Type | null;
}

/** What a filter may name. */
export interface FilterNames {
  /** What a name stands for; "geometry" for the one there is; else what is wrong with it, and what to do. */
  field(name: string): Scalar | "geometry" | { problem: string; fix: string };
  /** For temporal operators: a name, or two of an interval, that stand for a time that lasts. */
  span(names: readonly string[]): Node | null;
  /** Are its geometries in longitude and latitude? */
  degrees: boolean;
}

const comparisons = ["=", "<>", "<", ">", "<=", ">="];
const arithmetic = ["+", "-", "*", "/", "%", "div", "^"];
const spatial = ["contains", "crosses", "disjoint", "equals", "intersects", "overlaps", "touches", "within"].map(
  (one) => `s_${one}`,
);
const temporal =
  "after before contains disjoint during equals finishedBy finishes intersects meets metBy overlappedBy overlaps startedBy starts"
    .split(" ")
    .map((one) => `t_${one}`);
const arrays = ["a_equals", "a_contains", "a_containedBy", "a_overlaps"];
const operators = [
  ..."and or not".split(" "),
  ...comparisons,
  ..."like between in isNull casei accenti".split(" "),
  ...arithmetic,
  ...spatial,
  ...temporal,
  ...arrays,
];
/** Written in other ways by older clients, and in any case by everybody. */
const spellings = new Map([
  ...operators.map((op) => [op.toLowerCase(), op] as const),
  ...(Object.entries({ "!=": "<>", eq: "=", neq: "<>", lt: "<", lte: "<=", gt: ">", gte: ">=" }) as [string, string][]),
  ...(Object.entries({ intersects: "s_intersects", anyinteracts: "t_intersects", a_contained_by: "a_containedBy" }) as [
    string,
    string,
  ][]),
]);

/** Text is CQL2 text, anything else CQL2 JSON. Throws BadRequest. */
export function normalFilter(filter: unknown, names: FilterNames): unknown {
  const json = typeof filter === "string" ? cql2FromText(filter) : filter;
  return new Normaliser(names).boolean(json, ["filter"]);
}

class Normaliser {
  private nodes = 0;

  constructor(private readonly names: FilterNames) {}

  boolean(value: unknown, at: readonly Step[]): Node {
    this.count(at);
    if (typeof value === "boolean") return { op: String(value) };
    if (isObject(value) && typeof value.property === "string") {
      return { op: "is_true", args: [this.scalar(value, at).node] };
    }
    const { op, args } = this.operation(value, at);
    if (op === "and" || op === "or") {
      if (args.length === 0) throw refusal(at, `"${op}" of nothing`, "give it conditions");
      return { op, args: args.map((one, place) => this.boolean(one, [...at, "args", place])) };
    }
    if (op === "not") return { op, args: [this.boolean(this.only(args, 1, op, at)[0], [...at, "args", 0])] };
    if (spatial.includes(op)) return { op, args: this.pair(args, op, at, (one, place) => this.geometry(one, place)) };
    if (temporal.includes(op)) return { op, args: this.pair(args, op, at, (one, place) => this.span(one, place)) };
    if (arrays.includes(op)) return { op, args: this.pair(args, op, at, (one, place) => this.array(one, place)) };
    if (op === "isNull") return this.isNull(this.only(args, 1, op, at)[0], at);
    if (op === "in") return this.isIn(this.only(args, 2, op, at), at);
    if (op === "like") return this.like(this.only(args, 2, op, at), at);
    if (op === "between" || comparisons.includes(op)) {
      const sides = this.only(args, op === "between" ? 3 : 2, op, at);
      return this.compared(
        op,
        sides.map((one, place) => this.scalar(one, [...at, "args", place])),
        at,
      );
    }
    throw refusal(at, `"${op}" is a value, where a condition is expected`, "compare it with something");
  }

  private operation(value: unknown, at: readonly Step[]): { op: string; args: unknown[] } {
    if (!isObject(value) || typeof value.op !== "string") {
      throw refusal(
        at,
        `is ${kindOf(value)}, not a condition`,
        '{"op": "<", "args": [{"property": "eo:cloud_cover"}, 10]}',
      );
    }
    const op = spellings.get(value.op.toLowerCase());
    if (value.op.toLowerCase() === "ilike") return { op: "like", args: this.ignoringCase(value.args, at) };
    if (op === undefined)
      throw refusal(at, `there is no operator ${quoted(value.op)}`, suggestion(value.op, operators));
    // A lone argument without brackets is common, and means itself.
    const args = Array.isArray(value.args) ? value.args : value.args === undefined ? [] : [value.args];
    return { op, args };
  }

  private ignoringCase(args: unknown, at: readonly Step[]): unknown[] {
    if (!Array.isArray(args)) throw refusal(at, '"ilike" has no arguments', "give it two");
    return args.map((one) => ({ op: "casei", args: [one] }));
  }

  private compared(op: string, sides: Scalar[], at: readonly Step[]): Node {
    const types = new Set(sides.map(({ type }) => type).filter((type) => type !== null));
    // Clients write moments as plain texts.
    if (types.size === 2 && types.has("time") && types.has("text")) {
      return { op, type: "time", args: sides.map((side, place) => asTime(side, [...at, "args", place])) };
    }
    if (types.size > 1)
      throw refusal(at, `"${op}" compares ${[...types].join(" with ")}`, "compare values of the same kind");
    const [type = "json"] = types;
    if (type === "boolean" && op !== "=" && op !== "<>")
      throw refusal(at, `"${op}" of true and false`, 'use "=" or "<>"');
    if (type === "json" && op === "between") throw refusal(at, '"between" of properties only', "give numbers or times");
    return { op, type, args: sides.map(({ node }) => node) };
  }

  private isNull(value: unknown, at: readonly Step[]): Node {
    if (this.isGeometry(value)) return { op: "isNull", args: [{ geometry: true }] };
    const { node, type } = this.scalar(value, [...at, "args", 0]);
    return { op: "isNull", type: type ?? "json", args: [node] };
  }

  private isIn([value, list]: unknown[], at: readonly Step[]): Node {
    const side = this.scalar(value, [...at, "args", 0]);
    if (!Array.isArray(list)) throw refusal([...at, "args", 1], "is not a list", "give an array of values");
    if (list.length > most_in_list)
      throw refusal([...at, "args", 1], `has ${list.length} values`, `give at most ${most_in_list}`);
    if (list.length === 0) return { op: "false" };
    const items = list.map((one, place) => this.literal(one, [...at, "args", 1, place]));
    const types = new Set(items.map(({ type }) => type));
    if (types.size > 1) throw refusal([...at, "args", 1], "holds values of several kinds", "give values of one kind");
    const [type] = types as Set<Type>;
    const wanted = side.type ?? (type as Type);
    if (wanted === "time" && type === "text")
      for (const [n, one] of items.entries()) asTime(one, [...at, "args", 1, n]);
    else if (wanted !== type)
      throw refusal(at, `"in" looks for ${type} in ${wanted}`, "compare values of the same kind");
    return { op: "in", type: wanted, args: [side.node, { list: items.map(({ node }) => node.value) }] };
  }

  private like([value, pattern]: unknown[], at: readonly Step[]): Node {
    const sides = [this.scalar(value, [...at, "args", 0]), this.scalar(pattern, [...at, "args", 1])];
    if (sides.some(({ type }) => type !== null && type !== "text"))
      throw refusal(at, '"like" is of texts', "give a text property and a pattern");
    const text = patternText(sides[1]!.node);
    if (text === null)
      throw refusal([...at, "args", 1], "is not a pattern", "give a text: % is anything, _ any one character");
    if (/(^|[^\\])(\\\\)*\\$/.test(text))
      throw refusal([...at, "args", 1], "ends with half an escape", "write \\\\ for a backslash");
    return { op: "like", type: "text", args: sides.map(({ node }) => node) };
  }

  private scalar(value: unknown, at: readonly Step[]): Scalar {
    this.count(at);
    if (isObject(value) && "property" in value) return this.property(value.property, at);
    if (isObject(value) && "op" in value) {
      const { op, args } = this.operation(value, at);
      if (op === "casei" || op === "accenti") {
        const inner = this.scalar(this.only(args, 1, op, at)[0], [...at, "args", 0]);
        if (inner.type !== null && inner.type !== "text") throw refusal(at, `"${op}" is of texts`, "give a text");
        return { node: { fn: op, args: [inner.node] }, type: "text" };
      }
      if (arithmetic.includes(op)) {
        const inner = this.only(args, 2, op, at).map((one, place) => this.scalar(one, [...at, "args", place]));
        if (inner.some(({ type }) => type !== null && type !== "number"))
          throw refusal(at, `"${op}" is of numbers`, "give numbers");
        return { node: { fn: op, args: inner.map(({ node }) => node) }, type: "number" };
      }
      throw refusal(
        at,
        `"${op}" is a condition, where a value is expected`,
        "compare values, and join conditions with and, or, not",
      );
    }
    return this.literal(value, at);
  }

  private literal(value: unknown, at: readonly Step[]): Scalar {
    if (typeof value === "string") {
      if (value.includes("\0") || !value.isWellFormed()) throw refusal(at, "is no text that can be stored", "mend it");
      return { node: { value }, type: "text" };
    }
    if (typeof value === "number" && Number.isFinite(value)) return { node: { value }, type: "number" };
    if (typeof value === "boolean") return { node: { value }, type: "boolean" };
    if (isObject(value) && "timestamp" in value)
      return { node: { value: momentOf(value.timestamp, at) }, type: "time" };
    if (isObject(value) && "date" in value) return { node: { value: dayOf(value.date, at) }, type: "time" };
    if (isObject(value) && "interval" in value)
      throw refusal(at, "is an interval, which only temporal operators take", "use t_intersects, t_during, …");
    throw refusal(
      at,
      `is ${kindOf(value)}, not a value`,
      "give a text, a number, true or false, a timestamp or a date",
    );
  }

  private property(name: unknown, at: readonly Step[]): Scalar {
    if (typeof name !== "string" || name === "" || name.includes("\0") || !name.isWellFormed())
      throw refusal([...at, "property"], "is not a name", "give the name of a property");
    const field = this.names.field(name);
    if (field === "geometry")
      throw refusal(at, "the geometry is no value", "use a spatial operator: s_intersects, s_within, …");
    if ("problem" in field) throw refusal(at, field.problem, field.fix);
    return { node: { ...field.node }, type: field.type };
  }

  private isGeometry(value: unknown): boolean {
    return isObject(value) && typeof value.property === "string" && this.names.field(value.property) === "geometry";
  }

  private geometry(value: unknown, at: readonly Step[]): Node {
    if (isObject(value) && "property" in value) {
      if (this.isGeometry(value)) return { geometry: true };
      throw refusal(at, `${quoted(value.property)} is no geometry`, 'the geometry is {"property": "geometry"}');
    }
    const box =
      isObject(value) && value.op === "bbox"
        ? value.args
        : isObject(value) && "bbox" in value && !("type" in value)
          ? value.bbox
          : null;
    if (box !== null) {
      const problem = this.names.degrees ? bboxProblem(box) : boxProblem(box);
      if (problem !== null) throw refusal([...at, "bbox"], problem, "west, south, east, north");
      return { geojson: bboxGeometry(box as number[]) };
    }
    const [problem] = geometryProblems(value, at);
    if (problem !== undefined) throw new BadRequest("the filter is not right", { problems: [problem] });
    return { geojson: value };
  }

  private span(value: unknown, at: readonly Step[]): Node {
    this.count(at);
    if (typeof value === "string") return this.span({ timestamp: value }, at);
    if (isObject(value) && "interval" in value) return this.interval(value.interval, at);
    if (isObject(value) && "date" in value) {
      const day = dayOf(value.date, at);
      return { interval: [`${day}T00:00:00Z`, `${day}T23:59:59.999999Z`] };
    }
    if (isObject(value) && "timestamp" in value) {
      const moment = momentOf(value.timestamp, at);
      return { interval: [moment, moment] };
    }
    const { node, type } = this.scalar(value, at);
    if (type !== "time" && type !== null) throw refusal(at, "is no time", "give a timestamp, a date or an interval");
    const lasting = isObject(value) && typeof value.property === "string" ? this.names.span([value.property]) : null;
    return lasting ?? { ...node, instant: true };
  }

  private interval(value: unknown, at: readonly Step[]): Node {
    if (!Array.isArray(value) || value.length !== 2)
      throw refusal(at, "an interval has two ends", '{"interval": ["2024-01-01", ".."]}');
    if (value.every((one) => isObject(one) && typeof one.property === "string")) {
      const lasting = this.names.span(value.map(({ property }) => property as string));
      if (lasting !== null) return lasting;
    }
    const ends = value.map((one: unknown, place) => {
      const text = isObject(one) ? (one.timestamp ?? one.date) : one;
      if (text === ".." || text === "") return "..";
      if (isDay(text)) return place === 0 ? `${text}T00:00:00Z` : `${text}T23:59:59.999999Z`;
      return momentOf(text, [...at, "interval", place]);
    });
    if (ends[0] === ".." && ends[1] === "..") throw refusal(at, "is open at both ends", "give one end at least");
    return { interval: ends };
  }

  private array(value: unknown, at: readonly Step[]): Node {
    if (Array.isArray(value)) {
      if (value.length > most_in_list) throw refusal(at, `has ${value.length} values`, `give at most ${most_in_list}`);
      return { array: value.map((one, place) => this.literal(one, [...at, place]).node.value) };
    }
    const { node, type } = this.scalar(value, at);
    if (type !== null) throw refusal(at, "is no array", "give an array, or the name of a property that is one");
    return node;
  }

  private pair(
    args: unknown[],
    op: string,
    at: readonly Step[],
    part: (one: unknown, at: readonly Step[]) => Node,
  ): Node[] {
    return this.only(args, 2, op, at).map((one, place) => part(one, [...at, "args", place]));
  }

  private only(args: unknown[], wanted: number, op: string, at: readonly Step[]): unknown[] {
    if (args.length !== wanted) throw refusal(at, `"${op}" has ${args.length} arguments`, `give it ${wanted}`);
    return args;
  }

  private count(at: readonly Step[]): void {
    if (++this.nodes > most_nodes)
      throw refusal(at, `the filter has more than ${most_nodes} parts`, "send a shorter one");
    if (at.length > 2 * deepest) throw refusal(at, `is nested deeper than ${deepest}`, "write it flatter");
  }
}

/** The pattern's own text, whatever is done to its case and accents. */
function patternText(node: Node): string | null {
  if (typeof node.value === "string") return node.value;
  return typeof node.fn === "string" && Array.isArray(node.args) ? patternText(node.args[0] as Node) : null;
}

function asTime({ node, type }: Scalar, at: readonly Step[]): Node {
  if (type !== "text") return node;
  if (typeof node.value !== "string" || !(isMoment(node.value) || isDay(node.value)))
    throw refusal(at, `${quoted(node.value)} is no time`, "RFC 3339: 2024-05-01T10:00:00Z");
  return node;
}

function momentOf(value: unknown, at: readonly Step[]): string {
  if (isMoment(value) || isDay(value)) return value;
  throw refusal(at, `${quoted(value)} is not a moment`, "RFC 3339: 2024-05-01T10:00:00Z");
}

function dayOf(value: unknown, at: readonly Step[]): string {
  if (isDay(value)) return value;
  throw refusal(at, `${quoted(value)} is not a date`, "2024-05-01");
}

function refusal(at: readonly Step[], problem: string, fix: string): BadRequest {
  const path = jsonPath(at);
  return new BadRequest("the filter is not right", {
    problems: [{ path, problem, fix }],
    hint: fix,
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
