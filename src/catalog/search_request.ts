// What a search asks of the database, the same for either store: the request of stac.search, and the tokens its pages are turned with.
// A token holds the place in the order where a page ended, so that paging neither skips nor repeats what was there all along.
import { createHash } from "node:crypto";
import { BadRequest } from "../core/errors/errors.js";
import { normalFilter } from "../geo/cql2/filter.js";
import { bboxGeometry } from "../geo/geojson.js";
import type { StacItem } from "../geo/stac.js";
import type { SearchPage, SearchQuery } from "./catalog.js";
import { type Field, fieldOf, item_names, withFields } from "./fields.js";
import { searchProblems } from "./search_check.js";

/** As stac.search takes it. */
export interface SearchRequest {
  tenant: string;
  collections?: string[] | undefined;
  ids?: string[] | undefined;
  starts?: string | undefined;
  ends?: string | undefined;
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

export function planSearch(tenant: string, query: SearchQuery): PlannedSearch {
  const problems = searchProblems(query);
  if (problems.length > 0) throw new BadRequest("the search is not right", { problems });
  const { collections = [], ids = [], bbox, intersects, datetime = [null, null], filter, limit } = query;
  const request: SearchRequest = {
    tenant,
    sort: sortOf(query),
    limit: limit + 1,
    collections: collections.length > 0 ? collections : undefined,
    ids: ids.length > 0 ? ids : undefined,
    starts: datetime[0] ?? undefined,
    ends: datetime[1] ?? undefined,
    geometry: bbox === undefined ? (intersects ?? undefined) : bboxGeometry(bbox),
    filter: filter === undefined || filter === null ? undefined : normalFilter(filter, item_names),
  };
  const about = hashOf(request);
  const turn = query.token === undefined ? null : readToken(query.token, about, request.sort.length);
  if (turn !== null) {
    request.after = turn.place;
    if (turn.backwards) request.backwards = true;
  }
  return { request, page: (found) => pageOf(found, query, about, turn) };
}

/** As asked, then by collection and id: no two items are at the same place. Without being asked, the newest first. */
function sortOf({ sortby = [] }: SearchQuery): SearchRequest["sort"] {
  const asked = sortby.length === 0 ? [{ field: "datetime", direction: "desc" as const }] : sortby;
  const sort = asked.map(({ field, direction }) => ({
    ...(fieldOf(field) as Field),
    descending: direction === "desc",
  }));
  for (const column of ["collection", "id"] as const) {
    if (!sort.some((one) => "column" in one && one.column === column)) sort.push({ column, descending: false });
  }
  return sort;
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
