// What our jobs write, read back by others: items made by src/geo are valid STAC 1.1.0 before and after they are served, GDAL opens
// their files over HTTP by signed address and by key, and a whole search as one mosaic through its STAC driver.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { deflateSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeGeoTiff } from "../../../src/cli/demo/geotiff_writer.js";
import type { GeoTransform } from "../../../src/geo/raster.js";
import type { StacItem } from "../../../src/geo/stac.js";
import { buildCollection } from "../../../src/geo/stac_collection.js";
import { buildItem, cog_media_type } from "../../../src/geo/stac_item.js";
import { band, stats } from "../../geo/facts.js";
import { pythonTools } from "../../python_tools.js";
import { openStacService, putItems, type StacService } from "./stac_service.js";

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
type Loose = any;
const run = promisify(execFile);

const gdal: string = await run("gdalinfo", ["--version"]).then(
  ({ stdout }) => stdout.trim(),
  () => "",
);
const no_gdal = gdal === "" ? "there is no gdalinfo on this machine" : null;
const tools = await pythonTools();
const no_python = typeof tools === "string" ? tools : null;
for (const reason of [no_gdal, no_python])
  if (reason !== null) process.stderr.write(`others' readers of our rasters: some skipped, because ${reason}\n`);
const why = (reason: string | null) => (reason === null ? "" : ` (skipped: ${reason})`);

/** UTM zone 33 north, as GDAL writes it in WKT 2. */
const utm33 = `PROJCRS["WGS 84 / UTM zone 33N",BASEGEOGCRS["WGS 84",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",6378137,298.257223563,LENGTHUNIT["metre",1]]],PRIMEM["Greenwich",0,ANGLEUNIT["degree",0.0174532925199433]],ID["EPSG",4326]],CONVERSION["UTM zone 33N",METHOD["Transverse Mercator",ID["EPSG",9807]],PARAMETER["Latitude of natural origin",0,ANGLEUNIT["degree",0.0174532925199433],ID["EPSG",8801]],PARAMETER["Longitude of natural origin",15,ANGLEUNIT["degree",0.0174532925199433],ID["EPSG",8802]],PARAMETER["Scale factor at natural origin",0.9996,SCALEUNIT["unity",1],ID["EPSG",8805]],PARAMETER["False easting",500000,LENGTHUNIT["metre",1],ID["EPSG",8806]],PARAMETER["False northing",0,LENGTHUNIT["metre",1],ID["EPSG",8807]]],CS[Cartesian,2],AXIS["(E)",east,ORDER[1],LENGTHUNIT["metre",1]],AXIS["(N)",north,ORDER[2],LENGTHUNIT["metre",1]],ID["EPSG",32633]]`;
const side = 64;

describe("rasters that others read", () => {
  let service: StacService;
  let items: StacItem[];
  let key: string;

  /** A tile of the row, each a constant height. */
  async function tile(number: number): Promise<StacItem> {
    const transform: GeoTransform = [500_000 + number * side * 10, 10, 0, 5_200_000, 0, -10];
    const bytes = writeGeoTiff({
      width: side,
      height: side,
      data_type: "uint16",
      tile: 32,
      cog: true,
      overviews: 1,
      transform,
      nodata: 0,
      bands: [new Uint16Array(side * side).fill(100 + number)],
      crs: { epsg: 32633, kind: "projected" },
      deflate: (raw) => deflateSync(raw),
    });
    const store = service.engine.zones.store("silver", "default");
    const ref = { zone: "silver" as const, key: `terrain/tile ${number}/cog.tif` };
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    await store.write(
      ref.key,
      (async function* () {
        yield bytes;
      })(),
    );
    await service.engine.assets.publish({
      ...ref,
      name: "cog.tif",
      bytes: bytes.length,
      sha256,
      media_type: cog_media_type,
    });
    const west = 15 + (number * side * 10) / 76_000;
    const box = [west, 46.94, west + 0.0084, 46.95] as [number, number, number, number];
    return buildItem({
      id: `tile-${number}`,
      collection: "terrain",
      title: `Tile ${number}`,
      created: "2024-06-01T00:00:00Z",
      dates: { datetime: "2024-05-06T07:08:09Z", source: "parameter" },
      footprint: {
        bbox: box,
        geometry: {
          type: "Polygon",
          coordinates: [
            [
              [box[0], box[1]],
              [box[2], box[1]],
              [box[2], box[3]],
              [box[0], box[3]],
              [box[0], box[1]],
            ],
          ],
        },
      } as Loose,
      raster: {
        width: side,
        height: side,
        transform,
        raster_type: "dem" as const,
        crs: { code: "EPSG:32633", wkt: utm33, name: "WGS 84 / UTM zone 33N", is_geographic: false },
        bands: [band("uint16", { nodata: 0, description: "height", unit: "m", scale: 0.1 })],
        statistics: [stats(100 + number, 100 + number)],
      },
      data: { href: store.href(ref.key), bytes: bytes.length, sha256, media_type: cog_media_type },
      provenance: {
        job_id: "0123abcd",
        task_id: "1-0",
        source: "bronze:a.tif",
        source_sha256: sha256,
        engine: { name: "gdal", version: "3.8.4" },
        parameters: { tile_size: 64 },
        lineage: "cut into tiles",
      },
    });
  }

  beforeAll(async () => {
    service = await openStacService();
    key = await service.key("default", ["read"]);
    items = [await tile(0), await tile(1), await tile(2)];
    const collection = buildCollection({ id: "terrain", title: "Terrain", license: "CC-BY-4.0" });
    const made = await service.call("POST", "/stac/collections", { body: collection });
    expect([made.status, made.body.problems]).toEqual([201, undefined]);
    await putItems(service, "terrain", items);
  });
  afterAll(() => service?.close());

  const read = async (path: string) => (await service.call("GET", path, { key })).body;

  test.skipIf(no_python !== null)(
    `what src/geo builds and the server serves is valid STAC 1.1.0${why(no_python)}`,
    async () => {
      if (typeof tools === "string") return;
      const link = { rel: "collection", href: "https://example.com/terrain" };
      const built = items.map((item) => ({ ...item, id: `built-${item.id}`, links: [link] }));
      const served = [
        ...(await read("/stac/search")).features,
        await read("/stac/collections/terrain"),
        await read("/stac"),
      ];
      const judged = await tools.run<Loose>("validate.py", [...built, ...served]);
      expect(judged).toEqual({ count: 8, problems: {} });
      expect(served[0].stac_extensions).toHaveLength(4);
    },
  );

  test("only a GDAL that knows no better is told the reference system in the old way", async () => {
    const told = async (agent: string) => {
      const headers = { "user-agent": agent };
      const { body } = await service.call("GET", "/stac/collections/terrain/items/tile-1", { key, headers });
      return [body.properties["proj:code"], body.properties["proj:epsg"], body.stac_extensions[0].split("/").at(-2)];
    };
    for (const agent of ["GDAL/3.9.2", "GDAL/3.7", "GDAL/2.4.0"])
      expect([agent, ...(await told(agent))]).toEqual([agent, "EPSG:32633", 32633, "v1.2.0"]);
    for (const agent of ["GDAL/3.10.0", "GDAL/3.12", "node", "python-requests/2.3", "Mozilla/5.0 QGIS/33400"])
      expect([agent, ...(await told(agent))]).toEqual([agent, "EPSG:32633", undefined, "v2.0.0"]);
  });

  test("an item's file has a signed address of this server that anybody can read, and no one can bend", async () => {
    const { assets, links } = await read("/stac/collections/terrain/items/tile-1");
    const url = new URL(assets.data.href);
    expect(url.origin + url.pathname).toBe(`${service.url}/assets/silver/terrain/tile%201/cog.tif`);
    expect(JSON.stringify(links) + assets.data.href).not.toContain(key.slice(-20));
    const answer = await fetch(url, { headers: { range: "bytes=0-3" } });
    expect([
      answer.status,
      Buffer.from(await answer.arrayBuffer())
        .toString("latin1")
        .slice(0, 2),
    ]).toEqual([206, "II"]);
    url.pathname = url.pathname.replace("tile%201", "tile%202");
    expect((await fetch(url)).status).toBe(401);
  });

  test.skipIf(no_gdal !== null)(
    `GDAL opens a file through /vsicurl, by its signed address and by key${why(no_gdal)}`,
    async () => {
      const { href } = (await read("/stac/collections/terrain/items/tile-2")).assets.data;
      const headers = {
        ...process.env,
        GDAL_HTTP_HEADERS: `Authorization: Bearer ${key}`,
        GDAL_DISABLE_READDIR_ON_OPEN: "EMPTY_DIR",
      };
      for (const [name, env] of [
        [href, { ...process.env, GDAL_DISABLE_READDIR_ON_OPEN: "EMPTY_DIR" }],
        [href.split("?")[0], headers],
      ] as const) {
        const { stdout } = await run("gdalinfo", ["-json", "-mm", `/vsicurl/${name}`], { env, timeout: 50_000 });
        const info = JSON.parse(stdout);
        expect(info).toMatchObject({
          driverShortName: "GTiff",
          size: [side, side],
          geoTransform: [501_280, 10, 0, 5_200_000, 0, -10],
        });
        expect([info.bands[0].computedMin, info.bands[0].computedMax]).toEqual([102, 102]);
      }
    },
  );

  test.skipIf(no_gdal !== null)(
    `GDAL opens a search as one mosaic through its STAC driver${why(no_gdal)}`,
    async () => {
      const env = { ...process.env, GDAL_HTTP_HEADERS: `Authorization: Bearer ${key}` };
      // In pages of two, so that it has to follow a link.
      for (const path of ["/stac/search?collections=terrain&limit=2", "/stac/collections/terrain/items?limit=2"]) {
        const name = `STACIT:"${service.url}${path}":asset=data`;
        const { stdout } = await run("gdalinfo", ["-json", "-mm", name], { env, timeout: 50_000 });
        const info = JSON.parse(stdout);
        expect(info).toMatchObject({
          size: [3 * side, side],
          geoTransform: [500_000, 10, 0, 5_200_000, 0, -10],
        });
        expect([info.bands[0].computedMin, info.bands[0].computedMax]).toEqual([100, 102]);
      }
    },
  );
});
