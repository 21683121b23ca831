// A JSON Schema as the fields of a form. What a field cannot show becomes a field for JSON: there is nothing that cannot be given. The
// schema may be anybody's: it is never trusted to be well formed, small or finite. Pure.
import { fromPlain, isRecord, type Value } from "./values.js";

export type Schema = unknown;

export interface Described {
  title: string | null;
  description: string | null;
  examples: Value[];
  /** What the server takes when nothing is given. */
  default: Value;
  /** null is a value too. */
  nullable: boolean;
  deprecated: boolean;
}

export interface Property {
  name: string;
  required: boolean;
  schema: Schema;
}

export type Shape =
  | { kind: "text"; format: string | null; least: number | null; most: number | null; pattern: string | null }
  | {
      kind: "number";
      whole: boolean;
      minimum: Bound | null;
      maximum: Bound | null;
      step: number | null;
    }
  | { kind: "boolean" }
  | { kind: "enum"; values: Value[] }
  | { kind: "const"; value: Value }
  | { kind: "list"; item: Schema; least: number | null; most: number | null; unique: boolean }
  | { kind: "tuple"; items: Schema[]; rest: Schema | null }
  | { kind: "object"; properties: Property[]; others: Schema | null }
  | { kind: "record"; item: Schema; least: number | null }
  | { kind: "choice"; alternatives: Alternative[] }
  /** Anything else: typed as JSON. */
  | { kind: "json"; why: string | null };

export interface Bound {
  value: number;
  inclusive: boolean;
}

export interface Alternative {
  label: string;
  schema: Schema;
}

export type Read = Described & { shape: Shape };

const MOST_ALTERNATIVES = 40;
const MOST_PROPERTIES = 500;
const MOST_ENUM = 2_000;
const MOST_HOPS = 20;
/** Deeper than this a value is typed as JSON. */
export const most_depth = 12;

type Keywords = Record<string, unknown>;

/** What a schema says, with references of its own document followed; `root` is that document. */
export function readSchema(schema: Schema, root: Schema): Read {
  const { keywords, nullable } = resolved(schema, root);
  const described = describe(keywords, nullable);
  return { ...described, shape: shapeOf(keywords, root) };
}

function describe(keywords: Keywords | null, nullable: boolean): Described {
  const text = (name: string) => (typeof keywords?.[name] === "string" ? (keywords[name] as string) : null);
  const examples = keywords?.examples;
  return {
    title: text("title"),
    description: text("description"),
    examples: Array.isArray(examples) ? examples.slice(0, 5).map(fromPlain) : [],
    default: keywords !== null && Object.hasOwn(keywords, "default") ? fromPlain(keywords.default) : undefined,
    nullable,
    deprecated: keywords?.deprecated === true,
  };
}

/** null: it says nothing, so anything goes. */
function resolved(schema: Schema, root: Schema): { keywords: Keywords | null; nullable: boolean } {
  let keywords = asKeywords(schema);
  let nullable = false;
  // Each turn follows one reference or takes one null away; a schema that only points at itself says nothing in the end.
  for (let hops = 0; keywords !== null && hops < MOST_HOPS; hops++) {
    if (typeof keywords.$ref === "string") {
      const { $ref, ...beside } = keywords;
      const target = asKeywords(pointed(root, $ref as string));
      if (target === null) return { keywords: null, nullable };
      keywords = { ...target, ...beside };
      continue;
    }
    const list = alternativesOf(keywords);
    if (list !== null && !("type" in keywords) && !("enum" in keywords)) {
      const others = list.filter((one) => !isNull(one, root));
      if (others.length < list.length) nullable = true;
      if (others.length === 1) {
        const { anyOf: _1, oneOf: _2, ...beside } = keywords;
        const only = asKeywords(others[0]);
        if (only === null) return { keywords: null, nullable };
        keywords = { ...only, ...beside };
        continue;
      }
    }
    break;
  }
  if (keywords !== null && typeof keywords.$ref === "string") return { keywords: null, nullable };
  if (keywords !== null && Array.isArray(keywords.type)) {
    const types = keywords.type.filter((type) => type !== "null");
    if (types.length < keywords.type.length) nullable = true;
    keywords = { ...keywords, type: types.length === 1 ? types[0] : types };
  }
  if (keywords !== null && Array.isArray(keywords.enum) && keywords.enum.includes(null)) {
    nullable = true;
    keywords = { ...keywords, enum: keywords.enum.filter((value) => value !== null) };
  }
  return { keywords: keywords === null ? null : merged(keywords, root), nullable };
}

function asKeywords(schema: Schema): Keywords | null {
  return isRecord(schema) ? (schema as Keywords) : null;
}

function isNull(schema: Schema, root: Schema): boolean {
  const keywords = asKeywords(schema);
  if (keywords === null) return false;
  if (typeof keywords.$ref === "string") return asKeywords(pointed(root, keywords.$ref))?.type === "null";
  return keywords.type === "null" || keywords.const === null;
}

/** Only within the document: an address elsewhere is never fetched. */
function pointed(root: Schema, pointer: string): Schema {
  if (!/^#(\/|$)/.test(pointer)) return undefined;
  let found: unknown = root;
  for (const part of pointer.split("/").slice(1)) {
    let name: string;
    try {
      name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    } catch {
      return undefined;
    }
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

function alternativesOf(keywords: Keywords): unknown[] | null {
  const list = keywords.oneOf ?? keywords.anyOf;
  return Array.isArray(list) && list.length > 0 ? list : null;
}

/** allOf of objects is one object; of anything else it is left to JSON. */
function merged(keywords: Keywords, root: Schema): Keywords {
  if (!Array.isArray(keywords.allOf)) return keywords;
  const { allOf, ...beside } = keywords;
  const parts = [beside, ...(allOf as unknown[]).slice(0, MOST_ALTERNATIVES)].map((part) => {
    const known = asKeywords(part);
    return typeof known?.$ref === "string" ? asKeywords(pointed(root, known.$ref)) : known;
  });
  const objects = parts.filter((part) => part !== null && (part.type === "object" || isRecord(part.properties)));
  if (objects.length === 0 || parts.some((part) => part === null || "allOf" in part || "$ref" in part)) {
    return { ...beside, unreadable: "it combines several schemas" };
  }
  const all = Object.assign({}, ...parts) as Keywords;
  all.type = "object";
  all.properties = Object.fromEntries(objects.flatMap((part) => Object.entries(asKeywords(part?.properties) ?? {})));
  all.required = objects.flatMap((part) => (Array.isArray(part?.required) ? part.required : []));
  delete all.additionalProperties;
  return all;
}

const whole = (value: unknown): number | null =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : null;

function shapeOf(keywords: Keywords | null, root: Schema): Shape {
  if (keywords === null) return { kind: "json", why: null };
  if (typeof keywords.unreadable === "string") return { kind: "json", why: keywords.unreadable };
  if (Object.hasOwn(keywords, "const")) return { kind: "const", value: fromPlain(keywords.const) };
  if (Array.isArray(keywords.enum)) {
    const scalars = keywords.enum.every((value) => typeof value !== "object" && value !== undefined);
    return scalars && keywords.enum.length > 0 && keywords.enum.length <= MOST_ENUM
      ? { kind: "enum", values: keywords.enum.map(fromPlain) }
      : { kind: "json", why: "it is one of a list of values" };
  }
  const alternatives = alternativesOf(keywords);
  if (alternatives !== null && keywords.type === undefined) return choiceOf(alternatives, root);
  switch (keywords.type ?? (isRecord(keywords.properties) ? "object" : undefined)) {
    case "string":
      return textOf(keywords);
    case "number":
    case "integer":
      return numberOf(keywords);
    case "boolean":
      return { kind: "boolean" };
    case "array":
      return listOf(keywords);
    case "object":
      return objectOf(keywords);
    default:
      if (Array.isArray(keywords.type) && keywords.type.length > 1) {
        return choiceOf(
          keywords.type.slice(0, 10).map((type) => ({ ...keywords, type })),
          root,
        );
      }
      return { kind: "json", why: null };
  }
}

function textOf(keywords: Keywords): Shape {
  const format = typeof keywords.format === "string" ? keywords.format : null;
  const pattern = typeof keywords.pattern === "string" ? keywords.pattern : null;
  return { kind: "text", format, least: whole(keywords.minLength), most: whole(keywords.maxLength), pattern };
}

function numberOf(keywords: Keywords): Shape {
  const given = (name: string) => {
    const value = keywords[name];
    return typeof value === "number" && Number.isFinite(value) ? value : null;
  };
  const bound = (inclusive: string, exclusive: string): Bound | null => {
    const [closed, open] = [given(inclusive), given(exclusive)];
    if (open !== null) return { value: open, inclusive: false };
    // zod names the limits of what a computer counts exactly: true, and of no help to anybody.
    return closed === null || Math.abs(closed) >= Number.MAX_SAFE_INTEGER ? null : { value: closed, inclusive: true };
  };
  const step = given("multipleOf");
  return {
    kind: "number",
    whole: keywords.type === "integer",
    minimum: bound("minimum", "exclusiveMinimum"),
    maximum: bound("maximum", "exclusiveMaximum"),
    step: step !== null && step > 0 ? step : null,
  };
}

function listOf(keywords: Keywords): Shape {
  const prefix = keywords.prefixItems ?? (Array.isArray(keywords.items) ? keywords.items : undefined);
  const [least, most] = [whole(keywords.minItems), whole(keywords.maxItems)];
  if (Array.isArray(prefix) && prefix.length <= 50) {
    const rest = keywords.prefixItems === undefined ? keywords.additionalItems : keywords.items;
    const closed = rest === false || rest === undefined || (most !== null && most <= prefix.length);
    return { kind: "tuple", items: prefix, rest: closed ? null : rest };
  }
  const item = keywords.items ?? {};
  // So many, no more and no fewer: a bounding box, a colour.
  if (least !== null && least === most && least >= 1 && least <= 8) {
    return { kind: "tuple", items: Array.from({ length: least }, () => item), rest: null };
  }
  return { kind: "list", item, least, most, unique: keywords.uniqueItems === true };
}

function objectOf(keywords: Keywords): Shape {
  const properties = asKeywords(keywords.properties) ?? {};
  const names = Object.keys(properties);
  const required = new Set(Array.isArray(keywords.required) ? keywords.required : []);
  const others = keywords.additionalProperties;
  if (names.length > MOST_PROPERTIES) return { kind: "json", why: `it has ${names.length} fields` };
  if (names.length === 0 && others !== false) {
    return {
      kind: "record",
      item: others === undefined || others === true ? {} : others,
      least: whole(keywords.minProperties),
    };
  }
  return {
    kind: "object",
    properties: names.map((name) => ({ name, required: required.has(name), schema: properties[name] })),
    // Nothing said means anything goes; our own schemas say it.
    others: others === false ? null : (others ?? {}),
  };
}

function choiceOf(list: unknown[], root: Schema): Shape {
  if (list.length > MOST_ALTERNATIVES) return { kind: "json", why: `it is one of ${list.length} kinds` };
  const reads = list.map((schema) => ({ schema, keywords: resolved(schema, root).keywords }));
  // One of several fixed words is a list of words.
  if (reads.every(({ keywords }) => keywords !== null && Object.hasOwn(keywords, "const"))) {
    return { kind: "enum", values: reads.map(({ keywords }) => fromPlain(keywords?.const)) };
  }
  const alternatives = reads.map(({ schema, keywords }, at) => ({ schema, label: labelOf(keywords, at, root) }));
  return { kind: "choice", alternatives };
}

const type_words: Record<string, string> = {
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  null: "null",
};

function labelOf(keywords: Keywords | null, at: number, root: Schema): string {
  if (keywords === null) return "JSON";
  if (typeof keywords.title === "string") return keywords.title;
  if (Object.hasOwn(keywords, "const")) return String(keywords.const);
  const told = constProperties(keywords, root);
  if (told.length > 0) return told.map(([, value]) => String(value)).join(" ");
  if (Array.isArray(keywords.enum)) return keywords.enum.slice(0, 4).join(" or ");
  const properties = Object.keys(asKeywords(keywords.properties) ?? {});
  if (properties.length > 0) return properties.slice(0, 3).join(", ") + (properties.length > 3 ? ", …" : "");
  return type_words[String(keywords.type)] ?? `kind ${at + 1}`;
}

/** What tells one alternative from the others: its fixed fields. */
export function constProperties(schema: Schema, root: Schema): [string, unknown][] {
  const keywords = asKeywords(schema);
  const properties = asKeywords(keywords?.properties);
  if (properties === null) return [];
  return Object.entries(properties).flatMap(([name, part]): [string, unknown][] => {
    const inner = asKeywords(
      typeof asKeywords(part)?.$ref === "string" ? pointed(root, asKeywords(part)?.$ref as string) : part,
    );
    return inner !== null && Object.hasOwn(inner, "const") ? [[name, inner.const]] : [];
  });
}
