// Reads a search that came by GET or POST into the one that the catalogue understands. Here only what cannot be read is refused; the
// catalogue judges the rest, and the caller gets all problems at once.
import type { SearchQuery } from "../../../catalog/catalog.js";
import { searchProblems } from "../../../catalog/search_check.js";
import type { BodyOf, QueryOf } from "../../../core/api/endpoint.js";
import { max_items_of_page, type stac_api } from "../../../core/api/stac.js";
import { BadRequest } from "../../../core/errors/errors.js";
import { max_problems, type Problem, quoted } from "../../../core/errors/problems.js";
import { parseJson } from "../../../core/values/json.js";
import { readDatetime } from "./datetime.js";
import { allOf, queryFilter, queryFilterOfText, readFilter } from "./filter.js";

export const default_limit = 10;

type Address = QueryOf<typeof stac_api.search>;
type Body = NonNullable<BodyOf<typeof stac_api.search_post>>;

export function searchOfAddress(query: Address): SearchQuery {
  const problems: Problem[] = [];
  const { bbox, intersects, datetime, ids, collections, limit, token, sortby, fields } = query;
  const filter_lang = query["filter-lang"];
  const asked: SearchQuery = { limit: readLimit(limit, problems) };
  if (bbox !== undefined) asked.bbox = bbox.split(",").map(toNumber) as number[];
  if (intersects !== undefined) asked.intersects = readGeometryText(intersects, problems);
  if (datetime !== undefined) asked.datetime = readDatetime(datetime, "query.datetime", problems);
  if (ids !== undefined) asked.ids = readList(ids, "query.ids", problems);
  if (collections !== undefined) asked.collections = readList(collections, "query.collections", problems);
  if (token !== undefined) asked.token = token;
  if (sortby !== undefined) asked.sortby = sortby.split(",").map(readSort);
  if (fields !== undefined) asked.fields = fieldsOfList(fields.trim() === "" ? [] : fields.split(","));
  checkCrs(query["filter-crs"], "query", problems);
  const written =
    query.filter === undefined
      ? undefined
      : readFilter(query.filter, filter_lang ?? "cql2-text", "query.filter", problems);
  const queried = query.query === undefined ? undefined : queryFilterOfText(query.query, problems);
  const whole = allOf([written, queried]);
  if (whole !== undefined) asked.filter = whole;
  return judged(asked, "query", problems);
}

export function searchOfBody(body: Body): SearchQuery {
  const problems: Problem[] = [];
  const { bbox, intersects, datetime, ids, collections, limit, token, sortby, fields, filter, query } = body;
  const asked: SearchQuery = { limit: Math.min(limit ?? default_limit, max_items_of_page) };
  if (isGiven(bbox)) asked.bbox = bbox;
  if (isGiven(intersects)) asked.intersects = intersects;
  if (isGiven(datetime)) asked.datetime = readDatetime(datetime, "body.datetime", problems);
  if (isGiven(ids)) asked.ids = ids;
  if (isGiven(collections)) asked.collections = collections;
  if (isGiven(token)) asked.token = token;
  if (isGiven(sortby)) asked.sortby = sortby;
  if (fields !== undefined) asked.fields = Array.isArray(fields) ? fieldsOfList(fields) : fieldsOfObject(fields ?? {});
  checkCrs(body["filter-crs"] ?? undefined, "body", problems);
  const lang = body["filter-lang"] ?? (typeof filter === "string" ? "cql2-text" : "cql2-json");
  const written = isGiven(filter) ? readFilter(filter, lang, "body.filter", problems) : undefined;
  const queried = isGiven(query) ? queryFilter(query, problems) : undefined;
  const whole = allOf([written, queried]);
  if (whole !== undefined) asked.filter = whole;
  return judged(asked, "body", problems);
}

/** Pages of collections. */
export function pageOfAddress({ limit, token }: { limit?: string | undefined; token?: string | undefined }) {
  const problems: Problem[] = [];
  const read = readLimit(limit, problems, 100);
  refuse(problems);
  return { limit: read, token };
}

function judged(asked: SearchQuery, place: string, problems: readonly Problem[]): SearchQuery {
  refuse([...problems, ...searchProblems(asked).map((one) => ({ ...one, path: `${place}.${one.path}` }))]);
  return asked;
}

export function refuse(problems: readonly Problem[], what = "the search is not right"): void {
  if (problems.length === 0) return;
  const few = problems.slice(0, max_problems);
  throw new BadRequest(what, { problems: few, hint: "GET /api/docs tells what it takes" });
}

function isGiven<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}

/** More than the most is not an error (OGC API Features, fc-limit-response-1); zero and less is. */
function readLimit(text: string | undefined, problems: Problem[], usual = default_limit): number {
  if (text === undefined) return usual;
  if (!/^\d{1,30}$/.test(text) || Number(text) < 1) {
    const fix = `Give a whole number from 1 to ${max_items_of_page}.`;
    problems.push({ path: "query.limit", problem: `${quoted(text)} is not a number of items`, fix });
    return usual;
  }
  return Math.min(Number(text), max_items_of_page);
}

/** Number("") is 0, and Number("0x10") is 16: neither is what was meant. */
function toNumber(text: string): unknown {
  return /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?\s*$/i.test(text) ? Number(text) : text;
}

function readGeometryText(text: string, problems: Problem[]): unknown {
  try {
    const geometry = parseJson(text);
    if (geometry !== null) return geometry;
  } catch {
    // The same refusal as for null, which would be no place at all.
  }
  const fix = `{"type":"Point","coordinates":[8.5,47.4]}, URL-encoded`;
  problems.push({ path: "query.intersects", problem: "is not a geometry in JSON", fix });
  return undefined;
}

function readList(text: string, path: string, problems: Problem[]): string[] {
  const list = text.split(",");
  if (list.some((one) => one === ""))
    problems.push({ path, problem: "has an empty name in it", fix: "Names, with commas between them." });
  return list;
}

/** A plus in an address is a space once it is decoded: both are one. */
function readSort(text: string): NonNullable<SearchQuery["sortby"]>[number] {
  return { field: nameOf(text), direction: text.trim().startsWith("-") ? "desc" : "asc" };
}

type Fields = NonNullable<SearchQuery["fields"]>;

/** In a list nobody can tell what is left out from what is empty: it counts as empty. */
function fieldsOfList(list: readonly string[]): Fields {
  const is_out = (one: string) => one.trim().startsWith("-");
  return wantedFields(
    list.filter((one) => !is_out(one)),
    list.filter(is_out),
  );
}

function fieldsOfObject(fields: {
  include?: string[] | null | undefined;
  exclude?: string[] | null | undefined;
}): Fields {
  return wantedFields(fields.include, fields.exclude ?? []);
}

/** The table of the fields extension: an include that is left out beside an exclude means everything, an empty one what an item needs. */
function wantedFields(include: readonly string[] | null | undefined, exclude: readonly string[]): Fields {
  const left_out = exclude.map(nameOf);
  const is_default = (include ?? []).length === 0 && (include !== undefined || left_out.length === 0);
  const isLeftOut = (name: string) =>
    left_out.some((out) => name === out || name.startsWith(`${out}.`) || name === `properties.${out}`);
  const chosen = is_default ? default_fields.filter((name) => !isLeftOut(name)) : (include ?? []).map(nameOf);
  return { include: chosen, exclude: left_out };
}

/** What makes a valid item; an item has the one time or the two. */
const default_fields = [
  ..."type stac_version id collection geometry bbox links assets".split(" "),
  ...["datetime", "start_datetime", "end_datetime"].map((name) => `properties.${name}`),
];

/** Without its sign. */
function nameOf(text: string): string {
  return text.trim().replace(/^[+-]/, "");
}

const crs84 = new Set([
  "http://www.opengis.net/def/crs/OGC/1.3/CRS84",
  "https://www.opengis.net/def/crs/OGC/1.3/CRS84",
  "http://www.opengis.net/def/crs/OGC/0/CRS84h",
]);

function checkCrs(crs: string | undefined, place: string, problems: Problem[]): void {
  if (crs === undefined || crs84.has(crs)) return;
  problems.push({
    path: `${place}.filter-crs`,
    problem: `${quoted(crs)} is not served`,
    fix: "Give longitude and latitude: http://www.opengis.net/def/crs/OGC/1.3/CRS84, or leave it out.",
  });
}
