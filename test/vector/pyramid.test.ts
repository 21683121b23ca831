// The low zooms of large layers: made with the layer, without holes, whole again where nothing has to be left out, and gone with its table.
import { VectorTile } from "@mapbox/vector-tile";
import { PbfReader } from "pbf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Layers } from "../../src/catalog/layers.js";
import { pyramid_caps, tile_buffer, tile_extent, tileCaps } from "../../src/geo/layers/tile_caps.js";
import { tileBox, tileMatrixSet } from "../../src/geo/layers/tile_matrix_sets.js";
import { catalogHere, RasterWorld, type WorldKind } from "../jobs/raster_world.js";
import { collection, feature, point } from "./vector_files.js";

const here = await catalogHere("server");
const kinds: WorldKind[] = here.skip ? ["embedded"] : ["server", "embedded"];
const column = (name: string, type = "integer", pg_type = "bigint") => ({ name, type, pg_type, source_name: name });
const only_n = [column("n")];

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
    {
      srid = 4326,
      mode = "create",
      extent = [-180, -85, 180, 85],
      columns = only_n,
      zooms = pyramid_caps,
      timeout = "0",
    } = {},
  ) {
    const spec = { columns, srid, has_geometry: true };
    const [made] = await world.db.sql<{ table: string }>`
      select geo.make_candidate('pyramid', ${name}, ${JSON.stringify(spec)}::text::jsonb) as table`;
    await world.db.script(
      `insert into geo.${made!.table} (fid, ${columns.map((one) => one.name).join(", ")}, geom) ${rows}; alter table geo.${made!.table} add primary key (fid)`,
    );
    const [count] = await world.db.sql<{ n: number }>`
      select n_live_tup::int as n from pg_stat_user_tables where relname = ${made!.table}`;
    const request = { layer: name, columns, zooms, extent: tile_extent, buffer: tile_buffer };
    const [pyramid] = await world.db.transaction(async (tx) => {
      await tx.sql`select set_config('statement_timeout', ${timeout}, true)`;
      return tx.sql<{ made: { zooms: number; tiles: number; why?: string } }>`
        select geo.make_pyramid(${made!.table}, ${JSON.stringify(request)}::text::jsonb) as made`;
    });
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

  async function properties(name: string, place: [number, number, number]): Promise<Record<string, unknown>[]> {
    const read = (await tile(name, place))!;
    if (read.tile === null) return read.features!.map(([, , own]) => own as Record<string, unknown>);
    const drawn = new VectorTile(new PbfReader(read.tile)).layers[name]!;
    return Array.from({ length: drawn.length }, (_, at) => drawn.feature(at).properties);
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

  test("columns may have any name that a column can have", { timeout: 120_000 }, async () => {
    const columns = ["x", "y", "is_small", "v", "m"].map((name) => column(name));
    const dots = "st_setsrid(st_makepoint(i % 100, i / 100 / 2.0), 4326) from generate_series(0, 9999) i";
    const made = await layer("named", `select i, i, i, i, i, i, ${dots}`, { columns });
    expect(made.why).toBeUndefined();
    expect(made.zooms).toBeGreaterThan(0);
    const [first, ...others] = await properties("named", [0, 0, 0]);
    expect(others.length).toBeGreaterThan(100);
    expect(Object.keys(first!).sort()).toEqual(["is_small", "m", "v", "x", "y"]);
    expect(new Set(Object.values(first!)).size).toBe(1);
    expect((await tile("named", [0, 0, 0], { place: undefined }))!.count).toBeGreaterThan(100);
  });

  test("a zoom above one that needed a coarser grid has no holes", { timeout: 120_000 }, async () => {
    // Nine sixteenths of a tile of zoom 5, each cell of the finest grid with an area and a text so long that tiles of it get too heavy.
    const cell = `40075016.68557849 / ${32 * 128}`;
    const left = (at: string) => `(${at}) * ${cell}`;
    const box = `${left("i % 96 + 0.05")}, ${left(`${2 * 128} - i / 96 - 0.95`)}, ${left("i % 96 + 0.95")}, ${left(`${2 * 128} - i / 96 - 0.05`)}`;
    const made = await layer(
      "heavy",
      `select i, repeat(md5(i::text), 12) || 'of sixteen bytes', st_makeenvelope(${box}, 3857) from generate_series(0, 9215) i`,
      { srid: 3857, columns: [column("words", "string", "text")] },
    );
    expect(made.zooms).toBe(6);
    expect((await shown("heavy", [5, 16, 14])).length).toBeLessThan(48 ** 2);
    for (const [place, side] of [
      [[5, 16, 14], 3072],
      [[4, 8, 7], 1536],
      [[3, 4, 3], 0],
    ] as [[number, number, number], number][]) {
      const boxes = await shown("heavy", place);
      const holes: string[] = [];
      for (let y = 8; y < side; y += 16)
        for (let x = 8; x < side; x += 16)
          if (!boxes.some(([w, n, e, s]) => w! <= x && x <= e! && n! <= y && y <= s!)) holes.push(`${x} ${y}`);
      expect([place, holes]).toEqual([place, []]);
    }
  });

  test("what does not work leaves the layer published and read as it is", { timeout: 120_000 }, async () => {
    await world.db.script(`
      create function public.no_tiles() returns trigger language plpgsql as $$ begin raise exception 'no room for tiles'; end $$;
      create trigger no_tiles before insert on geo.pyramid_tiles for each row when (new.zoom = 0) execute function public.no_tiles()`);
    const dots = "select i, i, st_setsrid(st_makepoint(i % 100, i / 100 / 2.0), 4326) from generate_series(0, 9999) i";
    try {
      const made = await layer("unlucky", dots);
      expect(made).toMatchObject({ zooms: 0, tiles: 0, why: "no room for tiles" });
      expect(await world.db.sql`select zooms from geo.pyramids where table_name = ${made.table}`).toEqual([]);
      expect(await world.db.sql`select zoom from geo.pyramid_tiles where table_name = ${made.table}`).toEqual([]);
    } finally {
      await world.db.script("drop trigger no_tiles on geo.pyramid_tiles; drop function public.no_tiles()");
    }
    expect((await shown("unlucky", [0, 0, 0])).length).toBeGreaterThan(1000);
    expect((await layer("unlucky", dots, { mode: "replace" })).zooms).toBeGreaterThan(0);
  });

  test("features too heavy for every grid are left to the layer, and so are zooms where they reach over too many tiles", {
    timeout: 120_000,
  }, async () => {
    // Areas of 30° that hold 400 bytes each: larger than the largest cell, so all of them stay.
    const wide =
      "select i, repeat(md5(i::text), 12), st_makeenvelope(i % 7, i % 11, 30 + i % 7, 30 + i % 11, 4326) from generate_series(0, 119) i";
    const zooms = [0, 1].map(() => ({ most_features: 100, most_bytes: 20_000 }));
    const heavy = await layer("too_heavy", wide, { columns: [column("words", "string", "text")], zooms });
    expect(heavy).toMatchObject({ zooms: 0, tiles: 0 });
    expect(heavy.why).toBeUndefined();
    expect(await world.db.sql`select zooms from geo.pyramids where table_name = ${heavy.table}`).toEqual([]);
    expect(await shown("too_heavy", [0, 0, 0])).toHaveLength(120);
    // The same, light enough for zoom 0 where the closer one has less room.
    const [far, close] = [{ ...zooms[0]!, most_bytes: 2_000_000 }, zooms[1]!];
    const lighter = await layer("less_heavy", wide, {
      columns: [column("words", "string", "text")],
      zooms: [far, close],
    });
    expect(lighter).toMatchObject({ zooms: 1, tiles: 1 });
    // Each has 64 tiles of zoom 3 and 256 of zoom 4, which would be more than a million.
    const bounded = await world.db.transaction(async (tx) => {
      await tx.sql`
        create temporary table pyramid_places on commit drop as
          select i as fid, 2 as kind, 0::double precision as x0, 0::double precision as y0, 1::double precision as x1, 1::double precision as y1
            from generate_series(1, 5000) i`;
      const [row] = await tx.sql<{ zooms: number }>`
        select geo.pyramid_zooms(${JSON.stringify(pyramid_caps)}::text::jsonb) as zooms`;
      return row!.zooms;
    });
    expect(bounded).toBe(4);
  });

  test.runIf(kind === "server")(
    "a job whose low zooms fail publishes its layer, and warns",
    { timeout: 60_000 },
    async () => {
      const worker = await world.worker({ raster: { engine: "wasm" } });
      world.put(
        "bronze:warned.geojson",
        collection(Array.from({ length: 4100 }, (_, at) => feature({ n: at }, point(at % 100, at / 100)))),
      );
      await world.db.script("alter table geo.pyramid_tiles add constraint no_room check (zoom < 0) not valid");
      try {
        const job = await world.run("process_vector", {
          source: "bronze:warned.geojson",
          layer: "warned",
          register: false,
        });
        expect(job).toMatchObject({ status: "completed", error: null });
      } finally {
        await world.db.script("alter table geo.pyramid_tiles drop constraint no_room");
        await worker.stop();
      }
      const said = await world.db
        .sql`select message from app.task_logs where level = 'warn' and message like 'low zooms%'`;
      expect(said).toEqual([
        { message: expect.stringMatching(/^low zooms of layer warned were not made: .*"no_room"/) },
      ]);
      expect((await tile("warned", [0, 0, 0]))!.thinned).toBe(true);
    },
  );

  test.runIf(kind === "server")("low zooms that take too long are given up", { timeout: 60_000 }, async () => {
    await world.db.script(`
      create function public.slow_tiles() returns trigger language plpgsql as $$ begin perform pg_sleep(3600); return new; end $$;
      create trigger slow_tiles before insert on geo.pyramid_tiles for each row execute function public.slow_tiles()`);
    try {
      const dots = "select i, i, st_setsrid(st_makepoint(i % 100, i / 100), 4326) from generate_series(0, 4999) i";
      const made = await layer("slow", dots, { timeout: "1s" });
      expect(made).toMatchObject({ zooms: 0, tiles: 0, why: expect.stringContaining("statement timeout") });
      expect(await world.db.sql`select zooms from geo.pyramids where table_name = ${made.table}`).toEqual([]);
    } finally {
      await world.db.script("drop trigger slow_tiles on geo.pyramid_tiles; drop function public.slow_tiles()");
    }
  });

  // As JSON, so many features are too heavy for any tile.
  test.runIf(kind === "server")(
    "a tile says that larger features were left out of it",
    { timeout: 120_000 },
    async () => {
      const west = "0.05 + i % 150 / 500.0";
      const south = "0.05 + i / 150 / 500.0";
      const made = await layer(
        "crowd",
        `select i, i % 2, st_makeenvelope(${west}, ${south}, ${west} + 0.1, ${south} + 0.1, 4326) from generate_series(0, 20099) i`,
      );
      expect(made.zooms).toBe(10);
      expect(await shown("crowd", [5, 16, 15])).toHaveLength(20_000);
      expect((await tile("crowd", [5, 16, 15]))!.thinned).toBe(true);
    },
  );

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
