// vector_to_h3 on a real database with a real worker; and connections that are cut in the middle of a cascade.
import * as h3 from "h3-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exactSum } from "../../src/geo/exact_sum.js";
import { catalogHere, RasterWorld } from "../jobs/raster_world.js";
import { collection, feature, point, square } from "../vector/vector_files.js";
import { eventually } from "../worker/shop.js";
import { cellsOf, rowsOf } from "./cell_rows.js";

const here = await catalogHere("server");

describe.skipIf(here.skip)(`features in cells${here.name}`, () => {
  let world: RasterWorld;
  beforeAll(async () => {
    world = await RasterWorld.open("server");
    await world.worker();
  }, 60_000);
  afterAll(() => world?.close());

  test("features are counted where they are, numbers are summed exactly, and the most frequent category is told", {
    timeout: 60_000,
  }, async () => {
    const towns = Array.from({ length: 500 }, (_, i) => ({
      lon: 5 + ((i * 37) % 100) / 20,
      lat: 45 + ((i * 61) % 100) / 25,
      people: i % 9 === 0 ? null : i / 10,
      kind: i % 11 === 0 ? null : ['tab\tand "quote"', "back\\slash", "größe"][i % 3]!,
    }));
    const features = towns.map(({ lon, lat, people, kind }) => feature({ people, kind }, point(lon, lat)));
    world.put("bronze:towns.geojson", collection(features));
    await world.run("process_vector", { source: "bronze:towns.geojson", register: false });
    const job = await world.run("vector_to_h3", {
      from_layer: "towns",
      layer: "towns_4",
      resolution: 4,
      values: [{ column: "people", statistics: ["count", "sum", "mean", "p50"] }],
      category: "kind",
      register: false,
    });
    expect(job.error).toBeNull();
    const expected = new Map<string, typeof towns>();
    for (const town of towns) {
      const cell = h3.latLngToCell(town.lat, town.lon, 4);
      expected.set(cell, [...(expected.get(cell) ?? []), town]);
    }
    const rows = await rowsOf(world.db, "towns_4");
    expect(rows.map((row) => row.h3).sort()).toEqual([...expected.keys()].sort());
    for (const row of rows) {
      const own = expected.get(row.h3 as string)!;
      const people = own.flatMap((town) => (town.people === null ? [] : [town.people])).sort((a, b) => a - b);
      const kinds = new Map<string, number>();
      for (const { kind } of own) if (kind !== null) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      const most = Math.max(...kinds.values());
      const dominant =
        [...kinds]
          .filter(([, n]) => n === most)
          .map(([kind]) => kind)
          .sort()[0] ?? null;
      const total = [...kinds.values()].reduce((sum, n) => sum + n, 0);
      expect(row).toMatchObject({
        count: own.length,
        people_count: people.length,
        people_sum: people.length === 0 ? null : exactSum(people),
        kind_dominant: dominant,
        kind_shares: total === 0 ? null : Object.fromEntries([...kinds].map(([kind, n]) => [kind, n / total])),
      });
    }
  });

  test("a polygon counts at a point on it, and what cannot be asked of a layer is told at once", {
    timeout: 60_000,
  }, async () => {
    world.put(
      "bronze:fields.geojson",
      collection([feature({ size: 1 }, square(10, 50)), feature({ size: 2 }, square(20, 50))]),
    );
    await world.run("process_vector", { source: "bronze:fields.geojson", register: false });
    await world.run("vector_to_h3", { from_layer: "fields", layer: "fields_1", resolution: 1, register: false });
    expect(await cellsOf(world.db, "fields_1")).toEqual(
      [h3.latLngToCell(50.5, 10.5, 1), h3.latLngToCell(50.5, 20.5, 1)].sort(),
    );
    const refused = await world.run("vector_to_h3", {
      from_layer: "towns",
      layer: "never",
      resolution: 1,
      values: [{ column: "kind" }, { column: "area" }],
    });
    expect(refused.error?.message).toMatch(
      /kind is no number, there is no column area: the layer towns has people \(number\)/,
    );
  });

  test("connections that are cut while a cascade is written: nothing is missing and nothing is there twice", {
    timeout: 60_000,
  }, async () => {
    await world.run("create_h3_grid", { layer: "few", resolution: 2, extent: [0, 40, 20, 55], register: false });
    const parents = await cellsOf(world.db, "few");
    const deep = { from_layer: "few", to: 6, layer: "deep", geometry: "none", register: false };
    const { job_id } = await world.engine.submit("cascade_h3", deep);
    const table = () => world.db.sql`select 1 from geo.tables where job_id = ${job_id} and kind = 'candidate'`;
    await eventually(async () => (await table()).length > 0);
    let cut = 0;
    await world.db.transaction(async (held) => {
      // Whoever takes rows over into the table waits for this.
      await held.sql`select from geo.tables where job_id = ${job_id} and kind = 'candidate' for update`;
      const waiting = () => world.db.sql<{ cut: boolean }>`
        select pg_terminate_backend(pid) as cut from pg_stat_activity
         where datname = current_database() and application_name = 'fanfold burst' and wait_event_type = 'Lock'`;
      await eventually(async () => {
        cut = (await waiting()).length;
        return cut > 0;
      });
    });
    expect(cut).toBeGreaterThan(0);
    const job = await world.ended(job_id);
    expect(job.error).toBeNull();
    expect(await cellsOf(world.db, "deep")).toEqual(parents.flatMap((cell) => h3.cellToChildren(cell, 6)).sort());
  });
});
