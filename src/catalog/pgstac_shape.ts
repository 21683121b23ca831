// Items as pgSTAC 0.9 stores them: without what their collection says of all of them (`base`), and with a mark where they lack something
// that it says. Exactly as its own functions do it, because others read the same tables; but for nulls, which those lose. Pure.
import type { StacItem } from "../geo/stac.js";

type Json = unknown;

/** pgSTAC's sign for "this item has no such thing". */
const absent_mark = "𒍟※";
/** These are columns there. */
const column_names = ["id", "geometry", "collection", "type"];

/** What pgSTAC's column `content` holds of an item. */
export function dehydrated(item: StacItem, base: Record<string, Json>): Record<string, Json> {
  const { id: _id, geometry: _geometry, collection: _collection, type: _type, ...rest } = item;
  const stripped = stripped_of(rest, base) as Record<string, Json>;
  for (const name of column_names) delete stripped[name];
  return stripped;
}

/** The item again, from what is stored. */
export function hydrated(stored: Record<string, Json>, base: Record<string, Json>): StacItem {
  const item = merged({ ...stored, type: "Feature" }, base) as StacItem;
  const { properties } = item;
  const is_range = properties?.start_datetime !== undefined && properties?.end_datetime !== undefined;
  // Nulls are not stored there; this one must be told, or the item is not valid.
  if (properties !== undefined && properties.datetime === undefined && is_range) properties.datetime = null;
  item.assets ??= {};
  item.links ??= [];
  item.stac_extensions ??= [];
  return item;
}

/** undefined is SQL's null: nothing there. */
function stripped_of(a: Json, b: Json): Json {
  if ((a === undefined || a === null) && b !== undefined && b !== null) return absent_mark;
  if (b === undefined || a === null) return a;
  if (isEqual(a, b)) return isObject(a) ? {} : undefined;
  if (isObject(a) && isObject(b)) {
    const kept: Record<string, Json> = {};
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
      kept[key] = stripped_of(own(a, key), own(b, key));
    return withoutNulls(kept);
  }
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
    return a.map((one, place) => stripped_of(one, b[place]) ?? null);
  }
  return a;
}

function merged(a: Json, b: Json): Json {
  // Where the collection says nothing it is a text like any other.
  if (a === absent_mark && b !== undefined && b !== null) return undefined;
  if (a === undefined || a === null) return b;
  if (isObject(a) && isObject(b)) {
    const kept: Record<string, Json> = {};
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) kept[key] = merged(own(a, key), own(b, key));
    return withoutNulls(kept);
  }
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
    return a.map((one, place) => merged(one, b[place]) ?? null);
  }
  return a;
}

/** Drops nulls from objects at any depth; nulls in arrays stay, as jsonb_strip_nulls has it. */
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept: Record<string, Json> = {};
  for (const [key, inner] of Object.entries(value)) {
    if (inner !== null && inner !== undefined) kept[key] = withoutNulls(inner);
  }
  return kept;
}

/** As jsonb compares: the order of keys does not count. */
function isEqual(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((one, place) => isEqual(one, b[place]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a).filter((name) => a[name] !== undefined);
  const others = Object.keys(b).filter((name) => b[name] !== undefined);
  return names.length === others.length && names.every((name) => Object.hasOwn(b, name) && isEqual(a[name], b[name]));
}

function own(value: Record<string, Json>, key: string): Json {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function isObject(value: Json): value is Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
