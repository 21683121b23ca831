// What is wrong with a search, for every caller alike: all problems at once, each with its path below the search. Its filter and its
// token are judged where they are read (cql2.ts, search_request.ts). Pure.
import { type Problem, quoted } from "../core/errors/problems.js";
import { bboxProblem, degrees, geometryProblems } from "../geo/geojson.js";
import { isDay, isMoment } from "../geo/times.js";
import type { SearchQuery } from "./catalog.js";
import { fieldOf } from "./fields.js";

const most_ids = 10_000;
const most_sorts = 10;
/** The name of a field as sort and fields take it: parts with dots between. */
const field_name = /^[A-Za-z_][\w:.@-]{0,254}$/;
const field_fix = "give a name such as id, datetime or properties.gsd";

export function searchProblems(query: SearchQuery): Problem[] {
  const problems: Problem[] = [];
  const tell: Tell = (path, problem, fix) => problems.push({ path, problem, fix });
  const { limit, sortby = [], fields = { include: [], exclude: [] } } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000)
    tell("limit", `${quoted(limit)} is not a whole number from 1 to 10000`, "give how many items a page has");
  for (const name of ["collections", "ids"] as const) {
    const count = query[name]?.length ?? 0;
    if (count > most_ids) tell(name, `has ${count} names`, `give at most ${most_ids}`);
  }
  if (sortby.length > most_sorts) tell("sortby", `has ${sortby.length} fields`, `sort by at most ${most_sorts}`);
  for (const [place, { field }] of sortby.slice(0, most_sorts).entries()) {
    if (!canSortBy(field)) tell(`sortby[${place}].field`, `${quoted(field)} cannot be sorted by`, field_fix);
  }
  for (const field of [...fields.include, ...fields.exclude]) {
    if (!field_name.test(field)) tell("fields", `${quoted(field)} is not the name of a field`, field_fix);
  }
  timeProblems(query, tell);
  placeProblems(query, tell);
  return problems;
}

type Tell = (path: string, problem: string, fix: string) => void;

/** A geometry is no value, and has no order. */
function canSortBy(field: string): boolean {
  try {
    return field_name.test(field) && fieldOf(field) !== null;
  } catch {
    return false;
  }
}

function timeProblems({ datetime }: SearchQuery, tell: Tell): void {
  if (datetime === undefined) return;
  const [starts, ends] = datetime;
  for (const [place, text] of datetime.entries()) {
    if (text !== null && !isMoment(text) && !isDay(text))
      tell(`datetime[${place}]`, `${quoted(text)} is not a moment`, "RFC 3339: 2024-05-01T00:00:00Z");
  }
  if (starts === null && ends === null)
    tell("datetime", "is open at both ends", "give one end at least, or leave it out");
  if (starts !== null && ends !== null && Date.parse(starts) > Date.parse(ends))
    tell("datetime", "ends before it begins", "swap its ends");
}

function placeProblems({ bbox, intersects = null }: SearchQuery, tell: Tell): void {
  if (bbox !== undefined && intersects !== null)
    tell("intersects", "is given together with bbox", "give one of the two");
  const problem = bbox === undefined ? null : bboxProblem(bbox);
  if (problem !== null) tell("bbox", problem, "west,south,east,north in degrees (with heights: 6 numbers)");
  if (intersects === null) return;
  for (const one of geometryProblems(intersects, ["intersects"], degrees))
    tell(one.path.slice(2), one.problem, one.fix);
}
