// What must be right about items and collections before a catalogue stores them: all problems at once, with the path to each. Whether they
// are valid STAC in every field is not asked here. Pure.
import { BadRequest, TooLarge } from "../core/errors/errors.js";
import { jsonPath, max_problems, type Problem, quoted, type Step } from "../core/errors/problems.js";
import { jsonProblems, result_limits } from "../core/values/json.js";
import { bboxProblem, geometryProblems } from "../geo/geojson.js";
import type { StacCollection, StacItem } from "../geo/stac.js";
import { isMoment } from "../geo/times.js";

export const most_item_id_bytes = 512;
export const most_collection_id_bytes = 256;
/** The most items of one batch. */
const most_items = 10_000;
const most_bytes = 64 * 1024 * 1024;
/** As JSON.stringify writes it: a nodata value of -2^63 is a double like any other. */
const stored_limits = { ...result_limits, max_keys: 100_000, max_values: 1_000_000 };

/** Throws with everything that keeps the items from being stored together. */
export function assertBatch(
  collection: string,
  items: readonly StacItem[],
  options: { needs_geometry?: boolean } = {},
): void {
  if (items.length > most_items)
    throw new TooLarge(`a batch has at most ${most_items} items, not ${items.length}`, { hint: "put fewer at a time" });
  const problems = batchProblems(collection, items, options);
  if (problems.length > 0) throw new BadRequest("the items cannot be stored", { problems });
}

/** Rows of one statement as JSON text. */
export function batchText(rows: readonly unknown[]): string {
  const text = JSON.stringify(rows);
  if (text.length > most_bytes)
    throw new TooLarge(`a batch has at most ${most_bytes} bytes, not ${text.length}`, { hint: "put fewer at a time" });
  return text;
}

function batchProblems(
  collection: string,
  items: readonly StacItem[],
  options: { needs_geometry?: boolean },
): Problem[] {
  const problems: Problem[] = [];
  const seen = new Map<string, number>();
  for (const [place, item] of items.entries()) {
    problems.push(...itemProblems(item, collection, [place], options));
    const first = typeof item?.id === "string" ? seen.get(item.id) : undefined;
    if (first !== undefined) {
      const problem = `${quoted(item.id)} is the id of item ${first} of this batch too`;
      problems.push({ path: jsonPath([place, "id"]), problem, fix: "give every item an id of its own" });
    } else if (typeof item?.id === "string") seen.set(item.id, place);
    if (problems.length >= max_problems) break;
  }
  return problems.slice(0, max_problems);
}

export function itemProblems(
  item: StacItem,
  collection: string | null,
  at: readonly Step[] = [],
  { needs_geometry = false }: { needs_geometry?: boolean } = {},
): Problem[] {
  const problems: Problem[] = [];
  const tell = (steps: readonly Step[], problem: string, fix: string) =>
    problems.push({ path: jsonPath([...at, ...steps]), problem, fix });
  if (!isObject(item)) {
    tell([], "is not an object", "give a STAC item");
    return problems;
  }
  const unstorable = jsonProblems(item, stored_limits);
  for (const one of unstorable) problems.push({ ...one, path: jsonPath(at) + one.path.slice(1) });
  if (unstorable.length > 0) return problems;
  const id = idProblem(item.id, most_item_id_bytes);
  if (id !== null) tell(["id"], id, "give a short name that is unique in its collection");
  if (item.type !== "Feature") tell(["type"], `${quoted(item.type)} is not "Feature"`, 'an item\'s type is "Feature"');
  if (collection !== null && item.collection !== collection)
    tell(
      ["collection"],
      `${quoted(item.collection)} is not ${quoted(collection)}, where it is put`,
      "name that collection",
    );
  if (item.geometry !== null) problems.push(...geometryProblems(item.geometry, [...at, "geometry"]).slice(0, 3));
  else if (needs_geometry)
    tell(
      ["geometry"],
      "is null, and pgSTAC stores no item without one",
      "give a geometry, or use the built-in catalogue",
    );
  if (item.bbox !== undefined && !Array.isArray(item.bbox)) tell(["bbox"], "is not an array", "give 4 or 6 numbers");
  else if (item.bbox !== undefined) {
    // Other catalogues write longitudes from 0 to 360.
    const bbox = bboxProblem(item.bbox, 360);
    if (bbox !== null) tell(["bbox"], bbox, "west, south, east, north (with heights: 6 numbers)");
  }
  if (!isObject(item.assets)) tell(["assets"], "is not an object", "give {} for none");
  if (!Array.isArray(item.links)) tell(["links"], "is not an array", "give [] for none");
  if (isObject(item.properties)) timeProblems(item.properties, (name, ...told) => tell(["properties", name], ...told));
  else tell(["properties"], "is not an object", "give at least a datetime");
  return problems;
}

function timeProblems(
  properties: Record<string, unknown>,
  tell: (name: string, problem: string, fix: string) => void,
): void {
  const fix = "RFC 3339 with an offset: 2024-05-01T10:00:00Z";
  const names = ["datetime", "start_datetime", "end_datetime"] as const;
  const wrong = names.filter((name) => (properties[name] ?? null) !== null && !isMoment(properties[name]));
  for (const name of wrong) tell(name, `${quoted(properties[name])} is not a moment`, fix);
  if (wrong.length > 0) return;
  const { datetime = null, start_datetime = null, end_datetime = null } = properties as Record<string, string | null>;
  if (start_datetime !== null && end_datetime !== null) {
    if (Date.parse(start_datetime) > Date.parse(end_datetime))
      tell("end_datetime", "is before start_datetime", "swap them, or mend the later");
  } else if (datetime === null) {
    tell("datetime", "is null without both start_datetime and end_datetime", `give one moment, or both ends; ${fix}`);
  }
}

export function collectionProblems(collection: StacCollection): Problem[] {
  if (!isObject(collection)) return [{ path: "$", problem: "is not an object", fix: "give a STAC collection" }];
  const problems = jsonProblems(collection, stored_limits);
  if (problems.length > 0) return problems;
  const id = idProblem(collection.id, most_collection_id_bytes);
  if (id !== null) problems.push({ path: "$.id", problem: id, fix: "give a short name" });
  if (collection.type !== "Collection")
    problems.push({
      path: "$.type",
      problem: `${quoted(collection.type)} is not "Collection"`,
      fix: 'its type is "Collection"',
    });
  return problems;
}

export function assertCollection(collection: StacCollection): void {
  const problems = collectionProblems(collection);
  if (problems.length > 0) throw new BadRequest("the collection cannot be stored", { problems });
}

/** Ids may hold any character a person can see: they are encoded wherever they become part of an address. */
function idProblem(id: unknown, most_bytes: number): string | null {
  if (typeof id !== "string" || id === "") return "is not a text";
  if (Buffer.byteLength(id) > most_bytes) return `is longer than ${most_bytes} bytes`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (/[\u0000-\u001f\u007f]/.test(id)) return "holds control characters";
  return null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
