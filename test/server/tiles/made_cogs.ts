// COGs that GDAL has made, in a zone of a tenant, with items that name them; and what GDAL sees in a picture or in the same tile.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openCatalog } from "../../../src/catalog/open.js";
import type { Engine } from "../../../src/engine/engine.js";
import { tileBox, tileMatrixSet } from "../../../src/geo/layers/tile_matrix_sets.js";
import { piecesOfFile } from "../../../src/storage/blob_store.js";
import { atFileEnd } from "../../file_end.js";
import { collectionOf, itemOf } from "../stac/stac_service.js";

const run = promisify(execFile);

export interface Field {
  width: number;
  height: number;
  bands: number;
  type: "Byte" | "Int16" | "Float32";
  /** Band counted from 0. */
  value(column: number, row: number, band: number): number;
  srs: string;
  /** Left, top, right, bottom. */
  corners: readonly [number, number, number, number];
  nodata?: number;
}

const sizes = { Byte: [1, 1], Int16: [2, 2], Float32: [4, 4] } as const;

let folder: Promise<string> | undefined;
export function scratch(): Promise<string> {
  folder ??= mkdtemp(join(tmpdir(), "fanfold-tiles-"));
  atFileEnd(async () => rm(await folder!, { recursive: true, force: true }));
  return folder;
}

let files = 0;
async function freeFile(ending: string): Promise<string> {
  const dir = await scratch();
  await mkdir(dir, { recursive: true });
  return join(dir, `${++files}${ending}`);
}

/** `options`: creation options such as COMPRESS=LZW. */
export async function makeCog(
  field: Field,
  options: readonly string[],
  { more = [] as string[] } = {},
): Promise<string> {
  const { width, height, bands, type, srs, corners, nodata } = field;
  const raw = await freeFile(".bin");
  const size = sizes[type][0];
  const bytes = Buffer.alloc(width * height * bands * size);
  const write = { Byte: "writeUInt8", Int16: "writeInt16LE", Float32: "writeFloatLE" } as const;
  for (let band = 0, at = 0; band < bands; band++)
    for (let row = 0; row < height; row++)
      for (let column = 0; column < width; column++, at += size) bytes[write[type]](field.value(column, row, band), at);
  await writeFile(raw, bytes);
  const codes = { Byte: 1, Int16: 2, Float32: 4 };
  const head = [
    "ENVI",
    `samples = ${width}`,
    `lines = ${height}`,
    `bands = ${bands}`,
    "header offset = 0",
    `data type = ${codes[type]}`,
    "interleave = bsq",
    "byte order = 0",
  ];
  await writeFile(raw.replace(".bin", ".hdr"), `${head.join("\n")}\n`);
  const cog = await freeFile(".tif");
  const place = [
    "-a_srs",
    srs,
    "-a_ullr",
    ...corners.map(String),
    ...(nodata === undefined ? [] : ["-a_nodata", String(nodata)]),
  ];
  const asked = ["BLOCKSIZE=256", ...options].flatMap((one) => ["-co", one]);
  await run("gdal_translate", ["-q", "-of", "COG", ...place, ...asked, ...more, raw, cog]);
  return cog;
}

/** The file in the silver zone, recorded, and an item that names it. */
export async function putItem(
  engine: Engine,
  file: string,
  {
    collection = "made",
    id,
    bbox,
    properties = {},
    bands,
  }: { collection?: string; id: string; bbox: number[]; properties?: object; bands?: object[] },
): Promise<string> {
  const key = `tiles/${id}.tif`;
  const bytes = await readFile(file);
  await engine.zones.store("silver", engine.tenant).write(key, piecesOfFile(file));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  await engine.assets.adopt({
    zone: "silver",
    key,
    name: `${id}.tif`,
    bytes: bytes.length,
    sha256,
    media_type: "image/tiff",
  });
  const catalog = await openCatalog(engine.db, { tenant: engine.tenant });
  const [west, south, east, north] = bbox as [number, number, number, number];
  await catalog.putCollection(engine.db, collectionOf(collection));
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  const item = itemOf(id, collection, [0, 0], {
    bbox,
    geometry: { type: "Polygon", coordinates: [ring] },
    properties: { gsd: 50, ...properties },
    assets: {
      data: {
        href: engine.zones.store("silver", engine.tenant).href(key),
        type: "image/tiff; application=geotiff",
        roles: ["data"],
        ...(bands === undefined ? {} : { bands }),
      },
    },
  });
  const writer = await catalog.prepare(engine.db, collection);
  await writer.put(engine.db, [item]);
  await catalog.refreshCollection(engine.db, collection);
  return key;
}

/** Numbers of a picture or raster, band after band. */
export async function numbersOf(file: string): Promise<{ width: number; height: number; bands: Float64Array[] }> {
  const raw = await freeFile(".img");
  await run("gdal_translate", ["-q", "-of", "ENVI", "-co", "INTERLEAVE=BSQ", "-ot", "Float64", file, raw]);
  const head = await readFile(raw.replace(/\.img$/, ".hdr"), "utf8");
  const of = (name: string) => Number(new RegExp(`${name}\\s*=\\s*(\\d+)`).exec(head)![1]);
  const [width, height, count] = [of("samples"), of("lines"), of("bands")];
  const bytes = await readFile(raw);
  const all = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  const size = width * height;
  return { width, height, bands: Array.from({ length: count }, (_, n) => all.subarray(n * size, (n + 1) * size)) };
}

/** What a served picture shows, as GDAL decodes it. */
export async function pictureOf(bytes: Uint8Array, ending: string) {
  const file = await freeFile(ending);
  await writeFile(file, bytes);
  return numbersOf(file);
}

/** The same tile by gdalwarp: its values, and at the end which of them are valid. */
export async function warpedTile(cog: string, z: number, x: number, y: number, resampling: string) {
  const target = await freeFile(".tif");
  const box = tileBox({ set: tileMatrixSet("WebMercatorQuad")!, zoom: z, column: x, row: y });
  const grid = ["-t_srs", "EPSG:3857", "-te", ...box.map(String), "-ts", "256", "256", "-r", resampling];
  await run("gdalwarp", ["-q", ...grid, "-et", "0.125", "-dstalpha", "-ovr", "AUTO", cog, target]);
  return numbersOf(target);
}

export function tileAt(longitude: number, latitude: number, z: number): [number, number] {
  const n = 2 ** z;
  const s = Math.sin((latitude * Math.PI) / 180);
  const x = Math.floor(((longitude + 180) / 360) * n);
  return [x, Math.floor((0.5 - Math.log((1 + s) / (1 - s)) / (4 * Math.PI)) * n)];
}
