// Layers as the services read them, on either kind of database: the same features, filters, places and tiles, whatever makes the tiles.
import { VectorTile } from "@mapbox/vector-tile";
import { PbfReader } from "pbf";
import { beforeAll, expect, test } from "vitest";
import { type FeatureQuery, Layers, type TileQuery } from "../../src/catalog/layers.js";
import type { Database } from "../../src/engine/database/database.js";
import { normalFilter } from "../../src/geo/cql2/filter.js";
import { filterNames } from "../../src/geo/layers/layer.js";
import { writeMvt } from "../../src/geo/layers/mvt.js";
import { tileBox, tileMatrixSet } from "../../src/geo/layers/tile_matrix_sets.js";
import { grid_columns, gridRows, putLayer } from "../server/ogc/layers.js";
import { bothCatalogs, catalog_kinds } from "./catalogs.js";

bothCatalogs(
  "layers",
  (open) => {
    let db: Database;
    let layers: Layers;
    const usual = { version: 1, srid: 4326, flips: false, digits: 9, rows: 1000, bytes: 1e7 };
    const read = async (query: Partial<FeatureQuery> & { layer: string }) => {
      const piece = await layers.features(db, { ...usual, ...query });
      // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
      return JSON.parse(`[${piece?.text}]`) as any[];
    };

    beforeAll(async () => {
      const opened = await open();
      db = opened.db;
      layers = new Layers(opened.tenant);
      const { tenant } = opened;
      const grid = { tenant, columns: grid_columns, geometry_type: "Point", time_column: "seen" };
      await putLayer(db, { ...grid, name: "grid", rows: gridRows(100) });
      await putLayer(db, { ...grid, name: "utm", srid: 32633, rows: gridRows(100, { srid: 32633 }) });
      await putLayer(db, { ...grid, name: "laea", srid: 3035, rows: gridRows(10, { srid: 3035 }) });
    });

    test("a feature has its values as JSON has them, and its place in any system", async () => {
      const [one] = await read({ layer: "grid", key: "23" });
      expect(one).toEqual({
        type: "Feature",
        id: 23,
        geometry: { type: "Point", coordinates: [3, 40.5] },
        properties: {
          name: "Näme 23",
          n: 3,
          weight: 5.75,
          good: false,
          day: "2024-01-24",
          seen: "2024-01-24T12:00:00+00:00",
          tags: ["t2", "all"],
        },
      });
      const [utm] = await read({ layer: "utm", key: "23" });
      expect(utm.geometry.coordinates.map((x: number) => x.toFixed(5))).toEqual(["3.00000", "40.50000"]);
      const [mercator] = await read({ layer: "utm", key: "23", srid: 3857, digits: 0 });
      expect(mercator.geometry.coordinates).toEqual([333958, 4938869]);
    });

    test("north comes first where EPSG says so", async () => {
      const flips = Object.fromEntries((await layers.list(db, { limit: 10 })).map(({ name, flips }) => [name, flips]));
      expect(flips).toEqual({ grid: true, utm: false, laea: true });
    });

    test("filters, boxes and orders find the same", async () => {
      const ids = async (query: Partial<FeatureQuery>) =>
        (await Promise.all(
          ["grid", "utm"].map(async (layer) => (await read({ layer, ...query })).map(({ id }) => id)),
        )) as [number[], number[]];
      const layer = (await layers.layer(db, "grid"))!;
      const filter = (text: string) => ({ filter: normalFilter(text, filterNames(layer, true)) });
      for (const [query, right] of [
        [filter("n = 3 AND good = false AND CASEI(name) LIKE 'näme%'"), [3, 13, 23, 33, 43, 53, 73, 83, 93]],
        [filter("S_INTERSECTS(geometry, BBOX(2.5, 40.2, 4.5, 41.2)) OR A_CONTAINS(tags, ('t9'))"), [23, 24, 43, 44]],
        [filter("S_CONTAINS(POLYGON((2.5 40.2, 4.5 40.2, 4.5 41.2, 2.5 41.2, 2.5 40.2)), geometry)"), [23, 24, 43, 44]],
        [filter("T_DURING(seen, INTERVAL('2024-04-06T12:00:00Z', '..'))"), [97, 98, 99, 100]],
        [{ starts: "2024-04-08T12:00:00Z" }, [98, 99, 100]],
        [{ bbox: { type: "Point", coordinates: [3, 40.5] }, bbox_srid: 4326 }, [23]],
        [{ sort: [{ column: "name", descending: true }], after: [null, "77"] }, [84, 91, 98]],
      ] as const) {
        const [plain, utm] = await ids(query as Partial<FeatureQuery>);
        expect(plain).toEqual(right);
        // The one point is not quite where it was after going there and back.
        if (!("bbox" in query)) expect(utm).toEqual(right);
        expect(
          await layers.count(db, { layer: "grid", version: 1, ...(("sort" in query ? {} : query) as object) }),
        ).toBe("sort" in query ? 100 : right.length);
      }
    });

    test("pieces end where their bytes or rows do, and go on from there", async () => {
      const first = await layers.features(db, { ...usual, layer: "grid", bytes: 1000 });
      expect(first).toMatchObject({ more: true, after: [String(first?.rows)] });
      expect(first?.rows).toBeLessThan(10);
      const rest = await layers.features(db, { ...usual, layer: "grid", after: first!.after! });
      expect([first!.rows + rest!.rows, rest?.more]).toEqual([100, false]);
      expect(await layers.features(db, { ...usual, layer: "grid", version: 7 })).toBeNull();
    });

    test("a plan for several processes does not come in the way", async () => {
      await db.transaction(async (tx) => {
        // Called so until Postgres 15, and from 16 on.
        await tx.sql`select set_config(name, 'on', true) from pg_settings where name in ('force_parallel_mode', 'debug_parallel_query')`;
        const box = { bbox: { type: "Point", coordinates: [3, 40.5] }, bbox_srid: 4326 };
        expect(await layers.count(tx, { layer: "utm", version: 1, ...box })).toBeLessThan(2);
        const world = tileBox({ set: tileMatrixSet("WebMercatorQuad")!, zoom: 0, row: 0, column: 0 });
        const tile = { layer: "utm", version: 1, srid: 3857, box: world, extent: 4096, buffer: 64, most_bytes: 1e6 };
        expect(await layers.tile(tx, { ...tile, most_features: 10 })).toMatchObject({ count: 10, thinned: true });
      });
    });

    test("a tile holds the features that are in it", async () => {
      const set = tileMatrixSet("WebMercatorQuad")!;
      const asked: TileQuery = {
        layer: "utm",
        version: 1,
        srid: 3857,
        box: tileBox({ set, zoom: 6, row: 24, column: 32 }),
        extent: 4096,
        buffer: 64,
        most_features: 100,
        most_bytes: 1e6,
      };
      const made = await layers.tile(db, asked);
      const bytes =
        made?.tile ??
        writeMvt(
          "utm",
          4096,
          made!.features!.map(([id, geometry, properties]) => ({ id, geometry, properties })),
        );
      expect(made?.tile === null).toBe(db.kind === "embedded");
      const read_back = new VectorTile(new PbfReader(bytes)).layers.utm!;
      const ids = Array.from({ length: read_back.length }, (_, n) => read_back.feature(n).id!).sort((a, b) => a - b);
      // Longitudes 0 to 5.6, latitudes 36.6 to 41, and a little more.
      expect(ids).toEqual([1, 2, 3, 4, 5, 20, 21, 22, 23, 24, 25, 40, 41, 42, 43, 44, 45]);
      expect(read_back.feature(0).properties).toMatchObject({
        tags: expect.stringContaining("all"),
        seen: expect.stringMatching(/^2024-01-..T12:00:00/),
      });
    });
  },
  catalog_kinds.slice(0, 1),
);
