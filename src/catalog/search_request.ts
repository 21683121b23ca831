// What a search asks of the database, the same for either store: the request of stac.search, and the tokens its pages are turned with.
// A token holds the place in the order where a page ended, so that paging neither skips nor repeats what was there all along.
import { createHash } from "node:crypto";
import { BadRequest } from "../core/errors.js";
import { formatProblems, type Problem, quoted } from "../core/problems.js";
import type { StacItem } from "../geo/stac.js";
import type { SearchPage, SearchQuery } from "./catalog.js";
import { normalFilter } from "./cql2.js";
import { fieldOf, withFields } from "./fields.js";
import { bboxGeometry, bboxProblem, geometryProblems } from "./geojson.js";
import { isDay, isMoment } from "./times.js";

/** As stac.search takes it. */
export interface SearchRequest {
  tenant: string;
  collections?: string[];
  ids?: string[];
  starts?: string;
  ends?: string;
  geometry?: unknown;
  filter?: unknown;
  sort: ({ column: string; descending: boolean } | { path: string[]; descending: boolean })[];
  limit: number;
  after?: unknown[];
  backwards?: boolean;
}

export interface PlannedSearch {
  request: SearchRequest;
  /** Makes a page of what stac.search found. */
  page(found: (Found<StacItem> | null)[]): SearchPage;
}

/** An item and its place in the order; null in its stead where the page would be too large. */
export type Found<Item> = [item: Item, place: unknown[]];

const most_ids = 10_000;
const most_sorts = 8;

export function planSearch(tenant: string, query: SearchQuery): PlannedSearch {
  const problems: Problem[] = [];
  const tell = (path: string, problem: string, fix: string) => problems.push({ path, problem, fix });
  const { limit } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000)
    tell("limit", `${quoted(limit)} is not a whole number from 1 to 10000`, "give how many items a page has");
  const request: SearchRequest = { tenant, sort: sortOf(query, tell), limit: limit + 1 };
  for (const name of ["collections", "ids"] as const) {
    const names = query[name] ?? [];
    if (names.length > most_ids) tell(name, `has ${names.length} names`, `give at most ${most_ids}`);
    if (names.length > 0) request[name] = names;
  }
  Object.assign(request, timesOf(query, tell), placeOf(query, tell));
  if (problems.length > 0) throw new BadRequest(formatProblems("the search is not right:", problems), { problems });
  if (query.filter !== undefined && query.filter !== null) request.filter = normalFilter(query.filter);
  const about = hashOf(request);
  const turn = query.token === undefined ? null : readToken(query.token, about, request.sort.length);
  if (turn !== null) {
    request.after = turn.place;
    if (turn.backwards) request.backwards = true;
  }
  return { request, page: (found) => pageOf(found, query, about, turn) };
}

type Tell = (path: string, problem: string, fix: string) => void;

/** As asked, then by collection and id: no two items are at the same place. Without being asked, the newest first. */
function sortOf({ sortby = [] }: SearchQuery, tell: Tell): SearchRequest["sort"] {
  if (sortby.length > most_sorts) tell("sortby", `has ${sortby.length} fields`, `sort by at most ${most_sorts}`);
  const asked = sortby.length === 0 ? [{ field: "datetime", direction: "desc" as const }] : sortby.slice(0, most_sorts);
  const sort: SearchRequest["sort"] = [];
  for (const [place, { field, direction }] of asked.entries()) {
    const found = tryField(field);
    if (found === null) tell(`sortby[${place}]`, `${quoted(field)} cannot be sorted by`, "give the name of a property");
    else sort.push({ ...found, descending: direction === "desc" });
  }
  for (const column of ["collection", "id"]) {
    if (!sort.some((one) => "column" in one && one.column === column)) sort.push({ column, descending: false });
  }
  return sort;
}

function tryField(name: string) {
  try {
    return fieldOf(name);
  } catch {
    return null;
  }
}

function timesOf({ datetime }: SearchQuery, tell: Tell): Pick<SearchRequest, "starts" | "ends"> {
  if (datetime === undefined) return {};
  const [starts, ends] = datetime;
  for (const [place, text] of datetime.entries()) {
    if (text !== null && !isMoment(text) && !isDay(text))
      tell(`datetime[${place}]`, `${quoted(text)} is not a moment`, "RFC 3339: 2024-05-01T00:00:00Z");
  }
  if (starts === null && ends === null)
    tell("datetime", "is open at both ends", "give one end at least, or leave it out");
  if (starts !== null && ends !== null && Date.parse(starts) > Date.parse(ends))
    tell("datetime", "ends before it begins", "swap its ends");
  return { ...(starts === null ? {} : { starts }), ...(ends === null ? {} : { ends }) };
}

function placeOf({ bbox, intersects }: SearchQuery, tell: Tell): Pick<SearchRequest, "geometry"> {
  if (bbox !== undefined && intersects !== undefined && intersects !== null)
    tell("intersects", "is given together with bbox", "give one of the two");
  if (bbox !== undefined) {
    const problem = bboxProblem(bbox);
    if (problem === null) return { geometry: bboxGeometry(bbox) };
    tell("bbox", problem, "west,south,east,north in degrees (with heights: 6 numbers)");
  }
  if (intersects === undefined || intersects === null) return {};
  for (const { path, problem, fix } of geometryProblems(intersects, ["intersects"])) tell(path.slice(2), problem, fix);
  return { geometry: intersects };
}

interface Turn {
  backwards: boolean;
  place: unknown[];
}

function pageOf(
  found: (Found<StacItem> | null)[],
  { limit, fields, token }: SearchQuery,
  about: string,
  turn: Turn | null,
): SearchPage {
  const rows = found.slice(0, limit).filter((one) => one !== null);
  const more = found.length > rows.length;
  if (turn?.backwards) rows.reverse();
  const first = rows.at(0)?.[1];
  const last = rows.at(-1)?.[1];
  const has_next = turn?.backwards ? true : more;
  const has_previous = turn === null ? false : turn.backwards ? more : true;
  return {
    items: rows.map(([item]) => withFields(item, fields)),
    next: has_next && last !== undefined ? writeToken({ backwards: false, place: last }, about) : null,
    previous: has_previous && first !== undefined ? writeToken({ backwards: true, place: first }, about) : null,
    matched: token === undefined && !more ? rows.length : null,
  };
}

/** A token is of one search: of another it would be a place in another order. */
function hashOf({ limit: _, ...asked }: SearchRequest): string {
  return createHash("sha256").update(JSON.stringify(asked)).digest("base64url").slice(0, 12);
}

function writeToken({ backwards, place }: Turn, about: string): string {
  return Buffer.from(JSON.stringify([backwards ? "p" : "n", about, place])).toString("base64url");
}

function readToken(token: string, about: string, sorts: number): Turn {
  const [way, of, place] = tokenParts(token);
  if ((way !== "n" && way !== "p") || !Array.isArray(place) || place.length !== sorts || typeof of !== "string")
    throw new BadRequest("the token is not one of ours", { hint: "follow the links of a page as they are" });
  if (of !== about)
    throw new BadRequest("the token is of another search", { hint: "repeat the search it came from, with its token" });
  return { backwards: way === "p", place };
}

function tokenParts(token: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}
