// The low zooms of large layers: made with the layer, without holes, whole again where nothing has to be left out, and gone with its table.
import { VectorTile } from "@mapbox/vector-tile";
import { PbfReader } from "pbf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Layers } from "../../src/catalog/layers.js";
import { pyramid_caps, tile_buffer, tile_extent, tileCaps } from "../../src/geo/layers/tile_caps.js";
import { tileBox, tileMatrixSet } from "../../src/geo/layers/tile_matrix_sets.js";
import { catalogHere, RasterWorld, type WorldKind } from "../jobs/raster_world.js";

const here = await catalogHere("server");
const kinds: WorldKind[] = here.skip ? ["embedded"] : ["server", "embedded"];
const columns = [{ name: "n", type: "integer", pg_type: "bigint", source_name: "n" }];

describe.each(kinds)("low zooms on the %s database", (kind) => {
  let world: RasterWorld;
  beforeAll(async () => {
    world = await RasterWorld.open(kind);
  }, 600_000);
  afterAll(() => world?.close());

  /** As a load leaves and publishes it. */
  async function layer(
    name: string,
    rows: string,
    { srid = 4326, mode = "create", extent = [-180, -85, 180, 85] } = {},
  ) {
    const spec = { columns, srid, has_geometry: true };
    const [made] = await world.db.sql<{ table: string }>`
      select geo.make_candidate('pyramid', ${name}, ${JSON.stringify(spec)}::text::jsonb) as table`;
    await world.db.script(
      `insert into geo.${made!.table} (fid, n, geom) ${rows}; alter table geo.${made!.table} add primary key (fid)`,
    );
    const [count] = await world.db.sql<{ n: number }>`
      select n_live_tup::int as n from pg_stat_user_tables where relname = ${made!.table}`;
    const request = { layer: name, columns, zooms: pyramid_caps, extent: tile_extent, buffer: tile_buffer };
    const [pyramid] = await world.db.sql<{ made: { zooms: number; tiles: number } }>`
      select geo.make_pyramid(${made!.table}, ${JSON.stringify(request)}::text::jsonb) as made`;
    const row_count = Number(rows.match(/\d+(?=\) i$)/)?.[0] ?? count?.n);
    const published = { mode, columns, geometry_type: "Geometry", row_count, source: {}, extent };
    await world.db.sql`select geo.publish_layer(${made!.table}, ${name}, ${JSON.stringify(published)}::text::jsonb)`;
    return { table: made!.table, ...pyramid!.made };
  }

  async function tile(name: string, [zoom, column, row]: [number, number, number], more: Record<string, unknown> = {}) {
    const set = tileMatrixSet("WebMercatorQuad")!;
    const layers = new Layers("default");
    const { version } = (await layers.layer(world.db, name))!;
    const question = { layer: name, version, srid: 3857, extent: tile_extent, buffer: tile_buffer, ...tileCaps(zoom) };
    const box = tileBox({ set, zoom, row, column });
    return layers.tile(world.db, { ...question, box, place: { zoom, column, row }, ...more });
  }

  /** The boxes of what a tile shows, in its own units. */
  async function shown(name: string, place: [number, number, number], more = {}): Promise<number[][]> {
    const read = (await tile(name, place, more))!;
    if (read.tile !== null) {
      const drawn = new VectorTile(new PbfReader(read.tile)).layers[name];
      return Array.from({ length: drawn?.length ?? 0 }, (_, at) => drawn!.feature(at).bbox());
    }
    return read.features!.map(([, geometry]) => {
      const all = (geometry.coordinates as unknown[]).flat(9) as number[];
      const [xs, ys] = [all.filter((_, at) => at % 2 === 0), all.filter((_, at) => at % 2 === 1)];
      return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    });
  }

  test("small areas that cover the world cover it at every zoom", { timeout: 120_000 }, async () => {
    // Squares of a degree and a half, from -60 to 60.
    const made = await layer(
      "cover",
      "select i, i, st_makeenvelope(-180 + i % 240 * 1.5, -60 + i / 240 * 1.5, -178.5 + i % 240 * 1.5, -58.5 + i / 240 * 1.5, 4326) from generate_series(0, 19199) i",
    );
    expect(made.zooms).toBeGreaterThan(0);
    for (const place of [
      [0, 0, 0],
      [1, 0, 0],
    ] as [number, number, number][]) {
      if (place[0] >= made.zooms) continue;
      const boxes = await shown("cover", place);
      // Every 32 units down the middle, from 55° north to where the layer or the tile ends.
      const side = 4096 * 2 ** place[0];
      const row = (latitude: number) =>
        (0.5 - Math.log(Math.tan(Math.PI / 4 + (latitude * Math.PI) / 360)) / (2 * Math.PI)) * side;
      const bottom = Math.min(row(-55), 4096);
      const holes: string[] = [];
      for (let y = row(55); y < bottom; y += 32)
        for (let x = 16; x < 4096; x += 32)
          if (!boxes.some(([w, n, e, s]) => w! <= x && x <= e! && n! <= y && y <= s!))
            holes.push(`${x} ${Math.round(y)}`);
      expect([place, holes]).toEqual([place, []]);
    }
    // Without what was made, there are holes: that is what it is for.
    const thinned = await shown("cover", [0, 0, 0], { place: undefined });
    expect(thinned.length).toBeLessThanOrEqual(tileCaps(0).most_features);
  });

  test("points are thinned out evenly, lines stay seen, and from some zoom on all is there", {
    timeout: 120_000,
  }, async () => {
    const points = await layer(
      "points",
      "select i, i, st_setsrid(st_makepoint((i % 200) / 10.0, 0.05 + (i / 200) / 10.0), 4326) from generate_series(0, 19999) i",
    );
    const boxes = await shown("points", [0, 0, 0]);
    // One for each of the 64 × 64 cells that has any.
    const cells = Array.from({ length: 20_000 }, (_, at) => {
      const [lon, lat] = [(at % 200) / 10, 0.05 + Math.floor(at / 200) / 10];
      const y = 0.5 - Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI);
      return `${Math.floor(((lon + 180) / 360) * 64)} ${Math.floor(y * 64)}`;
    });
    expect(boxes).toHaveLength(new Set(cells).size);
    const deep = points.zooms;
    const side = 2 ** deep;
    const y = Math.floor((0.5 - Math.log(Math.tan(Math.PI / 4 + (5 * Math.PI) / 360)) / (2 * Math.PI)) * side);
    const below = (await tile("points", [deep, Math.floor((190 / 360) * side), y]))!;
    expect(below.thinned).toBe(false);
    await layer(
      "lines",
      "select i, i, st_setsrid(st_makeline(st_makepoint(i % 100 / 100.0, i / 100 / 100.0), st_makepoint(i % 100 / 100.0 + 0.01, i / 100 / 100.0)), 4326) from generate_series(0, 9999) i",
      { srid: 4326 },
    );
    const lines = await shown("lines", [0, 0, 0]);
    expect(lines.length).toBeGreaterThan(0);
    for (const [west, , east] of lines) expect(east! - west!).toBeGreaterThan(32);
  });

  test("a question about a part of the layer is answered from the layer, and rows that are added take the tiles away", {
    timeout: 120_000,
  }, async () => {
    const dots = "select i, i, st_setsrid(st_makepoint(10 + (i % 100) / 1000.0, 10 + (i / 100) / 1000.0), 4326)";
    await layer("parts", `${dots} from generate_series(0, 9999) i`);
    expect(await shown("parts", [0, 0, 0])).toHaveLength(1);
    expect((await tile("parts", [0, 0, 0]))!.thinned).toBe(true);
    expect((await tile("parts", [0, 0, 0], { key: "7" }))!).toMatchObject({ count: 1, thinned: false });
    expect((await tile("parts", [0, 0, 0], { as_features: true }))!.tile === null).toBe(true);
    const before = await world.db
      .sql`select zoom from geo.pyramid_tiles p join geo.layers l using (table_name) where l.name = 'parts'`;
    expect(before.length).toBeGreaterThan(0);
    await layer("parts", `${dots} from generate_series(0, 99) i`, { mode: "append" });
    const after = await world.db
      .sql`select zoom from geo.pyramid_tiles p join geo.layers l using (table_name) where l.name = 'parts'`;
    expect(after).toEqual([]);
    expect((await shown("parts", [0, 0, 0])).length).toBeGreaterThan(1000);
  });

  test("tiles go with the table of their version", { timeout: 60_000 }, async () => {
    const dots = "select i, i, st_setsrid(st_makepoint(i % 100, i / 100 / 2.0), 4326) from generate_series(0, 9999) i";
    const first = await layer("swept", dots);
    await layer("swept", dots, { mode: "replace" });
    await world.db.sql`update geo.tables set doomed_at = now() where table_name = ${first.table}`;
    await world.db.sql`select geo.sweep_tables()`;
    expect(await world.db.sql`select table_name from geo.pyramids where table_name = ${first.table}`).toEqual([]);
    expect(
      await world.db
        .sql`select table_name from geo.pyramids p join geo.layers l using (table_name) where l.name = 'swept'`,
    ).toHaveLength(1);
  });
});
