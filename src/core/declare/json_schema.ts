// A JSON Schema that somebody sends for the parameters of a job type, as a schema of ours. Only what is really checked is taken: a
// keyword that would be passed over in silence is refused, and so is one with which a value could keep us busy for ever. Pure.
import { z } from "zod";
import { kindOf, quoted, suggestion } from "../errors/problems.js";
import { isRecord, type Report } from "./report.js";

const max_schema_bytes = 65_536;
const max_depth = 32;
/** Schemas within the schema. */
const max_parts = 1_000;
/** Each is tried on the value, and each tells what is wrong with it. */
const max_alternatives = 16;

const annotations = ["$schema", "$comment", "title", "description", "default", "examples", "deprecated"];
const compositions = ["anyOf", "oneOf", "allOf"];
/** By the type they say something about; without that type they would say nothing. */
const constraints: Record<string, readonly string[]> = {
  object: ["properties", "required", "additionalProperties", "minProperties", "maxProperties"],
  array: ["items", "prefixItems", "minItems", "maxItems", "uniqueItems"],
  string: ["minLength", "maxLength", "format"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
};
const types = ["object", "array", "string", "number", "integer", "boolean", "null"];
const formats = ["email", "uri", "uuid", "date-time", "date", "time", "ipv4", "ipv6", "hostname"];
const known = [...annotations, ...compositions, "type", "enum", "const", ...Object.values(constraints).flat()];

const not_checked: Record<string, string> = {
  pattern: "Use enum, format, minLength and maxLength: a pattern can be made to take for ever.",
  patternProperties: "Use properties, or additionalProperties: a pattern can be made to take for ever.",
  $ref: "Write out what it refers to.",
  $defs: "Write the parts where they are used.",
};

/** null, with problems, when it cannot be checked as it stands. */
export function readJsonSchemaText(schema: unknown, report: Report): z.ZodObject | null {
  const before = report.problems.length;
  if (!isRecord(schema)) {
    report.add(
      "parameters",
      `must be a JSON Schema, not ${kindOf(schema)}`,
      'Write { "type": "object", "properties": { … } }.',
    );
    return null;
  }
  const bytes = Buffer.byteLength(JSON.stringify(schema), "utf8");
  if (bytes > max_schema_bytes) {
    report.add("parameters", `${bytes} bytes of JSON Schema; the limit is ${max_schema_bytes}`, "Describe less of it.");
    return null;
  }
  if (schema.type !== "object" || compositions.some((name) => name in schema)) {
    report.add(
      "parameters",
      'is not { "type": "object", "properties": … }',
      "Parameters are an object; compose its fields.",
    );
    return null;
  }
  checkSchema(schema, "parameters", report, 0, { parts: 0 });
  if (report.problems.length > before) return null;
  try {
    const made = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    if (made instanceof z.ZodObject) return made;
    report.add("parameters", "cannot be checked as an object", "Leave out minProperties and maxProperties.");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    report.add("parameters", `cannot be checked: ${why}`, "Leave that part out.");
  }
  return null;
}

interface Seen {
  parts: number;
}

function checkSchema(schema: unknown, path: string, report: Report, depth: number, seen: Seen): void {
  seen.parts += 1;
  if (seen.parts > max_parts) {
    // Told once: everything behind it is too much as well.
    if (seen.parts === max_parts + 1) {
      report.add("parameters", `is made of more than ${max_parts} schemas`, "Describe less of it.");
    }
    return;
  }
  if (typeof schema === "boolean") return;
  if (!isRecord(schema)) {
    report.add(path, `must be a JSON Schema, not ${kindOf(schema)}`, "Write { … }.");
    return;
  }
  if (depth > max_depth) {
    report.add(path, `is nested deeper than ${max_depth} levels`, "Flatten it.");
    return;
  }
  for (const key of Object.keys(schema)) {
    if (known.includes(key)) continue;
    report.add(path, `${quoted(key)} is not checked here`, not_checked[key] ?? suggestion(key, known));
  }
  const given = typesOf(schema, path, report);
  checkEnum(schema, path, report);
  for (const [type, keywords] of Object.entries(constraints)) {
    const applies = given.has(type) || (type === "number" && given.has("integer"));
    for (const key of keywords) {
      if (key in schema && !applies) {
        report.add(path, `${quoted(key)} says nothing without "type": "${type}"`, "Add the type, or leave it out.");
      }
    }
  }
  checkKeywords(schema, path, report);
  checkParts(schema, path, report, depth, seen);
}

function typesOf(schema: Record<string, unknown>, path: string, report: Report): Set<string> {
  if (schema.type === undefined) return new Set();
  const list = Array.isArray(schema.type) ? schema.type : [schema.type];
  for (const type of list) {
    if (!types.includes(type as string))
      report.add(path, `${quoted(type)} is not a type`, `One of ${types.join(", ")}.`);
  }
  if (list.length === 0) report.add(path, "type is an empty list", "Name at least one.");
  return new Set(list as string[]);
}

function checkEnum(schema: Record<string, unknown>, path: string, report: Report): void {
  if ("enum" in schema) {
    const values = schema.enum;
    const scalar = (value: unknown) => value === null || ["string", "number", "boolean"].includes(typeof value);
    if (!Array.isArray(values) || values.length === 0 || !values.every(scalar)) {
      report.add(path, "enum must be a list of texts, numbers, booleans or null", 'Write e.g. ["a", "b"].');
    }
  }
  if ("const" in schema && typeof schema.const === "object" && schema.const !== null) {
    report.add(path, "const must be text, a number, a boolean or null", "Describe an object by its properties.");
  }
  if (
    ("enum" in schema || "const" in schema) &&
    Object.values(constraints)
      .flat()
      .some((key) => key in schema)
  ) {
    report.add(path, "has an enum or const, beside which nothing else is checked", "Keep one of the two.");
  }
}

const counts = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];

function checkKeywords(schema: Record<string, unknown>, path: string, report: Report): void {
  for (const key of counts) report.at(path).wholeNumber(key, schema[key], 0, Number.MAX_SAFE_INTEGER);
  for (const key of constraints.number!) {
    const value = schema[key];
    if (value === undefined || (typeof value === "number" && (key !== "multipleOf" || value > 0))) continue;
    report.add(path, `${key} must be a number${key === "multipleOf" ? " above 0" : ""}, not ${quoted(value)}`, "");
  }
  if (schema.format !== undefined && !formats.includes(schema.format as string)) {
    report.add(path, `the format ${quoted(schema.format)} is not checked here`, `One of ${formats.join(", ")}.`);
  }
  const { required, uniqueItems } = schema;
  if (required !== undefined && !(Array.isArray(required) && required.every((name) => typeof name === "string"))) {
    report.add(path, "required must be a list of names", 'Write e.g. ["name"].');
  } else if (Array.isArray(required)) {
    const names = isRecord(schema.properties) ? Object.keys(schema.properties) : [];
    for (const name of required.filter((one) => !names.includes(one))) {
      report.add(path, `requires ${quoted(name)}, which is not among its properties`, suggestion(name, names));
    }
  }
  if (uniqueItems !== undefined && typeof uniqueItems !== "boolean") {
    report.add(path, `uniqueItems must be true or false, not ${quoted(uniqueItems)}`, "");
  }
}

function checkParts(schema: Record<string, unknown>, path: string, report: Report, depth: number, seen: Seen): void {
  const { properties, additionalProperties, items, prefixItems } = schema;
  if (properties !== undefined && !isRecord(properties)) {
    report.add(
      path,
      `properties must be an object, not ${kindOf(properties)}`,
      'Write { "name": { "type": "string" } }.',
    );
  } else if (properties !== undefined) {
    for (const [name, part] of Object.entries(properties))
      checkSchema(part, `${path}.${name}`, report, depth + 1, seen);
  }
  if (additionalProperties !== undefined) checkSchema(additionalProperties, `${path}.*`, report, depth + 1, seen);
  if (items !== undefined) checkSchema(items, `${path}[]`, report, depth + 1, seen);
  for (const [key, list] of [["prefixItems", prefixItems], ...compositions.map((key) => [key, schema[key]])] as const) {
    if (list === undefined) continue;
    if (!Array.isArray(list) || list.length === 0)
      report.add(path, `${key} must be a list of schemas`, "Name at least one.");
    else if (key !== "prefixItems" && list.length > max_alternatives)
      report.add(
        path,
        `${key} has ${list.length} schemas; the limit is ${max_alternatives}`,
        "Use enum, or name fewer.",
      );
    else
      for (const [position, part] of list.entries())
        checkSchema(part, `${path} ${key}[${position}]`, report, depth + 1, seen);
  }
}
