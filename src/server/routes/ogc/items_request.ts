// Reads what an address asks of a layer's features into what the database understands. Everything that is wrong is told at once.
import { createHash } from "node:crypto";
import type { FeatureChoice, FeatureQuery } from "../../../catalog/layers.js";
import { default_features_of_page, most_features_of_page } from "../../../core/api/ogc/ogc.js";
import { BadRequest } from "../../../core/errors/errors.js";
import { max_problems, type Problem, quoted, suggestion } from "../../../core/errors/problems.js";
import { normalFilter } from "../../../geo/cql2/filter.js";
import { bboxGeometry, bboxProblem, boxProblem } from "../../../geo/geojson.js";
import { type Crs, crs84, crsNamed, digitsOf, servedCrs } from "../../../geo/layers/crs.js";
import { columnOf, filterNames, type Layer, namesOf } from "../../../geo/layers/layer.js";
import { isDay } from "../../../geo/times.js";
import { readDatetime } from "../stac/datetime.js";
import { readFilter } from "../stac/filter.js";

export type Query = Record<string, string | undefined>;
/** The query of one page, without how much of it is read at a time. */
export type PageQuery = Omit<FeatureQuery, "rows" | "bytes">;

export interface AskedItems {
  page: PageQuery;
  limit: number;
  crs: Crs;
  /** Only how many there are. */
  hits: boolean;
  /** Nothing is left out: the layer's own count is theirs. */
  is_all: boolean;
  /** What a token of this question must have been made for. */
  about: string;
}

export function refuse(problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  throw new BadRequest("the request is not right", {
    problems: problems.slice(0, max_problems),
    hint: "GET /ogc/api tells what it takes",
  });
}

/** What is not among these is told, with what was perhaps meant. */
export function unknownNames(query: Query, known: readonly string[], problems: Problem[]): void {
  for (const name of Object.keys(query)) {
    if (known.includes(name)) continue;
    problems.push({
      path: `query.${name.slice(0, 60)}`,
      problem: "is not a parameter of this",
      fix: suggestion(name, known),
    });
  }
}

const known =
  "limit bbox bbox-crs crs filter filter-lang filter-crs datetime properties sortby skipGeometry resultType token f".split(
    " ",
  );

export function readItems(query: Query, layer: Layer, problems: Problem[]): AskedItems {
  unknownNames(query, known, problems);
  const crs = readCrs(query.crs, "crs", layer, problems);
  const { hits } = { hits: readWord(query.resultType, "resultType", ["results", "hits"], problems) === "hits" };
  const choice = { ...readBox(query, layer, problems), ...readChoice(query, layer, problems) };
  const sort = readSort(query.sortby, layer, problems);
  const properties = readProperties(query.properties, layer, problems);
  const page: PageQuery = {
    layer: layer.name,
    version: layer.version,
    srid: crs.srid,
    flips: crs.flips,
    digits: digitsOf(crs),
    ...choice,
    ...(properties === undefined ? {} : { properties }),
    ...(sort.length === 0 ? {} : { sort }),
    ...(readWord(query.skipGeometry, "skipGeometry", ["false", "true"], problems) === "true"
      ? { no_geometry: true }
      : {}),
  };
  const { version: _, ...asked } = page;
  return {
    page,
    crs,
    hits,
    limit: readLimit(query.limit, problems),
    is_all: Object.keys(choice).length === 0,
    about: createHash("sha256").update(JSON.stringify(asked)).digest("base64url").slice(0, 12),
  };
}

/** datetime and filter, for features and tiles alike. */
export function readChoice(query: Query, layer: Layer, problems: Problem[]): FeatureChoice {
  const choice: FeatureChoice = {};
  const span = query.datetime === undefined ? undefined : readSpan(query.datetime, problems);
  if (span?.[0]) choice.starts = span[0];
  if (span?.[1]) choice.ends = span[1];
  const lang = readWord(query["filter-lang"], "filter-lang", ["cql2-text", "cql2-json"], problems);
  const filter_crs = readCrs(query["filter-crs"], "filter-crs", layer, problems);
  if (query.filter === undefined) return layer.time_column === null ? {} : choice;
  const names = filterNames(layer, filter_crs === crs84);
  const found = problems.length;
  const filter = readFilter(query.filter, lang as "cql2-text", "query.filter", problems, names);
  if (problems.length === found) choice.filter = normalFilter(filter, names);
  if (filter_crs !== crs84) Object.assign(choice, { filter_srid: filter_crs.srid, filter_flips: filter_crs.flips });
  return choice;
}

export function readCrs(text: string | undefined, name: string, layer: Layer, problems: Problem[]): Crs {
  if (text === undefined) return crs84;
  const served = servedCrs(layer);
  const crs = crsNamed(text, served);
  if (crs !== null) return crs;
  const fix = `One of ${served.map(({ uri }) => uri).join(", ")}.`;
  problems.push({ path: `query.${name}`, problem: `${quoted(text)} is not served for this collection`, fix });
  return crs84;
}

/** More than the most is not an error (fc-limit-response-1); zero and less is. */
export function readLimit(text: string | undefined, problems: Problem[], usual = default_features_of_page): number {
  if (text === undefined) return usual;
  if (/^\d{1,30}$/.test(text) && Number(text) >= 1) return Math.min(Number(text), most_features_of_page);
  const fix = `Give a whole number from 1 to ${most_features_of_page}.`;
  problems.push({ path: "query.limit", problem: `${quoted(text)} is not a number of features`, fix });
  return usual;
}

function readWord(text: string | undefined, name: string, words: readonly string[], problems: Problem[]): string {
  if (text === undefined || words.includes(text)) return text ?? words[0]!;
  problems.push({
    path: `query.${name}`,
    problem: `${quoted(text)} is not known here`,
    fix: `One of ${words.join(", ")}.`,
  });
  return words[0]!;
}

/** Beyond this Web Mercator has no degrees any more, and a box would come around the world. */
const mercator_edge = 20_037_508.342_789_244;

/**
 * By the last digit that positions are told with: a box of such positions has the features they were told of, although they are rounded, and a
 * caller transforms them a little otherwise than the database.
 */
function widened(box: number[], crs: Crs): number[] {
  const by = 10 ** -digitsOf(crs);
  const half = box.length / 2;
  const ends = crs.degrees ? [180, 90] : crs.srid === 3857 ? [mercator_edge, mercator_edge] : [];
  return box.map((one, at) => {
    const end = ends[at % half] ?? Number.POSITIVE_INFINITY;
    return Math.min(Math.max(at < half ? one - by : one + by, -end), end);
  });
}

function readBox(query: Query, layer: Layer, problems: Problem[]): FeatureChoice {
  const crs = readCrs(query["bbox-crs"], "bbox-crs", layer, problems);
  if (query.bbox === undefined) return {};
  const given = query.bbox
    .split(",")
    .map((one) => (/^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?\s*$/i.test(one) ? Number(one) : one));
  const half = given.length / 2;
  const eastFirst = ([a, b, ...rest]: unknown[]) => (crs.flips ? [b, a, ...rest] : [a, b, ...rest]);
  const box =
    Number.isInteger(half) && half >= 2 ? [...eastFirst(given.slice(0, half)), ...eastFirst(given.slice(half))] : given;
  const problem = crs.degrees ? bboxProblem(box) : boxProblem(box);
  if (problem !== null) {
    const fix =
      crs.degrees && !crs.flips
        ? "west,south,east,north in degrees"
        : "the least of each axis, then the most, in the order of the CRS";
    problems.push({ path: "query.bbox", problem, fix: `${fix} (with heights: 6 numbers)` });
    return {};
  }
  return { bbox: bboxGeometry(widened(box as number[], crs)), bbox_srid: crs.srid };
}

function readSpan(text: string, problems: Problem[]): [string | null, string | null] | undefined {
  const parts = text.split("/");
  // A day is all of it.
  const whole = parts.map((part, place) =>
    isDay(part) ? `${part}T${place === 0 && parts.length > 1 ? "00:00:00" : "23:59:59.999999"}Z` : part,
  );
  const [only = ""] = parts;
  const read = isDay(only) && parts.length === 1 ? `${only}T00:00:00Z/${whole[0]}` : whole.join("/");
  const span = readDatetime(read, "query.datetime", problems);
  if (span === undefined) return undefined;
  const [starts, ends] = span;
  const tell = (problem: string, fix: string) => void problems.push({ path: "query.datetime", problem, fix });
  if (starts === null && ends === null) tell("is open at both ends", "Give one end at least, or leave it out.");
  else if (starts !== null && ends !== null && Date.parse(starts) > Date.parse(ends))
    tell("ends before it begins", "Swap its ends.");
  return span;
}

const most_sorts = 8;

/** A plus in an address is a space once it is decoded: both are one. */
function readSort(
  text: string | undefined,
  layer: Layer,
  problems: Problem[],
): { column: string; descending: boolean }[] {
  if (text === undefined) return [];
  const path = "query.sortby";
  const given = text.split(",");
  if (given.length > most_sorts)
    problems.push({ path, problem: `has ${given.length} names`, fix: `Sort by at most ${most_sorts}.` });
  return given.slice(0, most_sorts).flatMap((one) => {
    const name = one.trim().replace(/^[+-]/, "");
    const column = columnOf(layer, name);
    if (column !== null && column !== "geometry" && column.type !== "json")
      return [{ column: column.name, descending: one.trim().startsWith("-") }];
    const problem = column === null ? `there is no property ${quoted(name)}` : `${quoted(name)} has no order`;
    problems.push({ path, problem, fix: suggestion(name, namesOf(layer)) });
    return [];
  });
}

export function readProperties(text: string | undefined, layer: Layer, problems: Problem[]): string[] | undefined {
  if (text === undefined) return undefined;
  const names = text === "" ? [] : text.split(",").map((one) => one.trim());
  for (const name of names) {
    if (namesOf(layer).includes(name) || columnOf(layer, name) !== null) continue;
    const fix = suggestion(name, namesOf(layer));
    problems.push({ path: "query.properties", problem: `there is no property ${quoted(name)}`, fix });
  }
  return names;
}
