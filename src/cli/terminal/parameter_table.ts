// The parameters of a job type as a person reads them, from its JSON Schema: name, what may be given, what it is by default, what
// it means. Pure.

interface Schema {
  type?: string;
  format?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  items?: Schema;
  prefixItems?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
}

export interface ParameterRow {
  name: string;
  value: string;
  /** "required", or the default as JSON; empty when it may be left out and has none. */
  given: string;
  description: string;
}

export function parameterRows(json_schema: unknown): ParameterRow[] {
  const { properties = {}, required = [] } = (json_schema ?? {}) as Schema;
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    value: valueWords(schema),
    given: required.includes(name) ? "required" : schema.default === undefined ? "" : JSON.stringify(schema.default),
    description: schema.description ?? "",
  }));
}

function valueWords(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map(String).join(" | ");
  if (schema.const !== undefined) return String(schema.const);
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(valueWords))].join(" | ");
  if (schema.prefixItems !== undefined) return `[${schema.prefixItems.map(valueWords).join(", ")}]`;
  if (schema.type === "array") return `[${valueWords(schema.items ?? {})}, …]`;
  if (schema.properties !== undefined) return `{ ${Object.keys(schema.properties).join(", ")} }`;
  if (schema.format === "date-time") return "time";
  return { string: "text", integer: "whole number" }[schema.type ?? ""] ?? schema.type ?? "any value";
}
