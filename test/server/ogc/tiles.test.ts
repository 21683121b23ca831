// Vector tiles: what GDAL and Mapbox's own reader see in them, the same from PostGIS and from our own writer; capped, kept by version, and
// open to map clients by signed address.

import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { VectorTile } from "@mapbox/vector-tile";
import { PbfReader } from "pbf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Layers } from "../../../src/catalog/layers.js";
import { writeMvt } from "../../../src/geo/layers/mvt.js";
import { tileBox, tileMatrixSet } from "../../../src/geo/layers/tile_matrix_sets.js";
import { withoutPostgis } from "../../catalog_packages.js";
import { openService, type TestService } from "../service.js";
import { grid_columns, gridRows, putLayer } from "./layers.js";

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
type Loose = any;
const run = promisify(execFile);
const why = await withoutPostgis();
const has_gdal = await run("ogrinfo", ["--version"]).then(
  () => true,
  () => false,
);

describe.skipIf(why !== null)(`OGC API Tiles${why === null ? "" : ` (skipped: ${why})`}`, () => {
  let service: TestService;
  let key: string;

  const tile = async (
    layer: string,
    place: string,
    { query = "", headers = {}, credential = key as string | null } = {},
  ) => {
    const answer = await fetch(`${service.url}/ogc/collections/${layer}/tiles/${place}${query}`, {
      headers: { ...(credential === null ? {} : { authorization: `Bearer ${credential}` }), ...headers },
    });
    return { status: answer.status, headers: answer.headers, bytes: new Uint8Array(await answer.arrayBuffer()) };
  };
  const featuresOf = (bytes: Uint8Array, layer: string): Loose[] => {
    const read = new VectorTile(new PbfReader(bytes)).layers[layer];
    return Array.from({ length: read?.length ?? 0 }, (_, n) => read!.feature(n));
  };

  beforeAll(async () => {
    service = await openService({}, {}, { variant: "stac" });
    key = await service.key();
    await putLayer(service.db, {
      name: "grid",
      columns: grid_columns,
      rows: gridRows(200),
      geometry_type: "Point",
      time_column: "seen",
    });
    await putLayer(service.db, {
      name: "utm",
      columns: grid_columns,
      rows: gridRows(200, { srid: 32633 }),
      srid: 32633,
      geometry_type: "Point",
    });
    await putLayer(service.db, {
      name: "shapes",
      columns: {
        kind: ["string", "text"],
        constructor: ["number", "double precision"] as [string, string],
        n: ["integer", "bigint"],
        ok: ["boolean", "boolean"],
      },
      rows: `values (1::bigint, 'ring', 1.5, 3, true, st_geomfromtext('POLYGON((0 0, 0 40, 40 40, 40 0, 0 0), (10 10, 10 20, 20 20, 20 10, 10 10))', 4326)),
        (2, 'line', -2.25, -7, false, st_geomfromtext('MULTILINESTRING((-60 10, 60 10), (-10 -10, -20 -20))', 4326)), (3, null, null, null, null, null),
        (4, 'dots', 1, 5000000000, null, st_geomfromtext('MULTIPOINT((100 10), (110 20))', 4326))`,
    });
  }, 120_000);
  afterAll(() => service?.close());

  test("features are in the tile that covers them, with their ids and properties, whatever system they are stored in", async () => {
    for (const layer of ["grid", "utm"]) {
      const { status, headers, bytes } = await tile(layer, "WebMercatorQuad/0/0/0");
      expect([status, headers.get("content-type")]).toEqual([200, "application/vnd.mapbox-vector-tile"]);
      const found = featuresOf(bytes, layer);
      expect(found.map(({ id }) => id).sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, n) => n + 1));
      const one = found.find(({ id }) => id === 23);
      expect(one.properties).toMatchObject({ name: "Näme 23", n: 3, weight: 5.75, good: false, day: "2024-01-24" });
      const [longitude, latitude] = one.toGeoJSON(0, 0, 0).geometry.coordinates;
      expect([Math.abs(longitude - 3) < 0.1, Math.abs(latitude - 40.5) < 0.1]).toEqual([true, true]);
    }
    // Row before column: 5/12/16 is around 3 degrees east and 40 north.
    expect(featuresOf((await tile("grid", "WebMercatorQuad/5/12/16")).bytes, "grid").length).toBeGreaterThan(20);
    expect((await tile("grid", "WebMercatorQuad/5/16/12")).status).toBe(204);
    expect(featuresOf((await tile("grid", "WorldCRS84Quad/0/0/1")).bytes, "grid")).toHaveLength(200);
    expect((await tile("grid", "WorldCRS84Quad/1/1/0")).status).toBe(204);
  });

  test("what PostGIS makes and what our own writer makes of the features is the same tile", async () => {
    const set = tileMatrixSet("WebMercatorQuad")!;
    const layers = new Layers("default");
    for (const [layer, at] of [
      ["shapes", { set, zoom: 0, row: 0, column: 0 }],
      ["shapes", { set, zoom: 2, row: 1, column: 2 }],
      ["grid", { set, zoom: 3, row: 3, column: 4 }],
    ] as const) {
      const box = tileBox(at);
      const asked = {
        layer,
        version: 1,
        srid: 3857,
        box,
        extent: 4096,
        buffer: 64,
        most_features: 1000,
        most_bytes: 1e6,
      };
      const made = await layers.tile(service.engine.db, asked);
      const read = await layers.tile(service.engine.db, { ...asked, as_features: true });
      const own = writeMvt(
        layer,
        4096,
        read!.features!.map(([id, geometry, properties]) => ({ id, geometry, properties })),
      );
      const told = (bytes: Uint8Array) =>
        featuresOf(bytes, layer)
          .map((one) => ({
            id: one.id,
            type: one.type,
            properties: one.properties,
            box: one.bbox(),
            rings: one.loadGeometry().length,
          }))
          .sort((a, b) => a.id - b.id);
      expect(told(own).length).toBeGreaterThan(0);
      expect(told(own)).toEqual(told(made!.tile!));
    }
  });

  test.skipIf(!has_gdal)("GDAL reads the tiles of either maker: rings, lines and points where they are", async () => {
    const folder = await mkdtemp(join(tmpdir(), "fanfold-test-"));
    try {
      const set = tileMatrixSet("WebMercatorQuad")!;
      const asked = {
        layer: "shapes",
        version: 1,
        srid: 3857,
        box: tileBox({ set, zoom: 0, row: 0, column: 0 }),
        extent: 4096,
        buffer: 64,
        most_features: 1000,
        most_bytes: 1e6,
      };
      const read = await new Layers("default").tile(service.engine.db, { ...asked, as_features: true });
      await writeFile(
        join(folder, "own.pbf"),
        writeMvt(
          "shapes",
          4096,
          read!.features!.map(([id, geometry, properties]) => ({ id, geometry, properties })),
        ),
      );
      await writeFile(join(folder, "made.pbf"), (await tile("shapes", "WebMercatorQuad/0/0/0")).bytes);
      const areas: string[] = [];
      for (const name of ["own", "made"]) {
        const { stdout } = await run("ogr2ogr", [
          "-f",
          "GeoJSON",
          "/vsistdout/",
          "-oo",
          "X=0",
          "-oo",
          "Y=0",
          "-oo",
          "Z=0",
          "-t_srs",
          "EPSG:4326",
          "-lco",
          "COORDINATE_PRECISION=0",
          join(folder, `${name}.pbf`),
        ]);
        const { features } = JSON.parse(stdout) as Loose;
        areas.push(JSON.stringify(features.map((one: Loose) => [one.geometry.type, one.properties.kind]).sort()));
        const ring = features.find((one: Loose) => one.properties.kind === "ring").geometry;
        const rings = ring.type === "MultiPolygon" ? ring.coordinates[0] : ring.coordinates;
        expect(rings).toHaveLength(2);
      }
      expect(areas[0]).toBe(areas[1]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("the same filter as for features, the same refusals, and no tile outside the world", async () => {
    const filtered = await tile("grid", "WebMercatorQuad/0/0/0", {
      query: `?filter=${encodeURIComponent("n = 3 AND S_INTERSECTS(geometry, BBOX(0,40,10,45))")}&properties=n`,
    });
    const found = featuresOf(filtered.bytes, "grid");
    expect(found.length).toBe(10);
    expect(found.every(({ properties }) => JSON.stringify(properties) === '{"n":3}')).toBe(true);
    expect(
      featuresOf(
        (await tile("grid", "WebMercatorQuad/0/0/0", { query: "?datetime=2024-01-04T12:00:00Z" })).bytes,
        "grid",
      ).map(({ id }) => id),
    ).toEqual([3]);
    for (const [place, status] of [
      ["WebMercatorQuad/0/0/1", 404],
      ["WebMercatorQuad/3/8/0", 404],
      ["WebMercatorQuad/25/0/0", 404],
      ["WorldCRS84Quad/0/1/0", 404],
      ["Nope/0/0/0", 404],
      ["WebMercatorQuad/a/0/0", 400],
      ["WebMercatorQuad/0/-1/0", 400],
      ["WebMercatorQuad/0/0/0?filter=nope%3D1", 400],
      ["WebMercatorQuad/0/0/0?unknown=1", 400],
      ["WebMercatorQuad/0/0/0?f=png", 400],
    ] as const)
      expect([place, (await tile("grid", place)).status]).toEqual([place, status]);
  });

  test("a tile has no more features and bytes than its zoom allows; what is left is spread evenly, and it says so", async () => {
    await putLayer(service.db, {
      name: "dense",
      columns: { v: ["string", "text"] },
      geometry_type: "Point",
      rows: "select i, md5(i::text) || md5((i + 1)::text), st_setsrid(st_makepoint((i % 200) / 10.0, (i / 200) / 10.0), 4326) from generate_series(1, 9000) i",
    });
    const { bytes, headers } = await tile("dense", "WebMercatorQuad/0/0/0");
    const found = featuresOf(bytes, "dense");
    expect(headers.get("x-tile-thinned")).toBe("true");
    expect(bytes.length).toBeLessThanOrEqual(400_000);
    expect(found.length).toBeLessThanOrEqual(4_000);
    expect(found.length).toBeGreaterThan(2_000);
    const west = found.filter(({ id }) => id % 200 < 100).length;
    expect(Math.abs(west / found.length - 0.5)).toBeLessThan(0.05);
    const bare = await tile("dense", "WebMercatorQuad/0/0/0", { query: "?properties=" });
    expect(featuresOf(bare.bytes, "dense")).toHaveLength(4_000);
    const close = await tile("dense", "WebMercatorQuad/9/252/265");
    expect([close.status, close.headers.get("x-tile-thinned")]).toEqual([200, null]);
    // As if it had a thousand times more: chosen of a sample of its pages.
    await service.db.sql`update geo.layers set feature_count = 9000000, version = version + 1 where name = 'dense'`;
    await service.db
      .sql`insert into geo.layer_versions (tenant_id, name, version, mode, table_name, feature_count, columns, key_column, source)
      select tenant_id, name, version, 'append', table_name, feature_count, columns, key_column, source from geo.layers where name = 'dense'`;
    const sampled = await tile("dense", "WebMercatorQuad/0/0/0", { query: "?properties=" });
    expect(featuresOf(sampled.bytes, "dense").length).toBeLessThan(4_000);
  });

  test("TileJSON has addresses that need no key, for that layer and for no other, and its own is such a one too", async () => {
    const { body } = await service.call("GET", "/ogc/collections/grid/tiles/WebMercatorQuad");
    const own = body.links.find(({ rel }: Loose) => rel === "describedby").href;
    const told = (await (await fetch(own)).json()) as Loose;
    expect(told).toMatchObject({
      tilejson: "3.0.0",
      minzoom: 0,
      vector_layers: [{ id: "grid", fields: { n: "integer" } }],
    });
    expect(told.bounds).toEqual([0, 40, 19, 45]);
    const address = told.tiles[0].replace("{z}", "0").replace("{y}", "0").replace("{x}", "0");
    const answer = await fetch(address);
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "private, max-age=86400, immutable"]);
    const wrong = [
      address.replace("/grid/", "/utm/"),
      address.replace("tenant=default", "tenant=other"),
      address.replace(/signature=[^&]{4}/, "signature=AAAA"),
      address.replace(/expires=\d/, "expires=9"),
      address.replace(/&signature=[^&]*/, ""),
    ];
    for (const one of wrong) expect([one, (await fetch(one)).status]).toEqual([one, 401]);
    // It opens tiles, and nothing else of the layer.
    expect((await fetch(address.replace(/\/tiles\/[^?]*/, "/items"))).status).toBe(401);
    await putLayer(service.db, {
      name: "grid",
      columns: grid_columns,
      rows: gridRows(100),
      geometry_type: "Point",
      time_column: "seen",
    });
    const later = await fetch(address);
    expect([later.status, later.headers.get("cache-control")]).toEqual([200, "private, no-cache"]);
    expect(featuresOf(new Uint8Array(await later.arrayBuffer()), "grid")).toHaveLength(100);
  });

  test("pages of origins that the operator names may fetch them", async () => {
    const open = await openService({}, { cors_origins: ["https://maps.example"] });
    try {
      const answer = await fetch(`${open.url}/ogc`, { headers: { origin: "https://maps.example" } });
      expect(answer.headers.get("access-control-allow-origin")).toBe("https://maps.example");
      // A database without PostGIS says what is missing.
      const none = await open.call("GET", "/ogc/collections");
      expect([none.status, none.body.hint]).toEqual([503, expect.stringContaining("PostGIS")]);
    } finally {
      await open.close();
    }
  });
});
