// What can be filtered by, as a JSON Schema: the fields all items have, and the properties that items of a collection have. Pure.
import type { StacCollection, StacItem } from "../geo/stac.js";

/** The dialect of the document. */
const dialect = "https://json-schema.org/draft/2019-09/schema";
const item_schema = "https://schemas.stacspec.org/v1.0.0/item-spec/json-schema/item.json#";
const datetime_schema = "https://schemas.stacspec.org/v1.0.0/item-spec/json-schema/datetime.json#/properties";

const of_all_items = {
  id: { description: "Item identifier", $ref: `${item_schema}/definitions/core/allOf/2/properties/id` },
  collection: { description: "Collection identifier", type: "string" },
  geometry: {
    description: "Item geometry",
    $ref: `${item_schema}/definitions/core/allOf/1/oneOf/0/properties/geometry`,
  },
  datetime: { description: "When the item begins", $ref: `${datetime_schema}/datetime` },
  start_datetime: { description: "When the item begins", type: "string", format: "date-time" },
  end_datetime: { description: "When the item ends", type: "string", format: "date-time" },
};

/** `items` is a sample: other properties may be filtered by too. */
export function queryablesOf(
  address: string,
  { collection = null, items = [] }: { collection?: StacCollection | null; items?: readonly StacItem[] } = {},
): Record<string, unknown> {
  const properties: Record<string, unknown> = { ...of_all_items };
  for (const [name, summary] of Object.entries(collection?.summaries ?? {}))
    properties[name] ??= ofSummary(name, summary);
  for (const { properties: own } of items) {
    for (const [name, value] of Object.entries(own)) properties[name] ??= ofValue(name, value) ?? undefined;
  }
  return {
    $schema: dialect,
    $id: address,
    type: "object",
    title: collection === null ? "Queryables" : `Queryables of ${collection.title ?? collection.id}`,
    properties: Object.fromEntries(Object.entries(properties).filter(([, schema]) => schema !== undefined)),
    additionalProperties: true,
  };
}

function ofSummary(title: string, summary: unknown): Record<string, unknown> {
  if (Array.isArray(summary)) {
    const types = new Set(summary.map((one) => typeof one));
    const [type] = types;
    return types.size === 1 && (type === "string" || type === "number" || type === "boolean")
      ? { title, type, enum: summary }
      : { title };
  }
  const { minimum, maximum } = (summary ?? {}) as { minimum?: unknown; maximum?: unknown };
  return typeof minimum === "number" && typeof maximum === "number"
    ? { title, type: "number", minimum, maximum }
    : { title };
}

function ofValue(title: string, value: unknown): Record<string, unknown> | null {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return { title, type: "array" };
  if (typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value))
    return { title, type: "string", format: "date-time" };
  return { title, type: typeof value };
}
