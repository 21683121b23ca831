// How searches call the parts of an item, and which parts they give back. Pure.
import { BadRequest } from "../core/errors/errors.js";
import { quoted } from "../core/errors/problems.js";
import type { FilterNames } from "../geo/cql2/filter.js";
import type { StacItem } from "../geo/stac.js";

/** Where a field's value is: a column of the store's, or steps into the item. */
export type Field = { column: "id" | "collection" | "datetime" | "end_datetime" } | { path: string[] };

const columns: Record<string, Field> = {
  id: { column: "id" },
  collection: { column: "collection" },
  datetime: { column: "datetime" },
  start_datetime: { column: "datetime" },
  end_datetime: { column: "end_datetime" },
};
/** Beside the properties; other first words are properties that were named without saying so. */
const roots = new Set(["assets", "links", "stac_version", "stac_extensions", "bbox", "type"]);
const most_steps = 15;

/** `eo:cloud_cover`, `properties.eo:cloud_cover`, `assets.data.href`, `id`. Null for the geometry, which is no value. */
export function fieldOf(name: string): Field | null {
  const bare = name.startsWith("properties.") ? name.slice("properties.".length) : name;
  if (Object.hasOwn(columns, bare)) return columns[bare] as Field;
  if (bare === "geometry") return null;
  const steps = bare.split(".");
  if (steps.length > most_steps || steps.some((step) => step === "") || bare.length > 500)
    throw new BadRequest(`${quoted(name)} is not the name of a field`, { hint: "id, datetime, eo:cloud_cover, …" });
  return { path: roots.has(steps[0] as string) && bare === name ? steps : ["properties", ...steps] };
}

/** What a filter on items may name: any property, whose type only the items know. */
export const item_names: FilterNames = {
  field(name) {
    const field = fieldOf(name);
    if (field === null) return "geometry";
    if ("path" in field) return { node: { ...field }, type: null };
    return { node: { ...field }, type: field.column === "id" || field.column === "collection" ? "text" : "time" };
  },
  /** An item's datetime is the whole time it covers. */
  span(names) {
    const [first, second] = names.map((name) => name.replace(/^properties\./, ""));
    const is_whole =
      second === undefined
        ? first === "datetime"
        : (first === "start_datetime" || first === "datetime") && second === "end_datetime";
    return is_whole ? { column: "datetime" } : null;
  },
  degrees: true,
};

/** Asked for or not, an item is found again by these. */
const always = ["type", "id", "collection"];

/** The item with the fields that are included but for those that are excluded; the longer path decides, and of equal ones the included. */
export function withFields(item: StacItem, fields: { include: string[]; exclude: string[] } | undefined): StacItem {
  if (fields === undefined || (fields.include.length === 0 && fields.exclude.length === 0)) return item;
  const included = fields.include.map(pathOf);
  const wanted = new Set(included.map((path) => path.join(".")));
  const excluded = fields.exclude
    .filter((name) => !always.includes(name))
    .map(pathOf)
    .filter((path) => !wanted.has(path.join(".")));
  const kept = included.length === 0 ? item : only(item, [...included, ...always.map((name) => [name])]);
  return without(kept, excluded, included) as unknown as StacItem;
}

/** A name that is none of an item's own is one of its properties. */
function pathOf(name: string): string[] {
  const steps = name.split(".");
  return item_members.has(steps[0] as string) ? steps : ["properties", ...steps];
}

const item_members = new Set(
  "type id collection geometry bbox properties links assets stac_version stac_extensions".split(" "),
);

type Tree = Record<string, unknown>;

function only(value: Tree, paths: string[][]): Tree {
  const kept: Tree = {};
  for (const key of Object.keys(value)) {
    const deeper = paths.filter((path) => path[0] === key).map((path) => path.slice(1));
    if (deeper.length === 0) continue;
    const inner = value[key];
    kept[key] = deeper.some((path) => path.length === 0) || !isTree(inner) ? inner : only(inner, deeper);
  }
  return kept;
}

function without(value: Tree, paths: string[][], included: string[][]): Tree {
  if (paths.length === 0) return value;
  const kept: Tree = {};
  for (const [key, inner] of Object.entries(value)) {
    const deeper = paths.filter((path) => path[0] === key).map((path) => path.slice(1));
    const wanted = included.filter((path) => path[0] === key && path.length > 1).map((path) => path.slice(1));
    if (deeper.some((path) => path.length === 0)) {
      if (wanted.length > 0 && isTree(inner)) kept[key] = only(inner, wanted);
      continue;
    }
    kept[key] = deeper.length > 0 && isTree(inner) ? without(inner, deeper, wanted) : inner;
  }
  return kept;
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
