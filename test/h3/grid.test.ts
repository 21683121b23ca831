// create_h3_grid and cascade_h3 on a real database with a real worker: exact cells, valid outlines, few connections, resumed after a kill.
import * as h3 from "h3-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalogHere, RasterWorld } from "../jobs/raster_world.js";
import { featuresOf, layerOf } from "../vector/layer_rows.js";
import { collection, feature } from "../vector/vector_files.js";
import { cellsOf, invalidCells, sampleConnections } from "./cell_rows.js";

const here = await catalogHere("server");
const slots = 4;

describe.skipIf(here.skip)(`grids of cells${here.name}`, () => {
  let world: RasterWorld;
  beforeAll(async () => {
    world = await RasterWorld.open("server");
    await world.worker({ slots });
  }, 60_000);
  afterAll(() => world?.close());

  test("the whole world has every cell once, each with a valid outline, and few connections are open", {
    timeout: 60_000,
  }, async () => {
    const sampled = sampleConnections(world.db);
    const job = await world.run("create_h3_grid", { layer: "world_2", resolution: 2, register: false });
    const most = await sampled();
    expect(job.error).toBeNull();
    expect(most).toBeLessThanOrEqual(slots + 2);
    expect(await cellsOf(world.db, "world_2")).toEqual(
      h3
        .getRes0Cells()
        .flatMap((base) => h3.cellToChildren(base, 2))
        .sort(),
    );
    expect(await invalidCells(world.db, "world_2")).toEqual({ invalid: 0, off_the_map: 0, area: 360 * 180 });
    expect(await layerOf(world.db, "world_2")).toMatchObject({
      geometry_type: "MultiPolygon",
      feature_count: 5882,
      extent: [-180, -90, 180, 90],
    });
  });

  test("land is what PostGIS finds with the same polygons, and its cells are those whose centre is on it", {
    timeout: 60_000,
  }, async () => {
    const square = [
      [
        [5, 45],
        [11, 45],
        [11, 48],
        [5, 48],
        [5, 45],
      ],
      [
        [7, 46],
        [8, 46],
        [8, 47],
        [7, 47],
        [7, 46],
      ],
    ];
    const overlapping = [
      [
        [10, 44],
        [13, 44],
        [12, 47],
        [10, 44],
      ],
    ];
    const other = [
      [
        [20, 44],
        [21, 44],
        [21, 45],
        [20, 44],
      ],
    ];
    const polygon = (coordinates: number[][][]) => ({ type: "Polygon", coordinates });
    world.put(
      "bronze:areas.geojson",
      collection([
        feature({ code: "A" }, polygon(square)),
        feature({ code: "A" }, polygon(overlapping)),
        feature({ code: "B" }, polygon(other)),
      ]),
    );
    await world.run("process_vector", { source: "bronze:areas.geojson", register: false });
    const within = { layer: "areas", where: { code: "A" } };
    const job = await world.run("create_h3_grid", {
      layer: "alps_5",
      resolution: 5,
      within,
      geometry: "point",
      register: false,
    });
    expect(job.error).toBeNull();
    const found = await cellsOf(world.db, "alps_5");
    const everywhere = h3.polygonToCells(
      [
        [43, 4],
        [43, 14],
        [49, 14],
        [49, 4],
      ],
      5,
    );
    const points = JSON.stringify(everywhere.map((cell) => [cell, ...h3.cellToLatLng(cell)]));
    const areas = (await layerOf(world.db, "areas"))!;
    await world.db.script(`create view public.areas_of_a_test as select * from geo.${areas.table_name}`);
    const expected = await world.db.sql<{ cell: string }>`
      select distinct p ->> 0 as cell from jsonb_array_elements(${points}::text::jsonb) p
        join public.areas_of_a_test a on a.code = 'A' and st_contains(a.geom, st_setsrid(st_makepoint((p ->> 2)::float8, (p ->> 1)::float8), 4326))
       order by 1`;
    expect(found.length).toBeGreaterThan(100);
    expect(found).toEqual(expected.map(({ cell }) => cell));

    await world.run("create_h3_grid", { layer: "alps_4", resolution: 4, within, members: "overlap", register: false });
    const touched = await world.db.sql<{ cell: string }>`
      select distinct h.h3 as cell from public.areas_of_a_test a join (
        select p ->> 0 as h3, st_geomfromgeojson(p ->> 1) as geom from jsonb_array_elements(${JSON.stringify(
          h3
            .polygonToCells(
              [
                [42, 3],
                [42, 15],
                [50, 15],
                [50, 3],
              ],
              4,
            )
            .map((cell) => [cell, { type: "Polygon", coordinates: [h3.cellToBoundary(cell, true)] }]),
        )}::text::jsonb) p) h on a.code = 'A' and st_intersects(a.geom, h.geom) order by 1`;
    expect(await cellsOf(world.db, "alps_4")).toEqual(touched.map(({ cell }) => cell));
  });

  test("an extent over the antimeridian and the land within it", { timeout: 60_000 }, async () => {
    await world.run("create_h3_grid", { layer: "fiji", resolution: 4, extent: [176, -20, -178, -15], register: false });
    const box = await cellsOf(world.db, "fiji");
    expect(box.length).toBeGreaterThan(50);
    for (const cell of box) {
      const [lat, lon] = h3.cellToLatLng(cell);
      expect(lat > -20 && lat < -15 && (lon > 176 || lon < -178)).toBe(true);
    }
    await world.run("create_h3_grid", {
      layer: "fiji_land",
      resolution: 4,
      extent: [176, -20, -178, -15],
      land: true,
      register: false,
    });
    const land = await cellsOf(world.db, "fiji_land");
    expect(land.length).toBeGreaterThan(3);
    expect(land.length).toBeLessThan(box.length / 2);
    expect(box).toEqual(expect.arrayContaining(land));
    expect(await invalidCells(world.db, "fiji_land")).toMatchObject({ invalid: 0, off_the_map: 0 });
  });

  test("a cascade has all descendants, pentagons too, in one layer or in one for each resolution", {
    timeout: 60_000,
  }, async () => {
    const pentagon = h3.getPentagons(1)[3]!;
    const [lat, lon] = h3.cellToLatLng(pentagon);
    await world.run("create_h3_grid", {
      layer: "few",
      resolution: 1,
      extent: [lon - 12, lat - 10, lon + 12, lat + 10],
      register: false,
    });
    const parents = await cellsOf(world.db, "few");
    expect(parents).toContain(pentagon);
    const sampled = sampleConnections(world.db);
    const job = await world.run("cascade_h3", { from_layer: "few", from: 2, to: 4, layer: "deep", register: false });
    expect(await sampled()).toBeLessThanOrEqual(slots + 2);
    expect(job.error).toBeNull();
    const expected = [2, 3, 4].flatMap((r) => parents.flatMap((cell) => h3.cellToChildren(cell, r))).sort();
    expect(await cellsOf(world.db, "deep")).toEqual(expected);
    expect(await invalidCells(world.db, "deep")).toMatchObject({ invalid: 0, off_the_map: 0 });

    const split = { from_layer: "few", from: 2, to: 3, layer: "each", split_by: "resolution", geometry: "none" };
    await world.run("cascade_h3", { ...split, register: false });
    for (const r of [2, 3]) {
      expect(await cellsOf(world.db, `each_${r}`)).toEqual(
        parents.flatMap((cell) => h3.cellToChildren(cell, r)).sort(),
      );
    }
  });

  test("what cannot be is refused before any work, with what to do", { timeout: 60_000 }, async () => {
    const refused = async (type: string, parameters: Record<string, unknown>) =>
      (await world.run(type, { layer: "never", ...parameters })).error?.message;
    expect(await refused("create_h3_grid", { resolution: 9 })).toMatch(/more than 20000000 cells: choose a coarser/);
    expect(await refused("create_h3_grid", { resolution: 3, within: { layer: "nowhere" } })).toMatch(
      /no layer "nowhere"/,
    );
    expect(await refused("create_h3_grid", { resolution: 3, within: { layer: "areas", where: { x: 1 } } })).toMatch(
      /has no columns x/,
    );
    expect(await refused("create_h3_grid", { resolution: 1, indexes: ["size"] })).toMatch(/no columns size/);
    expect(await refused("cascade_h3", { from_layer: "few", to: 0 })).toMatch(/are of resolution 1/);
    expect(await refused("cascade_h3", { from_layer: "few", to: 9, max_cells: 1000 })).toMatch(/more than 1000/);
    expect(await refused("cascade_h3", { from_layer: "areas", to: 9 })).toMatch(/no column h3/);
    expect(await refused("create_h3_grid", { layer: "few", resolution: 1 })).toMatch(
      /layers of these names already: few/,
    );
    await expect(world.submit("create_h3_grid", { layer: "x", resolution: 16, extent: [1, 5, 1, 5] })).rejects.toThrow(
      /resolution[\s\S]*|extent/,
    );
    expect(await layerOf(world.db, "never")).toBeNull();
  });

  test("a dry run plans and makes nothing", { timeout: 60_000 }, async () => {
    const job = await world.run("create_h3_grid", { layer: "dry", resolution: 6, land: true, dry_run: true });
    expect(job.result).toMatchObject({ dry_run: true, layers: [{ layer: "dry" }] });
    expect(await layerOf(world.db, "dry")).toBeNull();
    expect(await featuresOf(world.db, (await layerOf(world.db, "few"))!)).not.toHaveLength(0);
  });
});
