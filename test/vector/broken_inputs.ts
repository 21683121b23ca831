// Vector files that are wrong in some way, for every format, made when they are asked for: the good file of all_formats.ts cut, overwritten or
// written again with what sources should not have. What becomes of each is told with it, the same on both engines.
import { ByteWriter, parquetWrite } from "hyparquet-writer";
import { formats } from "./all_formats.js";
import { collection, converted, convertedFiles, feature, point, square, towns, zipOf } from "./vector_files.js";

export interface BrokenInput {
  /** A sentence's end: "a source that is …". */
  what: string;
  file: string;
  make: () => Promise<Uint8Array | string> | Uint8Array | string;
  parameters?: Record<string, unknown>;
  /** The code of the error; rows that are loaded and codes of those that are not; or either, as long as nothing is half done. */
  becomes: { error: RegExp } | { loaded: number; rejects?: Record<string, number>; findings?: string[] } | "either";
}

const unreadable = {
  error:
    /^(gdal_failed|archive_|parquet_broken|unknown_format|source_empty|shapefile_|count_differs|fields_differ|several)/,
};

/** GeoParquet as its library writes it, WKB by hand. */
export function parquetOf(
  rows: { properties: Record<string, unknown>; wkb: Uint8Array | null }[],
  geo: Record<string, unknown> | null = { encoding: "WKB", geometry_types: [] },
  names: string[] = Object.keys(rows[0]?.properties ?? {}),
): Uint8Array {
  const writer = new ByteWriter();
  parquetWrite({
    writer,
    codec: "UNCOMPRESSED",
    columnData: [
      ...names.map((name) => ({
        name,
        data: rows.map(({ properties }) => properties[name] ?? null),
        type: "STRING" as const,
      })),
      { name: "geometry", data: rows.map(({ wkb }) => wkb), type: "BYTE_ARRAY" as const },
    ],
    ...(geo === null
      ? {}
      : {
          kvMetadata: [
            {
              key: "geo",
              value: JSON.stringify({ version: "1.1.0", primary_column: "geometry", columns: { geometry: geo } }),
            },
          ],
        }),
  });
  return new Uint8Array(writer.getBuffer());
}

export function wkbPoint(x: number, y: number): Uint8Array {
  const bytes = Buffer.alloc(21);
  bytes.writeUInt8(1, 0);
  bytes.writeUInt32LE(1, 1);
  bytes.writeDoubleLE(x, 5);
  bytes.writeDoubleLE(y, 13);
  return bytes;
}

/** All that all_formats.ts has, and GeoParquet, which GDAL does not write here. */
const whole: Record<string, { file: string; make: () => Promise<Uint8Array | string> }> = {
  ...formats,
  geoparquet: {
    file: "towns.parquet",
    make: async () =>
      parquetOf(Array.from({ length: 5 }, (_, at) => ({ properties: { Name: `Tøwn ${at}` }, wkb: wkbPoint(at, 50) }))),
  },
};

const bytesOf = async (format: string) => Buffer.from(await whole[format]!.make());

/** The files of the formats that come in archives are damaged inside of them: a cut archive says nothing of what is in it. */
async function damaged(format: string, damage: (bytes: Buffer, name: string) => Buffer): Promise<Uint8Array> {
  if (format === "shapefile" || format === "filegdb") {
    const files = await convertedFiles(towns(), format, format === "shapefile" ? ["-lco", "ENCODING=UTF-8"] : []);
    return zipOf(Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, damage(bytes, name)])));
  }
  if (format === "kmz") return zipOf({ "doc.kml": damage(await converted(towns(), "kml"), "doc.kml") });
  return damage(await bytesOf(format), whole[format]!.file);
}

/** The file in an archive that holds the features. */
const is_main = (name: string) =>
  !/\.(dbf|shx|prj|cpg)$/.test(name) && !/gdbindexes|\.(atx|spx|freelist|horizon)$|timestamps|gdb$/.test(name);

const cuts: BrokenInput[] = Object.entries(whole).flatMap(([format, { file }]) =>
  [0.1, 0.5, 0.9].map((share) => ({
    what: `${format}, cut after ${share * 100} % of it`,
    file: `cut_${format}_${share * 100}_${file}`,
    make: () =>
      damaged(format, (bytes, name) =>
        is_main(name) ? Buffer.from(bytes.subarray(0, Math.floor(bytes.length * share))) : bytes,
      ),
    // A text of lines is whole wherever a line ends; the line that was cut is told.
    becomes: /geojsonseq|csv/.test(format) ? ("either" as const) : unreadable,
  })),
);

const overwritten: BrokenInput[] = Object.entries(whole).flatMap(([format, { file }]) => [
  {
    what: `${format} with zeros in its middle`,
    file: `zeros_${format}_${file}`,
    make: () =>
      damaged(format, (bytes, name) =>
        is_main(name)
          ? Buffer.from(bytes).fill(0, Math.floor(bytes.length * 0.45), Math.floor(bytes.length * 0.55))
          : bytes,
      ),
    becomes: "either" as const,
  },
  ...[1, 2, 3].map((seed) => ({
    what: `${format} with bytes of chance in it (${seed})`,
    file: `chance_${seed}_${format}_${file}`,
    make: () => damaged(format, (bytes) => withChance(bytes, seed)),
    becomes: "either" as const,
  })),
  {
    what: `nothing but the first bytes of ${format}`,
    file: `start_${format}_${file}`,
    make: async () => (await bytesOf(format)).subarray(0, 8),
    becomes: unreadable,
  },
  {
    what: `${format} with text that is no UTF-8`,
    file: `bytes_${format}_${file}`,
    make: () =>
      damaged(format, (bytes) => replaced(bytes, Buffer.from("Tøwn"), Buffer.from([0x54, 0xff, 0xfe, 0x77, 0x6e]))),
    becomes: "either" as const,
  },
]);

/** One byte in fifty, the same at every call. */
function withChance(bytes: Buffer, seed: number): Buffer {
  const changed = Buffer.from(bytes);
  let state = seed * 2_654_435_761;
  const next = () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + seed) >>> 0;
    return state;
  };
  for (let n = 0; n < bytes.length / 50; n++) changed[16 + (next() % Math.max(1, bytes.length - 16))] = next() & 255;
  return changed.subarray(0, bytes.length);
}

function replaced(bytes: Buffer, from: Buffer, to: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  for (let at = changed.indexOf(from); at !== -1; at = changed.indexOf(from, at + 1)) to.copy(changed, at);
  return changed;
}

const strange_places = collection([
  feature({ n: 1 }, point(1, 2)),
  feature({ n: 2 }, null),
  feature({ n: 3 }, square(10, 50)),
  feature({ n: 4 }, { type: "GeometryCollection", geometries: [point(1, 1), square(1, 1)] }),
  feature({ n: 5 }, ringOf([179, 0], [-179, 0], [-179, 5], [179, 5])),
  feature({ n: 6 }, ringOf([-120, 60], [0, 60], [120, 60])),
  feature({ n: 7 }, point(10, 95)),
  feature(
    { n: 8 },
    {
      type: "LineString",
      coordinates: [
        [170, 1],
        [-170, 1],
      ],
    },
  ),
]);
const strange_becomes = {
  loaded: 5,
  rejects: { null_geometry: 1, geometry_collection: 1, out_of_range: 1 },
};

function ringOf(...corners: number[][]) {
  return { type: "Polygon", coordinates: [[...corners, corners[0]]] };
}

/** In the formats that can hold such features; a Shapefile has one kind of geometries, and writers of others refuse some. */
const places: BrokenInput[] = [
  ["geojson", "geojson", async () => strange_places],
  ["geojsonseq", "geojsonl", () => converted(strange_places, "geojsonseq")],
  ["gpkg", "gpkg", () => converted(strange_places, "gpkg", ["-nlt", "GEOMETRY"])],
  [
    "flatgeobuf",
    "fgb",
    () => converted(strange_places, "flatgeobuf", ["-nlt", "GEOMETRY", "-lco", "SPATIAL_INDEX=NO"]),
  ],
  ["kml", "kml", () => converted(strange_places, "kml")],
  ["gml", "gml", () => converted(strange_places, "gml")],
  ["csv", "csv", () => converted(strange_places, "csv", ["-lco", "GEOMETRY=AS_WKT"])],
].map(([format, ending, make]) => ({
  what: `${format} with null, mixed, collected, crossing, polar and impossible places`,
  file: `places_${format}.${ending}`,
  make: make as BrokenInput["make"],
  parameters: { max_rejected: 3 },
  // GDAL writes no feature without a place into a FlatGeobuf, and reads none in a KML.
  becomes:
    format === "flatgeobuf" || format === "kml"
      ? { ...strange_becomes, rejects: { geometry_collection: 1, out_of_range: 1 } }
      : strange_becomes,
}));

const without_crs: BrokenInput[] = [
  ["shapefile", "zip", () => withoutPrj()],
  ["gpkg", "gpkg", () => converted(withoutCrs(), "gpkg", ["-a_srs", "None"])],
  ["flatgeobuf", "fgb", () => converted(withoutCrs(), "flatgeobuf", ["-a_srs", "None"])],
  ["gml", "gml", async () => (await converted(withoutCrs(), "gml")).toString().replace(/ srsName="[^"]*"/g, "")],
  ["filegdb", "zip", () => converted(withoutCrs(), "filegdb", ["-a_srs", "None"])],
  [
    "geoparquet",
    "parquet",
    () =>
      parquetOf([{ properties: { n: "1" }, wkb: wkbPoint(1, 2) }], { encoding: "WKB", geometry_types: [], crs: null }),
  ],
].map(([format, ending, make]) => ({
  what: `${format} without a CRS`,
  file: `no_crs_${format}.${ending}`,
  make: make as BrokenInput["make"],
  becomes: { error: /^no_crs$/ },
}));

const withoutCrs = () => collection([feature({ n: 1 }, point(1, 2))]);

async function withoutPrj(): Promise<Uint8Array> {
  const files = await convertedFiles(withoutCrs(), "shapefile");
  return zipOf(Object.fromEntries(Object.entries(files).filter(([name]) => !name.endsWith(".prj"))));
}

const wide_properties = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`c${at}`, at]));
const wide = (count: number) => collection([feature(wide_properties(count), point(1, 2))]);

const too_wide: BrokenInput[] = [
  ["geojson", "geojson", () => wide(2000)],
  ["geojsonseq", "geojsonl", () => converted(wide(2000), "geojsonseq")],
  ["flatgeobuf", "fgb", () => converted(wide(2000), "flatgeobuf")],
  ["gpkg", "gpkg", () => converted(wide(1990), "gpkg")],
  ["csv", "csv", () => converted(wide(2000), "csv", ["-lco", "GEOMETRY=AS_WKT"])],
  ["gml", "gml", () => converted(wide(2000), "gml")],
  [
    "geoparquet",
    "parquet",
    () => {
      const properties = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`c${at}`, String(at)]));
      return parquetOf([{ properties, wkb: wkbPoint(1, 2) }]);
    },
  ],
].map(([format, ending, make]) => ({
  what: `${format} of 2,000 columns`,
  file: `wide_${format}.${ending}`,
  make: make as BrokenInput["make"],
  becomes: { error: /^too_many_columns$/ },
}));

/** Words of SQL, names of ours, of every table's own columns, and two that differ in nothing that counts. */
const strange_names = [
  "select",
  "FID",
  "geom",
  "ogc_fid",
  "tableoid",
  "ctid",
  "a b",
  "A-B",
  'say "x"',
  "1st",
  "Größe",
  "x".repeat(90),
];
const named = () => collection([feature(Object.fromEntries(strange_names.map((name, at) => [name, at])), point(1, 2))]);

const names: BrokenInput[] = [
  ["geojson", "geojson", () => named()],
  ["geojsonseq", "geojsonl", () => converted(named(), "geojsonseq")],
  ["flatgeobuf", "fgb", () => converted(named(), "flatgeobuf")],
  ["gpkg", "gpkg", () => converted(named(), "gpkg", ["-lco", "FID=own_id", "-lco", "GEOMETRY_NAME=place"])],
  ["shapefile", "zip", () => converted(named(), "shapefile", ["-lco", "ENCODING=UTF-8"])],
  ["filegdb", "zip", () => converted(named(), "filegdb")],
  ["csv", "csv", () => converted(named(), "csv", ["-lco", "GEOMETRY=AS_XY"])],
  [
    "geoparquet",
    "parquet",
    () =>
      parquetOf([{ properties: Object.fromEntries(strange_names.map((name) => [name, name])), wkb: wkbPoint(1, 2) }]),
  ],
].map(([format, ending, make]) => ({
  what: `${format} with names that no table should have`,
  file: `names_${format}.${ending}`,
  make: make as BrokenInput["make"],
  becomes: { loaded: 1 },
}));

const duplicates: BrokenInput[] = [
  {
    what: "a CSV with a column twice",
    file: "twice.csv",
    make: () => "lon,lat,a,a,A\n1,2,x,y,z\n",
    becomes: { loaded: 1 },
  },
  {
    what: "a GeoJSON with a property twice",
    file: "twice.geojson",
    make: () =>
      '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"a":1,"a":2,"A":3},"geometry":{"type":"Point","coordinates":[1,2]}}]}',
    becomes: { loaded: 1 },
  },
  {
    what: "a Shapefile with a column twice",
    file: "twice.zip",
    make: async () => {
      const files = await convertedFiles(collection([feature({ aaa: 1, bbb: 2 }, point(1, 2))]), "shapefile");
      return zipOf(
        Object.fromEntries(
          Object.entries(files).map(([name, bytes]) => [
            name,
            name.endsWith(".dbf") ? replaced(bytes, Buffer.from("bbb"), Buffer.from("aaa")) : bytes,
          ]),
        ),
      );
    },
    becomes: { loaded: 1 },
  },
  {
    what: "a GeoParquet with a column twice",
    file: "twice.parquet",
    make: () => parquetOf([{ properties: { a: "x" }, wkb: wkbPoint(1, 2) }], undefined, ["a", "a"]),
    becomes: "either",
  },
];

const latin = (text: string) => Buffer.from(text, "latin1");
const encodings: BrokenInput[] = [
  {
    what: "a CSV in another encoding",
    file: "latin.csv",
    make: () => latin("name,lon,lat\nZürich,8.5,47.4\n"),
    becomes: { loaded: 1, findings: ["encoding_guessed"] },
  },
  {
    what: "a GeoJSON in another encoding",
    file: "latin.geojson",
    make: () => latin(collection([feature({ name: "Zürich" }, point(8.5, 47.4))])),
    becomes: { loaded: 1, findings: ["encoding_guessed"] },
  },
  {
    what: "a GeoJSONSeq in another encoding",
    file: "latin.geojsonl",
    make: () => latin(`${JSON.stringify(feature({ name: "Zürich" }, point(8.5, 47.4)))}\n`),
    becomes: { loaded: 1, findings: ["encoding_guessed"] },
  },
  {
    what: "a CSV in UTF-16 that says so",
    file: "utf16.csv",
    make: () => Buffer.from("\ufeffname,lon,lat\nZürich,8.5,47.4\n", "utf16le"),
    parameters: { encoding: "utf-16le" },
    becomes: { loaded: 1 },
  },
  {
    what: "a CSV in an encoding that nobody knows",
    file: "unknown.csv",
    make: () => "name,lon,lat\nA,1,2\n",
    parameters: { encoding: "klingon" },
    becomes: { error: /^bad_encoding$/ },
  },
  {
    what: "a KML that says the wrong encoding",
    file: "latin.kml",
    make: () =>
      latin(
        '<?xml version="1.0" encoding="UTF-8"?><kml xmlns="http://www.opengis.net/kml/2.2"><Placemark><name>Zürich</name><Point><coordinates>8.5,47.4</coordinates></Point></Placemark></kml>',
      ),
    becomes: unreadable,
  },
];

const archives: BrokenInput[] = [
  {
    what: "an archive in an archive",
    file: "nested.zip",
    make: async () => zipOf({ "inner.zip": zipOf({ "a.geojson": Buffer.from(withoutCrs()) }) }),
    becomes: { error: /^unknown_format$/ },
  },
  {
    what: "an archive of two sources",
    file: "two.zip",
    make: () => zipOf({ "a.geojson": Buffer.from(withoutCrs()), "b.csv": Buffer.from("lon,lat\n1,2\n") }),
    becomes: { error: /^archive_ambiguous$/ },
  },
  ...(["/etc/a.geojson", "..\\..\\a.geojson", "C:\\a.geojson", "x/../../a.geojson"] as const).map((name, at) => ({
    what: `an archive with the name ${name}`,
    file: `leads_out_${at}.zip`,
    make: () => zipOf({ [name]: Buffer.from(withoutCrs()) }),
    becomes: { error: /^archive_unsafe$/ },
  })),
  {
    what: "an archive with a file twice",
    file: "twice_in_zip.zip",
    make: () =>
      zipOf([
        { name: "a.geojson", bytes: Buffer.from(withoutCrs()) },
        { name: "a.geojson", bytes: Buffer.from(withoutCrs()) },
      ]),
    becomes: { error: /^archive_/ },
  },
  {
    what: "an archive of too many files",
    file: "many.zip",
    make: () =>
      zipOf(Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`f${at}.geojson`, Buffer.from("{}")]))),
    becomes: { error: /^archive_too_large$/ },
  },
  {
    what: "an archive that unpacks to very much",
    file: "bomb.zip",
    make: () => zipOf({ "a.geojson": Buffer.alloc(60 * 2 ** 20) }),
    becomes: { error: /^archive_too_large$/ },
  },
  {
    what: "an archive that is larger than it says",
    file: "lies.zip",
    make: () => zipOf([{ name: "a.geojson", bytes: Buffer.alloc(9000, " "), said_bytes: 10 }]),
    becomes: { error: /^archive_broken$/ },
  },
  {
    what: "a geodatabase that is empty",
    file: "empty_gdb.zip",
    make: () => zipOf({ "a.gdb/gdb": Buffer.alloc(0) }),
    becomes: unreadable,
  },
];

const entity =
  '<!DOCTYPE k [<!ENTITY a "aaaaaaaaaa">' +
  Array.from({ length: 9 }, (_, at) => `<!ENTITY ${"bcdefghij"[at]} "${`&${"abcdefghi"[at]};`.repeat(10)}">`).join("") +
  '<!ENTITY file SYSTEM "file:///etc/passwd">]>';
const hostile: BrokenInput[] = [
  {
    what: "a KML of entities that grow",
    file: "entities.kml",
    make: () =>
      `<?xml version="1.0"?>${entity}<kml xmlns="http://www.opengis.net/kml/2.2"><Placemark><name>&j;</name><Point><coordinates>1,2</coordinates></Point></Placemark></kml>`,
    becomes: "either",
  },
  {
    what: "a GML of entities that grow, and one that reads a file",
    file: "entities.gml",
    make: () =>
      `<?xml version="1.0"?>${entity}<c xmlns:gml="http://www.opengis.net/gml" ><gml:featureMember><f><n>&j;&file;</n><gml:pointProperty><gml:Point srsName="EPSG:4326"><gml:coordinates>1,2</gml:coordinates></gml:Point></gml:pointProperty></f></gml:featureMember></c>`,
    becomes: "either",
  },
  {
    what: "a GeoJSON that is nested very deep",
    file: "deep.geojson",
    make: () => `{"type":"FeatureCollection","features":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
    becomes: unreadable,
  },
  {
    what: "a GeoJSON with numbers that are none",
    file: "nan.geojson",
    make: () =>
      '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"n":1e999},"geometry":{"type":"Point","coordinates":[1e999,2]}},{"type":"Feature","properties":{"n":1},"geometry":{"type":"Point","coordinates":[1,2]}}]}',
    parameters: { max_rejected: 1 },
    becomes: "either",
  },
  {
    what: "a GeoJSON with a zero character in a text",
    file: "zero.geojson",
    make: () => collection([feature({ a: "x\u0000y" }, point(1, 2)), feature({ a: "z" }, point(1, 2))]),
    parameters: { max_rejected: 1 },
    becomes: "either",
  },
  {
    what: "a GeoParquet with geometries that are none",
    file: "geometries.parquet",
    make: () =>
      parquetOf([
        { properties: { a: "1" }, wkb: wkbPoint(1, 2) },
        { properties: { a: "2" }, wkb: Buffer.from([1, 3]) },
        { properties: { a: "3" }, wkb: null },
        { properties: { a: "4" }, wkb: wkbPoint(10, 95) },
      ]),
    parameters: { max_rejected: 3 },
    becomes: { loaded: 1, rejects: { unreadable_geometry: 1, null_geometry: 1, out_of_range: 1 } },
  },
  {
    what: "a CSV whose types change behind the first rows",
    file: "types.csv",
    make: () => `lon,lat,n\n${"1,2,3\n".repeat(200)}1,2,many\n`,
    becomes: { loaded: 201 },
  },
  {
    what: "a CSV with rows of other lengths",
    file: "ragged.csv",
    make: () => "lon,lat,n\n1,2,3\n1,2\n1,2,3,4,5\n\n1,2,3\n",
    becomes: "either",
  },
  {
    what: "a CSV with a quote that never closes",
    file: "quote.csv",
    make: () => 'lon,lat,n\n1,2,"x\n1,2,y\n',
    becomes: "either",
  },
  { what: "a file of spaces", file: "spaces.geojson", make: () => " ".repeat(1000), becomes: unreadable },
  { what: "an empty CSV", file: "empty.csv", make: () => "", becomes: { error: /^source_empty$/ } },
];

export const all_broken: BrokenInput[] = [
  ...cuts,
  ...overwritten,
  ...places,
  ...without_crs,
  ...too_wide,
  ...names,
  ...duplicates,
  ...encodings,
  ...archives,
  ...hostile,
];
