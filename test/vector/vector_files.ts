// Small vector files for tests, made when they are asked for: by hand, or with the system's GDAL from one GeoJSON.
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { deflateRawSync, crc32 as zlibCrc } from "node:zlib";

const run = promisify(execFile);

export type Properties = Record<string, unknown>;

export function feature(properties: Properties, geometry: unknown): Record<string, unknown> {
  return { type: "Feature", properties, geometry };
}

export function collection(features: unknown[], more: Properties = {}): string {
  return JSON.stringify({ type: "FeatureCollection", ...more, features });
}

export const point = (x: number, y: number) => ({ type: "Point", coordinates: [x, y] });

export function square(x: number, y: number, size = 1) {
  const ring = [
    [x, y],
    [x + size, y],
    [x + size, y + size],
    [x, y + size],
    [x, y],
  ];
  return { type: "Polygon", coordinates: [ring] };
}

/** Fields of the kinds that every format has, and words that formats spoil. */
export function towns(count = 5): string {
  const features = Array.from({ length: count }, (_, at) =>
    feature(
      {
        Name: at === 1 ? null : `Tøwn "${at}", \t größe\nsecond line \\ end`,
        people: at * 1000 + 1,
        area: at + 0.5,
        founded: `19${10 + at}-02-03`,
      },
      square(10 + at, 50 + at / 2),
    ),
  );
  return collection(features);
}

/** A GeoJSON text as other formats, by the system's ogr2ogr; several files come as a zip. */
export async function converted(geojson: string, format: string, options: string[] = []): Promise<Buffer> {
  const files = await convertedFiles(geojson, format, options);
  return format === "shapefile" || format === "filegdb" ? zipOf(files) : Object.values(files)[0]!;
}

/** The same, file by file, by the names they have in an archive. */
export async function convertedFiles(
  geojson: string,
  format: string,
  options: string[] = [],
): Promise<Record<string, Buffer>> {
  const folder = mkdtempSync(join(tmpdir(), "fanfold-vector-"));
  try {
    const source = join(folder, "source.json");
    writeFileSync(source, geojson);
    const [driver = "", name = ""] = known[format] ?? [];
    const target = join(folder, name);
    await run("ogr2ogr", ["-f", driver, target, source, "-nln", "towns", ...options]);
    const inside = statSync(target).isDirectory() ? target : folder;
    const files = readdirSync(inside).filter((file) => /^(shapefile|filegdb)$/.test(format) || file === name);
    const prefix = format === "filegdb" ? "data/towns.gdb/" : "deep/";
    return Object.fromEntries(
      files.filter((file) => file !== "source.json").map((file) => [prefix + file, readFileSync(join(inside, file))]),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const known: Record<string, [driver: string, name: string]> = {
  shapefile: ["ESRI Shapefile", "towns.shp"],
  gpkg: ["GPKG", "towns.gpkg"],
  geojsonseq: ["GeoJSONSeq", "towns.geojsonl"],
  flatgeobuf: ["FlatGeobuf", "towns.fgb"],
  kml: ["KML", "towns.kml"],
  gml: ["GML", "towns.gml"],
  filegdb: ["OpenFileGDB", "towns.gdb"],
  csv: ["CSV", "towns.csv"],
};

export interface ZipPart {
  name: string;
  bytes: Uint8Array;
  /** What the archive says of it, where that is a lie. */
  said_bytes?: number;
  mode?: number;
}

/** A zip by hand: an archive of the system's would not have the names and sizes that an attacker gives. */
export function zipOf(files: Record<string, Uint8Array> | ZipPart[]): Buffer {
  const parts = Array.isArray(files)
    ? files
    : Object.entries(files).map(([name, bytes]) => ({ name, bytes }) as ZipPart);
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let at = 0;
  for (const { name, bytes, said_bytes = bytes.length, mode = 0o100644 } of parts) {
    const packed = deflateRawSync(bytes);
    const named = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x800, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(zlibCrc(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(said_bytes, 18);
    common.writeUInt16LE(named.length, 22);
    const head = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), common, named, packed]);
    const entry = Buffer.alloc(46);
    entry.write("PK\x01\x02", 0, "latin1");
    entry.writeUInt16LE(0x0314, 4);
    common.copy(entry, 6);
    entry.writeUInt32LE((mode << 16) >>> 0, 38);
    entry.writeUInt32LE(at, 42);
    local.push(head);
    central.push(Buffer.concat([entry, named]));
    at += head.length;
  }
  const list = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...local, list, end]);
}
