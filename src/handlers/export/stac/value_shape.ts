// What type of Parquet a JSON value has among others of its place: found value by value, and only ever widened. What fits no type is kept as
// the text of its JSON. Pure.
import type { SchemaElement } from "hyparquet";

export type Shape =
  | { kind: "null" | "boolean" | "integer" | "number" | "text" | "json" | "time" | "wkb" }
  | { kind: "list"; of: Shape }
  | { kind: "group"; fields: Map<string, Shape> };

export const nothing: Shape = { kind: "null" };

export function shapeOf(value: unknown): Shape {
  if (value === null || value === undefined) return nothing;
  if (typeof value === "boolean") return { kind: "boolean" };
  if (typeof value === "number") return { kind: Number.isSafeInteger(value) ? "integer" : "number" };
  if (typeof value === "string") return { kind: "text" };
  if (Array.isArray(value)) return { kind: "list", of: value.map(shapeOf).reduce(widened, nothing) };
  const fields = new Map(Object.entries(value).map(([name, one]) => [name, shapeOf(one)]));
  return { kind: "group", fields };
}

export function widened(one: Shape, other: Shape): Shape {
  if (one.kind === "null") return other;
  if (other.kind === "null") return one;
  if (one.kind === "list" && other.kind === "list") return { kind: "list", of: widened(one.of, other.of) };
  if (one.kind === "group" && other.kind === "group") {
    const fields = new Map(one.fields);
    for (const [name, shape] of other.fields) fields.set(name, widened(fields.get(name) ?? nothing, shape));
    return { kind: "group", fields };
  }
  if (one.kind === other.kind) return one;
  const kinds = new Set([one.kind, other.kind]);
  if (kinds.has("integer") && kinds.has("number")) return { kind: "number" };
  return { kind: "json" };
}

const texts: Partial<SchemaElement> = { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } };

const elements: Readonly<Record<Exclude<Shape["kind"], "list" | "group">, Partial<SchemaElement>>> = {
  null: texts,
  boolean: { type: "BOOLEAN" },
  integer: { type: "INT64" },
  number: { type: "DOUBLE" },
  text: texts,
  json: texts,
  time: { type: "INT64", logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" } },
  wkb: { type: "BYTE_ARRAY" },
};

/** The element of a column and those of its members behind it; none for a group without members, which Parquet cannot have. */
export function elementsOf(name: string, shape: Shape): SchemaElement[] {
  const optional = { name, repetition_type: "OPTIONAL" } as const;
  if (shape.kind === "list") {
    const inner = elementsOf("element", shape.of);
    if (inner.length === 0) return elementsOf(name, { kind: "json" });
    return [
      { ...optional, converted_type: "LIST", num_children: 1 },
      { name: "list", repetition_type: "REPEATED", num_children: 1 },
      ...inner,
    ];
  }
  if (shape.kind === "group") {
    const members = [...shape.fields].map(([field, of]) => elementsOf(field, of)).filter((list) => list.length > 0);
    return members.length === 0 ? [] : [{ ...optional, num_children: members.length }, ...members.flat()];
  }
  return [{ ...optional, ...elements[shape.kind] }];
}

/** A value as the writer takes it for this shape, which was widened to take it. */
export function fitted(value: unknown, shape: Shape): unknown {
  if (value === null || value === undefined) return null;
  switch (shape.kind) {
    case "integer":
      return BigInt(value as number);
    case "json":
      return JSON.stringify(value);
    case "list":
      if (elementsOf("", shape.of).length === 0) return JSON.stringify(value);
      return (value as unknown[]).map((one) => fitted(one, shape.of));
    case "group": {
      const given = value as Record<string, unknown>;
      return Object.fromEntries(Array.from(shape.fields, ([name, of]) => [name, fitted(given[name], of)]));
    }
    case "time":
      return BigInt(new Date(value as string).getTime()) * 1000n;
    default:
      return value;
  }
}
