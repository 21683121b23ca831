// Some five hundred items with everything that searches trip over, the same at every run, and the searches that are asked of them: each
// with what must be found, told by plain TypeScript over the items.
import type { SearchQuery } from "../../src/catalog/catalog.js";
import type { StacCollection, StacItem } from "../../src/geo/stac.js";
import { aCollection, anItem } from "./catalogs.js";

export const corpus_collections: StacCollection[] = [
  aCollection("scenes", {
    item_assets: {
      data: { type: "image/tiff; application=geotiff", roles: ["data"] },
      thumbnail: { roles: ["thumbnail"] },
    },
  }),
  aCollection("terrain"),
  aCollection("collection with spaces/and ünïcode"),
];

const platforms = ["sentinel-2a", "sentinel-2b", "LANDSAT-8", "Éclair"];
const ids = corpus_collections.map(({ id }) => id);

/** A generator of chance that gives the same at every run. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

function box(west: number, south: number, size: number, height?: number): StacItem["geometry"] {
  const at = (x: number, y: number) => (height === undefined ? [x, y] : [x, y, height]);
  const [east, north] = [west + size, south + size];
  return {
    type: "Polygon",
    coordinates: [[at(west, south), at(east, south), at(east, north), at(west, north), at(west, south)]],
  };
}

function regular(n: number, chance: () => number): StacItem {
  const collection = ids[n % 3] as string;
  // On a grid of quarters, so that no test hangs on the last bit of a coordinate.
  const west = Math.floor(chance() * 1_400) / 4 - 180;
  const south = Math.floor(chance() * 680) / 4 - 88;
  const size = (1 + Math.floor(chance() * 8)) / 4;
  const begins = Date.UTC(2020, 0, 1) + Math.floor(chance() * 1_000) * 86_400_000;
  const is_range = n % 7 === 0;
  const moment = (ms: number) => new Date(ms).toISOString();
  return anItem(collection, `item-${String(n).padStart(4, "0")}`, {
    geometry: box(west, south, size, n % 11 === 0 ? n : undefined),
    bbox: [west, south, west + size, south + size],
    properties: {
      ...(is_range
        ? { datetime: null, start_datetime: moment(begins), end_datetime: moment(begins + 10 * 86_400_000) }
        : { datetime: moment(begins) }),
      ...(n % 5 === 0 ? {} : { "eo:cloud_cover": Math.floor(chance() * 1_000) / 10 }),
      ...(n % 13 === 0 ? { "eo:cloud_cover": "unknown" } : {}),
      platform: platforms[n % 4],
      gsd: (n % 3) * 10 + 0.5,
      instruments: n % 2 === 0 ? ["msi"] : ["msi", "tirs"],
      "view:flags": { clear: n % 3 === 0 },
      rank: n % 6 === 0 ? null : Math.floor(chance() * 50),
      nested: { deep: { value: n % 10 } },
      created: moment(begins + 3_600_000),
      is_good: n % 2 === 0,
      title: n % 4 === 0 ? `100% of tile_${n}` : `Überblick ${n}`,
    },
    ...(n % 9 === 0 ? { assets: { data: { href: `file:///zones/${n}.tif` } } } : {}),
  });
}

const odd_ids = [
  "ünïcode-Ω",
  "with space",
  "slash/and?query#hash",
  "quote'\"`",
  "100%_like\\",
  "𒍟※",
  "-",
  "..",
  "NULL",
  "0",
];

function odd(): StacItem[] {
  return [
    ...odd_ids.map((id, n) =>
      anItem("terrain", id, { properties: { datetime: `2019-01-${10 + n}T00:00:00Z`, rank: n, platform: id } }),
    ),
    // Across the antimeridian, as RFC 7946 cuts it.
    anItem("scenes", "fiji", {
      geometry: {
        type: "MultiPolygon",
        coordinates: [
          [
            [
              [177, -19],
              [180, -19],
              [180, -16],
              [177, -16],
              [177, -19],
            ],
          ],
          [
            [
              [-180, -19],
              [-178, -19],
              [-178, -16],
              [-180, -16],
              [-180, -19],
            ],
          ],
        ],
      },
      bbox: [177, -19, -178, -16],
      properties: { datetime: "2018-06-01T00:00:00Z" },
    }),
    anItem("scenes", "line", {
      geometry: {
        type: "LineString",
        coordinates: [
          [0, 0],
          [10, 10],
        ],
      },
      properties: { datetime: "2018-06-02T00:00:00Z" },
    }),
    anItem("scenes", "collection-of-shapes", {
      geometry: {
        type: "GeometryCollection",
        geometries: [{ type: "Point", coordinates: [5, 5] }, box(20, 20, 1)],
      } as never,
      properties: { datetime: "2018-06-03T00:00:00Z" },
    }),
    anItem("scenes", "offset", { properties: { datetime: "2018-06-04T02:00:00.123456+02:00" } }),
    anItem("scenes", "fine-times-1", { properties: { datetime: "2018-06-05T00:00:00.000001Z" } }),
    anItem("scenes", "fine-times-2", { properties: { datetime: "2018-06-05T00:00:00.000002Z" } }),
  ];
}
export function corpusItems(): StacItem[] {
  const chance = seeded(20_260);
  return [...Array.from({ length: 500 }, (_, n) => regular(n, chance)), ...odd()];
}

export interface CorpusSearch {
  query: Omit<SearchQuery, "limit">;
  /** What must be found; order is checked against `sortby`. */
  finds: (item: StacItem) => boolean;
  /** pgSTAC's own search means something else, or cannot answer. */
  ask_pgstac?: false;
}

const value = (item: StacItem, name: string) => item.properties[name] as never;
const number = (item: StacItem, name: string) =>
  typeof value(item, name) === "number" ? (value(item, name) as number) : Number.NaN;
const begins = (item: StacItem) => Date.parse(String(item.properties.start_datetime ?? item.properties.datetime));
const ends = (item: StacItem) => Date.parse(String(item.properties.end_datetime ?? item.properties.datetime));
const at = (text: string) => Date.parse(text);
const all = () => true;
const has = (item: StacItem, name: string) => value(item, name) !== null && value(item, name) !== undefined;

/** Envelopes meet: enough for axis-parallel boxes and points. */
function meets(item: StacItem, [west, south, east, north]: number[]): boolean {
  const boxes: number[][] = [];
  const add = (geometry: { type: string; coordinates?: unknown; geometries?: unknown[] }): void => {
    if (geometry.type === "GeometryCollection") for (const one of geometry.geometries as never[]) add(one);
    else if (geometry.type === "MultiPolygon")
      for (const coordinates of geometry.coordinates as unknown[]) add({ type: "Polygon", coordinates });
    else {
      const flat = (geometry.coordinates as number[][]).flat(3) as number[];
      const step =
        geometry.type === "Point" ? flat.length : ((geometry.coordinates as number[][][])[0]?.[0]?.length ?? 2);
      const xs = flat.filter((_, n) => n % step === 0);
      const ys = flat.filter((_, n) => n % step === 1);
      boxes.push([Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]);
    }
  };
  add(item.geometry as never);
  return boxes.some(([w, s, e, n]) => w! <= east! && e! >= west! && s! <= north! && n! >= south!);
}

const p = (property: string) => ({ property });
const cmp = (op: string, ...args: unknown[]) => ({ op, args });
const week = ["2021-01-01T00:00:00Z", "2021-03-01T00:00:00Z"] as [string, string];
const within = (item: StacItem, [from, to]: [string, string]) => begins(item) <= at(to) && ends(item) >= at(from);
const polygon = {
  type: "Polygon",
  coordinates: [
    [
      [-20, -20],
      [60, -20],
      [60, 40],
      [-20, 40],
      [-20, -20],
    ],
  ],
};

export const corpus_searches: Record<string, CorpusSearch> = {
  everything: { query: {}, finds: all },
  "one collection": { query: { collections: ["scenes"] }, finds: (i) => i.collection === "scenes" },
  "two collections": { query: { collections: ["terrain", ids[2]!] }, finds: (i) => i.collection !== "scenes" },
  "no such collection": { query: { collections: ["nope"] }, finds: () => false },
  ids: {
    query: { ids: ["item-0003", "item-0042", "nope", "NULL"] },
    finds: (i) => ["item-0003", "item-0042", "NULL"].includes(i.id),
  },
  "odd ids": { query: { ids: odd_ids }, finds: (i) => odd_ids.includes(i.id) },
  "ids of a collection": {
    query: { ids: ["item-0003", "item-0004"], collections: ["scenes"] },
    finds: (i) => i.id === "item-0003",
  },
  bbox: { query: { bbox: [-20, -20, 60, 40] }, finds: (i) => (i.id !== "line" ? meets(i, [-20, -20, 60, 40]) : true) },
  "bbox with heights": {
    query: { bbox: [-20, -20, -9, 60, 40, 9] },
    finds: (i) => (i.id !== "line" ? meets(i, [-20, -20, 60, 40]) : true),
    ask_pgstac: false,
  },
  "bbox across the antimeridian": {
    query: { bbox: [170, -40, -170, 10] },
    finds: (i) => i.id !== "line" && (meets(i, [170, -40, 180, 10]) || meets(i, [-180, -40, -170, 10])),
    ask_pgstac: false,
  },
  "bbox that is a point": {
    query: { bbox: [10, 50, 10, 50] },
    finds: (i) => i.id !== "line" && meets(i, [10, 50, 10, 50]),
    ask_pgstac: false,
  },
  "bbox that is a line": {
    query: { bbox: [5, 50, 15, 50] },
    finds: (i) => i.id !== "line" && meets(i, [5, 50, 15, 50]),
    ask_pgstac: false,
  },
  "intersects polygon": {
    query: { intersects: polygon },
    finds: (i) => i.id === "line" || meets(i, [-20, -20, 60, 40]),
  },
  "intersects point": {
    query: { intersects: { type: "Point", coordinates: [178, -17] } },
    finds: (i) => i.id === "fiji" || (i.id !== "line" && meets(i, [178, -17, 178, -17])),
  },
  "intersects a collection of shapes": {
    query: { intersects: { type: "GeometryCollection", geometries: [{ type: "Point", coordinates: [5, 5] }] } },
    finds: (i) => i.id === "line" || meets(i, [5, 5, 5, 5]),
  },
  instant: {
    query: { datetime: ["2018-06-04T00:00:00.123456Z", "2018-06-04T00:00:00.123456Z"] },
    finds: (i) => i.id === "offset",
    ask_pgstac: false,
  },
  "the finest instant": {
    query: { datetime: ["2018-06-05T00:00:00.000002Z", "2018-06-05T00:00:00.000002Z"] },
    finds: (i) => i.id === "fine-times-2",
    ask_pgstac: false,
  },
  interval: { query: { datetime: week }, finds: (i) => within(i, week) },
  "until then": { query: { datetime: [null, week[0]] }, finds: (i) => begins(i) <= at(week[0]) },
  "from then on": { query: { datetime: [week[1], null] }, finds: (i) => ends(i) >= at(week[1]) },
  "interval with another offset": {
    query: { datetime: ["2021-01-01T05:00:00+05:00", "2021-02-28T19:00:00-05:00"] },
    finds: (i) => within(i, week),
    ask_pgstac: false,
  },
  "place and time": {
    query: {
      bbox: [-90, -45, 90, 45],
      datetime: ["2020-06-01T00:00:00Z", "2021-06-01T00:00:00Z"],
      collections: ["scenes", "terrain"],
    },
    finds: (i) =>
      i.collection !== ids[2] &&
      i.id !== "line" &&
      meets(i, [-90, -45, 90, 45]) &&
      within(i, ["2020-06-01T00:00:00Z", "2021-06-01T00:00:00Z"]),
  },
  "sorted by a number": { query: { sortby: [{ field: "rank", direction: "asc" }] }, finds: all },
  "sorted by a number, falling": { query: { sortby: [{ field: "properties.rank", direction: "desc" }] }, finds: all },
  "sorted by mixed values": { query: { sortby: [{ field: "eo:cloud_cover", direction: "asc" }] }, finds: all },
  "sorted by text, then number": {
    query: {
      sortby: [
        { field: "platform", direction: "desc" },
        { field: "rank", direction: "asc" },
      ],
    },
    finds: all,
  },
  "sorted by id": { query: { sortby: [{ field: "id", direction: "desc" }] }, finds: all },
  "sorted by time": {
    query: { sortby: [{ field: "datetime", direction: "asc" }], collections: ["scenes"] },
    finds: (i) => i.collection === "scenes",
  },
  "sorted by collection": {
    query: {
      sortby: [
        { field: "collection", direction: "desc" },
        { field: "datetime", direction: "asc" },
      ],
    },
    finds: all,
  },
  "sorted by what is nested": { query: { sortby: [{ field: "nested.deep.value", direction: "desc" }] }, finds: all },
  "number below": {
    query: { filter: cmp("<", p("eo:cloud_cover"), 20) },
    finds: (i) => number(i, "eo:cloud_cover") < 20,
    ask_pgstac: false,
  },
  "number with its full name": {
    query: { filter: cmp(">=", p("properties.gsd"), 10.5) },
    finds: (i) => number(i, "gsd") >= 10.5,
  },
  "value before property": { query: { filter: cmp(">", 10, p("gsd")) }, finds: (i) => number(i, "gsd") < 10 },
  "text equals": {
    query: { filter: cmp("=", p("platform"), "sentinel-2a") },
    finds: (i) => value(i, "platform") === "sentinel-2a",
  },
  "text with quotes": { query: { filter: cmp("=", p("platform"), "quote'\"`") }, finds: (i) => i.id === "quote'\"`" },
  "text is not": {
    query: { filter: cmp("<>", p("platform"), "sentinel-2a") },
    finds: (i) => has(i, "platform") && value(i, "platform") !== "sentinel-2a",
  },
  "text below": {
    query: { filter: cmp("<", p("platform"), "b") },
    finds: (i) => has(i, "platform") && String(value(i, "platform")) < "b",
  },
  "a number is no text": { query: { filter: cmp("=", p("gsd"), "10.5") }, finds: () => false, ask_pgstac: false },
  boolean: { query: { filter: cmp("=", p("is_good"), true) }, finds: (i) => value(i, "is_good") === true },
  "boolean alone": {
    query: { filter: cmp("not", p("is_good")) },
    finds: (i) => value(i, "is_good") === false,
    ask_pgstac: false,
  },
  "nested property": {
    query: { filter: cmp("=", p("nested.deep.value"), 7) },
    finds: (i) => (i.properties.nested as never as { deep: { value: number } })?.deep.value === 7,
  },
  "property with property": {
    query: { filter: cmp("<", p("rank"), p("gsd")) },
    finds: (i) => number(i, "rank") < number(i, "gsd"),
    ask_pgstac: false,
  },
  like: {
    query: { filter: cmp("like", p("platform"), "sentinel%") },
    finds: (i) => String(value(i, "platform")).startsWith("sentinel"),
  },
  "like with an escape": {
    query: { filter: cmp("like", p("title"), "100\\% of tile\\_%") },
    finds: (i) => String(value(i, "title")).startsWith("100% of tile_"),
  },
  "like one character": {
    query: { filter: cmp("like", p("platform"), "sentinel-2_") },
    finds: (i) => /^sentinel-2.$/.test(String(value(i, "platform"))),
  },
  between: {
    query: { filter: cmp("between", p("gsd"), 5, 15) },
    finds: (i) => number(i, "gsd") >= 5 && number(i, "gsd") <= 15,
  },
  in: {
    query: { filter: cmp("in", p("platform"), ["LANDSAT-8", "Éclair"]) },
    finds: (i) => ["LANDSAT-8", "Éclair"].includes(value(i, "platform")),
  },
  "in numbers": {
    query: { filter: cmp("in", p("rank"), [1, 2, 3]) },
    finds: (i) => [1, 2, 3].includes(number(i, "rank")),
    ask_pgstac: false,
  },
  "in ids": {
    query: { filter: cmp("in", p("id"), ["item-0001", "-"]) },
    finds: (i) => ["item-0001", "-"].includes(i.id),
  },
  "is null": { query: { filter: cmp("isNull", p("rank")) }, finds: (i) => !has(i, "rank") },
  "is not null": { query: { filter: cmp("not", cmp("isNull", p("rank"))) }, finds: (i) => has(i, "rank") },
  "and, or, not": {
    query: {
      filter: cmp(
        "and",
        cmp("or", cmp("=", p("gsd"), 0.5), cmp("=", p("gsd"), 20.5)),
        cmp("not", cmp("=", p("platform"), "LANDSAT-8")),
      ),
    },
    finds: (i) => [0.5, 20.5].includes(number(i, "gsd")) && has(i, "platform") && value(i, "platform") !== "LANDSAT-8",
  },
  "collection in a filter": {
    query: { filter: cmp("=", p("collection"), "terrain") },
    finds: (i) => i.collection === "terrain",
    ask_pgstac: false,
  },
  "collections in a filter": {
    query: { filter: cmp("in", p("collection"), ["terrain", "scenes"]) },
    finds: (i) => i.collection !== ids[2],
    ask_pgstac: false,
  },
  s_intersects: {
    query: { filter: cmp("s_intersects", p("geometry"), polygon) },
    finds: (i) => i.id === "line" || meets(i, [-20, -20, 60, 40]),
  },
  s_disjoint: {
    query: { filter: cmp("s_disjoint", p("geometry"), polygon) },
    finds: (i) => i.id !== "line" && !meets(i, [-20, -20, 60, 40]),
  },
  s_within: {
    query: { filter: cmp("s_within", p("geometry"), polygon) },
    finds: (i) => i.id === "line" || i.id === "collection-of-shapes" || inside(i),
    ask_pgstac: false,
  },
  s_contains: {
    query: { filter: cmp("s_contains", polygon, p("geometry")) },
    finds: (i) => i.id === "line" || i.id === "collection-of-shapes" || inside(i),
    ask_pgstac: false,
  },
  s_equals: {
    query: {
      filter: cmp("s_equals", p("geometry"), {
        type: "LineString",
        coordinates: [
          [10, 10],
          [0, 0],
        ],
      }),
    },
    finds: (i) => i.id === "line",
    ask_pgstac: false,
  },
  "s_intersects a bbox": {
    query: { filter: "S_INTERSECTS(geometry, BBOX(-20, -20, 60, 40))" },
    finds: (i) => i.id === "line" || meets(i, [-20, -20, 60, 40]),
    ask_pgstac: false,
  },
  "time after": {
    query: { filter: cmp(">", p("datetime"), { timestamp: week[0] }) },
    finds: (i) => begins(i) > at(week[0]),
  },
  "time as plain text": {
    query: { filter: cmp("<=", p("datetime"), week[0]) },
    finds: (i) => begins(i) <= at(week[0]),
  },
  "time of a property": {
    query: { filter: cmp(">=", p("created"), { timestamp: "2022-01-01T00:00:00Z" }) },
    finds: (i) => has(i, "created") && at(String(value(i, "created"))) >= at("2022-01-01T00:00:00Z"),
    ask_pgstac: false,
  },
  t_intersects: {
    query: { filter: cmp("t_intersects", p("datetime"), { interval: week }) },
    finds: (i) => within(i, week),
  },
  t_before: {
    query: { filter: cmp("t_before", p("datetime"), { timestamp: week[0] }) },
    finds: (i) => ends(i) < at(week[0]),
  },
  t_after: {
    query: { filter: cmp("t_after", p("datetime"), { timestamp: week[1] }) },
    finds: (i) => begins(i) > at(week[1]),
  },
  t_during: {
    query: { filter: cmp("t_during", p("datetime"), { interval: week }) },
    finds: (i) => begins(i) > at(week[0]) && ends(i) < at(week[1]),
  },
  t_overlaps: {
    query: { filter: cmp("t_overlaps", p("datetime"), { interval: week }) },
    finds: (i) => begins(i) < at(week[0]) && ends(i) > at(week[0]) && ends(i) < at(week[1]),
    ask_pgstac: false,
  },
  t_overlappedBy: {
    query: { filter: cmp("t_overlappedby", p("datetime"), { interval: week }) },
    finds: (i) => begins(i) > at(week[0]) && begins(i) < at(week[1]) && ends(i) > at(week[1]),
    ask_pgstac: false,
  },
  t_disjoint: {
    query: { filter: cmp("t_disjoint", p("datetime"), { interval: ["2020-01-01T00:00:00Z", ".."] }) },
    finds: (i) => ends(i) < at("2020-01-01T00:00:00Z"),
  },
  a_contains: {
    query: { filter: cmp("a_contains", p("instruments"), ["tirs"]) },
    finds: (i) => ((value(i, "instruments") as string[] | undefined) ?? []).includes("tirs"),
  },
  a_equals: {
    query: { filter: cmp("a_equals", p("instruments"), ["tirs", "msi"]) },
    finds: (i) => ((value(i, "instruments") as string[] | undefined) ?? []).length === 2,
    ask_pgstac: false,
  },
  a_containedBy: {
    query: { filter: cmp("a_containedBy", p("instruments"), ["msi", "oli"]) },
    finds: (i) => ((value(i, "instruments") as string[] | undefined) ?? []).length === 1,
    ask_pgstac: false,
  },
  a_overlaps: {
    query: { filter: cmp("a_overlaps", p("instruments"), ["tirs", "oli"]) },
    finds: (i) => ((value(i, "instruments") as string[] | undefined) ?? []).includes("tirs"),
  },
  casei: {
    query: { filter: "CASEI(platform) = CASEI('éCLAIR')" },
    finds: (i) => value(i, "platform") === "Éclair",
    ask_pgstac: false,
  },
  accenti: {
    query: { filter: "ACCENTI(CASEI(platform)) LIKE ACCENTI(CASEI('ecl%'))" },
    finds: (i) => value(i, "platform") === "Éclair",
    ask_pgstac: false,
  },
  arithmetic: {
    query: { filter: "rank * 2 + 1 > gsd ^ 2 / 4" },
    finds: (i) => number(i, "rank") * 2 + 1 > number(i, "gsd") ** 2 / 4,
    ask_pgstac: false,
  },
  "division by nothing": {
    query: { filter: "10 / rank > 1" },
    finds: (i) => number(i, "rank") > 0 && 10 / number(i, "rank") > 1,
    ask_pgstac: false,
  },
  remainder: { query: { filter: "rank % 2 = 1" }, finds: (i) => number(i, "rank") % 2 === 1, ask_pgstac: false },
  "text of all kinds": {
    query: { filter: "\"eo:cloud_cover\" BETWEEN 10 AND 50 AND platform NOT IN ('LANDSAT-8') AND title LIKE 'Ü%'" },
    finds: (i) =>
      number(i, "eo:cloud_cover") >= 10 &&
      number(i, "eo:cloud_cover") <= 50 &&
      value(i, "platform") !== "LANDSAT-8" &&
      String(value(i, "title")).startsWith("Ü"),
    ask_pgstac: false,
  },
  "filter, place, time and order": {
    query: {
      filter: cmp("=", p("is_good"), true),
      bbox: [-180, -60, 180, 60],
      datetime: ["2020-01-01T00:00:00Z", "2022-01-01T00:00:00Z"],
      sortby: [
        { field: "gsd", direction: "desc" },
        { field: "title", direction: "asc" },
      ],
    },
    finds: (i) =>
      value(i, "is_good") === true &&
      meets(i, [-180, -60, 180, 60]) &&
      within(i, ["2020-01-01T00:00:00Z", "2022-01-01T00:00:00Z"]),
  },
};

function inside(item: StacItem): boolean {
  if (item.id === "fiji" || item.geometry === null) return false;
  const flat =
    item.geometry.type === "Point"
      ? [item.geometry.coordinates as number[]]
      : ((item.geometry.coordinates as number[][][])[0] as number[][]);
  // A point on the edge is not within; none of the corpus lies there.
  return flat.every(([x, y]) => x! >= -20 && x! <= 60 && y! >= -20 && y! <= 40);
}
