// What we need to know of a zod schema: whether it is one, its JSON Schema, its keys, and which keys of a value it does
// not know. zod drops unknown keys silently; a misspelt parameter must be refused instead. Pure.
import { z } from "zod";
import { jsonPath, kindOf, max_problems, type Problem, quoted, type Step, suggestion } from "../errors/problems.js";
import { json_limits, jsonProblems } from "../values/json_values.js";
import { isRecord, type Report } from "./report.js";

export type JsonSchema = Record<string, unknown>;

interface Definition {
  type: string;
  [part: string]: unknown;
}

/** The definition behind a zod 4 schema; null for anything else. */
function definitionOf(schema: unknown): Definition | null {
  const inner = isRecord(schema) ? schema._zod : undefined;
  const definition = isRecord(inner) ? inner.def : undefined;
  return isRecord(definition) && typeof definition.type === "string" ? (definition as Definition) : null;
}

export function isZodSchema(schema: unknown): schema is z.ZodType {
  return definitionOf(schema) !== null;
}

/** The schema if it can describe parameters; null, with problems, if not. */
export function readObjectSchema(schema: unknown, report: Report): z.ZodObject | null {
  const definition = definitionOf(schema);
  if (definition === null) {
    const old = isRecord(schema) && "_def" in schema && "safeParse" in schema;
    const what = old ? "is a schema of another zod version" : `is not a zod schema but ${kindOf(schema)}`;
    report.add("parameters", what, 'Use z.object({ … }) of zod 4: import { z } from "zod".');
    return null;
  }
  if (definition.type !== "object") {
    const fix = "Use z.object({ … }); transforms and unions go on its fields.";
    report.add("parameters", `is a zod ${definition.type}, but parameters are an object`, fix);
    return null;
  }
  return schema as z.ZodObject;
}

/** The JSON Schema of what a submitter sends; null, with a problem, where JSON cannot say it. */
export function readJsonSchema(schema: z.ZodType, report: Report): JsonSchema | null {
  try {
    const made = z.toJSONSchema(schema, { io: "input", unrepresentable: "throw", override: closeObjects });
    const json_schema = JSON.parse(JSON.stringify(made)) as JsonSchema;
    const problems = jsonProblems(json_schema, json_limits);
    for (const { path, problem, fix } of problems) report.add(`parameters, JSON Schema at ${path}`, problem, fix);
    return problems.length === 0 ? json_schema : null;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const fix = "Use types JSON has, e.g. z.iso.datetime() instead of z.date(), z.record() instead of z.map().";
    report.add("parameters", `cannot become a JSON Schema: ${why}`, fix);
    return null;
  }
}

/** We refuse unknown keys, so the JSON Schema says so; but not inside allOf, where each side knows only its own keys. */
function closeObjects({
  zodSchema,
  jsonSchema,
  path,
}: {
  zodSchema: unknown;
  jsonSchema: JsonSchema;
  path: Step[];
}): void {
  const definition = definitionOf(zodSchema);
  if (definition?.type === "object" && definition.catchall === undefined && path.at(-2) !== "allOf") {
    jsonSchema.additionalProperties = false;
  }
}

/** The names of the parameters; null when the schema takes any others too. */
export function parameterNames(schema: z.ZodObject): { names: string[]; open: boolean } {
  return { names: Object.keys(schema.shape), open: isOpen(schema._zod.def as unknown as Definition) };
}

function isOpen(definition: Definition): boolean {
  return definition.catchall !== undefined && definitionOf(definition.catchall)?.type !== "never";
}

/** Keys of the value that the schema would drop, at any depth, with the name that was perhaps meant. */
export function unknownKeys(schema: unknown, value: unknown, path: readonly Step[] = []): Problem[] {
  const definition = definitionOf(schema);
  if (definition === null || typeof value !== "object" || value === null) return [];
  switch (definition.type) {
    case "object":
      return unknownInObject(definition, value, path);
    case "array":
      return unknownInItems(value, path, () => definition.element);
    case "tuple":
      return unknownInItems(value, path, (position) => (definition.items as unknown[])[position] ?? definition.rest);
    case "record":
      return entriesOf(value).flatMap(([key, inner]) => unknownKeys(definition.valueType, inner, [...path, key]));
    case "union":
      return unknownKeys(chosen(definition.options as z.ZodType[], value), value, path);
    case "intersection": {
      const right = new Set(unknownKeys(definition.right, value, path).map((found) => found.path));
      return unknownKeys(definition.left, value, path).filter((found) => right.has(found.path));
    }
    case "pipe":
      return unknownKeys(definition.in, value, path);
    case "lazy":
      return unknownKeys((definition.getter as () => unknown)(), value, path);
    default:
      // optional, nullable, default, readonly and their like wrap one schema; all others have none.
      return unknownKeys(definition.innerType, value, path);
  }
}

function unknownInObject(definition: Definition, value: object, path: readonly Step[]): Problem[] {
  if (Array.isArray(value)) return [];
  const shape = definition.shape as Record<string, unknown>;
  const open = isOpen(definition);
  const problems: Problem[] = [];
  for (const [key, inner] of entriesOf(value)) {
    if (problems.length >= max_problems) break;
    const here = [...path, key];
    if (Object.hasOwn(shape, key)) problems.push(...unknownKeys(shape[key], inner, here));
    else if (open) problems.push(...unknownKeys(definition.catchall, inner, here));
    else if (inner !== undefined) {
      const fix = suggestion(key, Object.keys(shape));
      problems.push({ path: jsonPath(here), problem: `${quoted(key)} is not known`, fix });
    }
  }
  return problems;
}

function unknownInItems(value: object, path: readonly Step[], schemaOf: (position: number) => unknown): Problem[] {
  if (!Array.isArray(value)) return [];
  const problems: Problem[] = [];
  for (let position = 0; position < value.length && problems.length < max_problems; position++) {
    problems.push(...unknownKeys(schemaOf(position), value[position], [...path, position]));
  }
  return problems;
}

function entriesOf(value: object): [string, unknown][] {
  return Array.isArray(value) ? [] : Object.entries(value);
}

/** The alternative zod takes: the first that accepts the value. When none does, zod says so itself. */
function chosen(options: readonly z.ZodType[], value: unknown): z.ZodType | undefined {
  return options.find((option) => {
    try {
      return z.safeParse(option, value).success;
    } catch {
      // Only an asynchronous check throws here; its outcome is not known yet.
      return false;
    }
  });
}
