import { describe, expect, test } from "vitest";
import type { Footprint } from "../../src/geo/footprint.js";
import { buildCollection } from "../../src/geo/stac_collection.js";
import { fileNameDates, itemDates, parseMoment } from "../../src/geo/stac_dates.js";
import { baseName, multihash, publicSource, stacId, stacIds } from "../../src/geo/stac_ids.js";
import { bandFields, buildItem, gsdOf, type NewItem, type RasterFacts } from "../../src/geo/stac_item.js";
import { band, stats } from "./facts.js";

const sha = "ab".repeat(32);
const footprint: Footprint = {
  bbox: [33, 36, 34, 37],
  geometry: {
    type: "Polygon",
    coordinates: [
      [
        [33, 36],
        [34, 36],
        [34, 37],
        [33, 37],
        [33, 36],
      ],
    ],
  },
};
const raster: RasterFacts = {
  width: 100,
  height: 50,
  transform: [500000, 10, 0, 4000000, 0, -10],
  crs: {
    code: "EPSG:32636",
    wkt: 'PROJCRS["x",LENGTHUNIT["metre",1]]',
    name: "WGS 84 / UTM zone 36N",
    is_geographic: false,
  },
  bands: [band("float32", { nodata: "nan", description: "elevation", unit: "m", scale: 0.1 })],
  statistics: [stats(0, 900)],
  raster_type: "dem",
};
const scene: NewItem = {
  id: "scene-1",
  collection: "dem",
  title: "Scene 1",
  dates: { datetime: "2024-01-31T00:00:00Z", source: "parameter" },
  footprint,
  raster,
  data: { href: "s3://silver/scene-1/cog.tif", bytes: 1234, sha256: sha },
  thumbnail: { href: "s3://silver/scene-1/quicklook.png", bytes: 99, sha256: sha },
  created: "2026-01-01T00:00:00Z",
  provenance: {
    job_id: "job-1",
    task_id: "task-1",
    source: "https://user:secret@example.com/a/scene.tif?X-Amz-Signature=abc",
    source_sha256: sha,
    engine: { name: "gdal", version: "3.8.4" },
    parameters: { target_crs: "EPSG:32636" },
  },
};

describe("a STAC item", () => {
  test("says where and what the raster is, and who made it from what", () => {
    const item = buildItem(scene);
    expect(item).toEqual({
      type: "Feature",
      stac_version: "1.1.0",
      stac_extensions: [
        "https://stac-extensions.github.io/projection/v2.0.0/schema.json",
        "https://stac-extensions.github.io/raster/v2.0.0/schema.json",
        "https://stac-extensions.github.io/file/v2.1.0/schema.json",
        "https://stac-extensions.github.io/processing/v1.2.0/schema.json",
      ],
      id: "scene-1",
      collection: "dem",
      geometry: footprint.geometry,
      bbox: footprint.bbox,
      properties: {
        datetime: "2024-01-31T00:00:00Z",
        title: "Scene 1",
        created: "2026-01-01T00:00:00Z",
        gsd: 10,
        "proj:code": "EPSG:32636",
        "proj:shape": [50, 100],
        "proj:transform": [10, 0, 500000, 0, -10, 4000000],
        "proj:bbox": [500000, 3999500, 501000, 4000000],
        "processing:software": { gdal: "3.8.4" },
        "processing:lineage": "Made from https://example.com/a/scene.tif with gdal 3.8.4.",
        "fanfold:raster_type": "dem",
        "fanfold:datetime_source": "parameter",
        "fanfold:job_id": "job-1",
        "fanfold:task_id": "task-1",
        "fanfold:source": "https://example.com/a/scene.tif",
        "fanfold:source_sha256": sha,
        "fanfold:engine": "gdal 3.8.4",
        "fanfold:parameters": { target_crs: "EPSG:32636" },
      },
      links: [],
      assets: {
        data: {
          href: "s3://silver/scene-1/cog.tif",
          type: "image/tiff; application=geotiff; profile=cloud-optimized",
          title: "Cloud-optimised GeoTIFF",
          roles: ["data"],
          "file:size": 1234,
          "file:checksum": `1220${sha}`,
          "raster:sampling": "area",
          bands: [
            {
              name: "elevation",
              description: "elevation",
              data_type: "float32",
              nodata: "nan",
              unit: "m",
              statistics: { minimum: 0, maximum: 900, mean: 450, stddev: 180, valid_percent: 100 },
              "raster:scale": 0.1,
            },
          ],
        },
        thumbnail: {
          href: "s3://silver/scene-1/quicklook.png",
          type: "image/png",
          title: "Quicklook",
          roles: ["thumbnail"],
          "file:size": 99,
          "file:checksum": `1220${sha}`,
        },
      },
    });
  });

  test("never publishes a credential of its source", () => {
    expect(JSON.stringify(buildItem(scene))).not.toMatch(/secret|Signature/);
  });

  test("is JSON to the last figure: nothing in it is lost on the way", () => {
    const odd = buildItem({
      ...scene,
      raster: {
        ...raster,
        bands: [band("float32", { nodata: Number.NEGATIVE_INFINITY })],
        statistics: [stats(Number.NaN, 1)],
      },
    });
    expect(JSON.parse(JSON.stringify(odd))).toEqual(odd);
    expect(odd.assets.data).toMatchObject({
      bands: [{ nodata: "-inf", statistics: { maximum: 1, valid_percent: 100 } }],
    });
  });

  test("without provenance declares no processing, and without a footprint has neither geometry nor bbox", () => {
    const bare = buildItem({ ...scene, provenance: undefined, footprint: null });
    expect(bare.stac_extensions.join()).not.toContain("processing");
    expect(bare.geometry).toBeNull();
    expect("bbox" in bare).toBe(false);
  });

  test("with a CRS that has no code carries its definition", () => {
    const local = { ...raster, crs: { ...raster.crs, code: null } };
    expect(buildItem({ ...scene, raster: local }).properties).toMatchObject({
      "proj:code": null,
      "proj:wkt2": raster.crs.wkt,
    });
  });

  test("lets its own fields win over further properties", () => {
    const { properties } = buildItem({
      ...scene,
      properties: { datetime: "x", platform: "drone", "fanfold:job_id": "forged" },
    });
    expect(properties).toMatchObject({
      datetime: "2024-01-31T00:00:00Z",
      platform: "drone",
      "fanfold:job_id": "job-1",
    });
  });

  test("has a resolution in metres, whatever the unit", () => {
    const degrees: RasterFacts = {
      ...raster,
      transform: [0, 0.001, 0, 0.05, 0, -0.001],
      crs: { ...raster.crs, is_geographic: true },
    };
    expect(gsdOf(degrees)).toBeCloseTo(111.3, 0);
    expect(gsdOf({ ...degrees, transform: [0, 0.001, 0, 60.05, 0, -0.001] })).toBeCloseTo(78.7, 0);
    const feet = 'PROJCRS["x",ANGLEUNIT["degree",0.0174532925199433],LENGTHUNIT["US survey foot",0.304800609601219]]';
    expect(gsdOf({ ...raster, crs: { ...raster.crs, wkt: feet } })).toBeCloseTo(3.048, 3);
    const mercator = { ...raster, crs: { ...raster.crs, code: "EPSG:3857" } };
    // 60 degrees north, where Web Mercator is twice as long as the ground.
    expect(gsdOf({ ...mercator, transform: [0, 20, 0, 8_399_738, 0, -20] })).toBeCloseTo(10, 1);
    expect(gsdOf({ ...raster, transform: [0, 0, 0, 0, 0, 0] })).toBeUndefined();
  });

  test("has bands with names of their own", () => {
    const bands = bandFields([
      band("uint8", { description: "x" }),
      band("uint8", { description: "x" }),
      band("complex"),
    ]);
    expect(bands.map(({ name, data_type }) => [name, data_type])).toEqual([
      ["x", "uint8"],
      ["x-2", "uint8"],
      ["b3", "cfloat32"],
    ]);
  });
});

describe("ids", () => {
  const cases: [string, string][] = [
    ["scene-1", "scene-1"],
    ["a/b\\c", "a-b-c"],
    ["../../etc/passwd", "etc-passwd"],
    ["Scène d’été 2024", "Scene-d-ete-2024"],
    ["x%2Fy?z#w", "x-2Fy-z-w"],
    ["a\nb\0c", "a-b-c"],
    ["...", `item-${stacId("...").slice(5)}`],
  ];
  test.each(cases)("of %j is %s", (text, id) => {
    expect(stacId(text)).toBe(id);
    expect(stacId(text)).toMatch(/^[A-Za-z0-9._-]{1,200}$/);
  });

  test("of long names stay below 200 and apart", () => {
    const [a, b] = [stacId(`${"x".repeat(300)}a`), stacId(`${"x".repeat(300)}b`)];
    expect([a.length, b.length]).toEqual([200, 200]);
    expect(a).not.toBe(b);
  });

  test("of names that look alike stay apart, and the same name keeps its id", () => {
    const ids = stacIds(["a/b", "a-b", "c", "C", "d", "d"]);
    expect(new Set(ids).size).toBe(5);
    expect(ids[4]).toBe("d");
    expect(ids[5]).toBe("d");
    expect(ids[0]).toMatch(/^a-b-[0-9a-f]{12}$/);
  });

  test("come with names, checksums and sources", () => {
    expect(baseName("dem/Scene 1.TIF")).toBe("Scene 1");
    expect(baseName("dem/archive.v2")).toBe("archive.v2");
    expect(multihash("AB")).toBe("1220ab");
    expect(publicSource("bronze:dem/a.tif")).toBe("bronze:dem/a.tif");
    expect(publicSource("s3://key:secret@bucket/a.tif?x=1#y")).toBe("s3://bucket/a.tif");
  });
});

describe("dates", () => {
  const names: [string, unknown][] = [
    ["S2A_MSIL1C_20240131T103021_N0510.tif", { datetime: "2024-01-31T10:30:21Z" }],
    ["LC08_L2SP_190024_20240131_20240207.tif", { datetime: "2024-01-31T00:00:00Z" }],
    ["dem-2024-01-31.tif", { datetime: "2024-01-31T00:00:00Z" }],
    ["dem_2024_01_31_v2.tif", { datetime: "2024-01-31T00:00:00Z" }],
    ["MOD13Q1.A2024032.h18v04.tif", { datetime: "2024-02-01T00:00:00Z" }],
    [
      "rain_2024-02.tif",
      { datetime: null, start_datetime: "2024-02-01T00:00:00Z", end_datetime: "2024-02-29T23:59:59Z" },
    ],
    [
      "landcover_2024.tif",
      { datetime: null, start_datetime: "2024-01-01T00:00:00Z", end_datetime: "2024-12-31T23:59:59Z" },
    ],
    ["tile_20241399.tif", null],
    ["v1920x1080.tif", null],
    ["n05w004.tif", null],
    ["2024/scene.tif", null],
    ["id12024013199.tif", null],
  ];
  test.each(names)("in the name %s", (name, expected) => {
    expect(fileNameDates(name)).toEqual(expected);
  });

  const moments: [string, string | null][] = [
    ["2024-01-31", "2024-01-31T00:00:00Z"],
    ["2024-01-31T10:30:00+02:00", "2024-01-31T08:30:00Z"],
    ["2024-01-31T10:30:00.123456Z", "2024-01-31T10:30:00.123Z"],
    ["2024-01-31 10:30", "2024-01-31T10:30:00Z"],
    ["2024-02-30", null],
    ["2024-01-31T25:00:00Z", null],
    ["yesterday", null],
    ["2024", null],
    ["", null],
  ];
  test.each(moments)("given as %j", (text, expected) => {
    expect(parseMoment(text)).toBe(expected);
  });

  test("given win over the file name, which wins over what the caller knows", () => {
    const name = "scene_20240131.tif";
    const later = "2026-05-05T00:00:00Z";
    expect(itemDates({ datetime: "2020-01-01" }, name, later).dates).toEqual({
      datetime: "2020-01-01T00:00:00Z",
      source: "parameter",
    });
    expect(itemDates({}, name, later).dates).toEqual({ datetime: "2024-01-31T00:00:00Z", source: "file_name" });
    expect(itemDates({}, "scene.tif", later).dates).toEqual({ datetime: later, source: "fallback" });
    expect(itemDates({ start_datetime: "2020-01-01", end_datetime: "2020-02-01" }, name, later).dates).toEqual({
      datetime: null,
      start_datetime: "2020-01-01T00:00:00Z",
      end_datetime: "2020-02-01T00:00:00Z",
      source: "parameter",
    });
  });

  test("that contradict each other are told, all at once", () => {
    const paths = (given: Parameters<typeof itemDates>[0]) =>
      itemDates(given, "x.tif", "2026-01-01").problems.map(({ path }) => path);
    expect(paths({ datetime: "soon", start_datetime: "2020-02-01", end_datetime: "2020-01-01" })).toEqual([
      "$.datetime",
      "$.end_datetime",
    ]);
    expect(paths({ start_datetime: "2020-02-01" })).toEqual(["$.end_datetime"]);
  });
});

describe("a STAC collection", () => {
  test("has all the world and no time until items are put into it, and declares no extension", () => {
    expect(buildCollection({ id: "empty one", license: "other" })).toEqual({
      type: "Collection",
      stac_version: "1.1.0",
      stac_extensions: [],
      id: "empty-one",
      description: "empty one",
      license: "other",
      extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[null, null]] } },
      links: [],
    });
  });

  test("says what it was given, and is described by its title where nothing else is", () => {
    const given = { id: "dem", title: "Terrain", license: "CC-BY-4.0", keywords: ["dem"] };
    expect(buildCollection(given)).toMatchObject({ ...given, description: "Terrain" });
    expect(buildCollection({ ...given, description: "Heights" }).description).toBe("Heights");
  });
});
