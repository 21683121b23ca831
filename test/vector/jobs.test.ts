// process_vector and unpublish_vector on a real database with a real worker: modes, rejects, versions, readers during a swap, tenants, and
// a worker that dies before the publication.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openServer } from "../../src/engine/database/server_database.js";
import { systemGdal } from "../gdal_bin.js";
import { catalogHere, RasterWorld } from "../jobs/raster_world.js";
import { eventually } from "../worker/shop.js";
import { featuresOf, layerOf } from "./layer_rows.js";
import { collection, feature, point, square, zipOf } from "./vector_files.js";

const here = await catalogHere("server");
const gdal = await systemGdal();

describe.skipIf(here.skip)(`vector jobs${here.name}`, () => {
  let world: RasterWorld;
  beforeAll(async () => {
    world = await RasterWorld.open("server");
    await world.worker({ raster: { engine: gdal.available ? "gdal" : "wasm" } });
  }, 60_000);
  afterAll(() => world?.close());

  const load = (
    name: string,
    text: string | Uint8Array,
    more: Record<string, unknown> = {},
    file = `${name}.geojson`,
  ) => {
    world.put(`bronze:${file}`, text);
    return world.run(
      "process_vector",
      { source: `bronze:${file}`, layer: name, register: false, ...more },
      { mode: "force" },
    );
  };
  const rejectsOf = (job: string) =>
    world.db.sql<{ code: string; row_number: number }>`
      select code, row_number::int as row_number from geo.rejects where job_id = ${job} order by row_number`;
  const made = (count: number, more: Record<string, unknown> = {}) =>
    collection(
      Array.from({ length: count }, (_, at) => feature({ id: at, name: `n${at}`, ...more }, point(at, at / 2))),
    );

  test("a file becomes a layer with exact facts and a STAC item, and its names are made safe", {
    timeout: 60_000,
  }, async () => {
    const features = [
      feature({ "Größe (m²)": 1.5, select: "a", FID: 7, Name: "x", name: "y", tags: ["p", "q"] }, square(5, 50)),
      feature({ "Größe (m²)": null, select: "b", FID: 8, Name: "x", name: "y", tags: null }, square(6, 51)),
    ];
    world.put("bronze:one/first.geojson", collection(features));
    const job = await world.run("process_vector", {
      source: "bronze:one/first.geojson",
      title: "First",
      indexes: ["select"],
    });
    expect(job.error).toBeNull();
    const layer = (await layerOf(world.db, "first"))!;
    expect(layer).toMatchObject({
      version: 1,
      feature_count: 2,
      extent: [5, 50, 7, 52],
      geometry_type: "MultiPolygon",
      srid: 4326,
      job_id: job.job_id,
    });
    expect(layer.columns.map(({ name, type }) => [name, type])).toEqual([
      ["grosse_m2", "number"],
      ["select_", "string"],
      ["fid_2", "integer"],
      ["name", "string"],
      ["name_2", "string"],
      ["tags", "json"],
    ]);
    expect((await featuresOf(world.db, layer))[0]).toMatchObject({
      fid: 1,
      grosse_m2: 1.5,
      fid_2: 7,
      tags: ["p", "q"],
    });
    const item = await world.item("layers", "first");
    expect(item).toMatchObject({
      bbox: [5, 50, 7, 52],
      properties: { "table:row_count": 2, "table:primary_geometry": "geom" },
    });
    const indexes = await world.db
      .sql`select 1 from pg_indexes where schemaname = 'geo' and tablename = ${layer.table_name}`;
    expect(indexes).toHaveLength(3);
  });

  test("what cannot be used is kept with the reason, what can be mended is", { timeout: 60_000 }, async () => {
    const bow = {
      type: "Polygon",
      coordinates: [
        [
          [0, 0],
          [2, 2],
          [2, 0],
          [0, 2],
          [0, 0],
        ],
      ],
    };
    const mixed = { type: "GeometryCollection", geometries: [point(1, 1), square(1, 1)] };
    const features = [
      feature({ n: 1 }, square(0, 0)),
      feature({ n: 2 }, null),
      feature({ n: 3 }, { type: "MultiPolygon", coordinates: [] }),
      feature({ n: 4 }, bow),
      feature({ n: 5 }, mixed),
      feature({ n: 6 }, square(10, 95)),
      feature(
        { n: 7 },
        {
          type: "Polygon",
          coordinates: [
            [
              [170, 0],
              [190, 0],
              [190, 5],
              [170, 5],
              [170, 0],
            ],
          ],
        },
      ),
      feature(
        { n: 8 },
        {
          type: "Polygon",
          coordinates: [
            [
              [179, 0],
              [-179, 0],
              [-179, 5],
              [179, 5],
              [179, 0],
            ],
          ],
        },
      ),
    ];
    const refused = await load("mended", collection(features));
    expect(refused).toMatchObject({ status: "failed", error: { message: expect.stringContaining("4 of 8") } });
    expect(await layerOf(world.db, "mended")).toBeNull();

    const taken = await load("mended", collection(features), { max_rejected: 4 });
    expect(taken.error).toBeNull();
    const layer = (await layerOf(world.db, "mended"))!;
    expect(layer).toMatchObject({ feature_count: 4, geometry_type: "MultiPolygon", extent: [-180, 0, 180, 5] });
    const rows = await featuresOf(world.db, layer);
    expect(rows.map(({ fid }) => fid)).toEqual([1, 4, 7, 8]);
    for (const crossing of rows.slice(2)) expect(JSON.parse(String(crossing.geom)).coordinates).toHaveLength(2);
    const rejects = await rejectsOf(taken.job_id);
    expect(rejects).toEqual([
      { row_number: 2, code: "null_geometry" },
      { row_number: 3, code: "empty_geometry" },
      { row_number: 5, code: "geometry_collection" },
      { row_number: 6, code: "out_of_range" },
    ]);
    const [bad] = await world.db.sql`
      select geo.clean_geometry('0103', 4326, 4326, true, false) as c`.catch((error: { code: string }) => [error.code]);
    expect(bad).toMatch(/^(XX000|22023)$/);
  });

  test("create refuses, replace swaps, append and upsert change in place; each is a version", {
    timeout: 60_000,
  }, async () => {
    await load("modes", made(3));
    expect(await load("modes", made(4))).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("already") },
    });
    const first = (await layerOf(world.db, "modes"))!;
    await load("modes", made(4, { extra: true }), { mode: "replace" });
    const second = (await layerOf(world.db, "modes"))!;
    expect(second).toMatchObject({ version: 2, feature_count: 4 });
    expect(second.table_name).not.toBe(first.table_name);
    // Who pages in the version before can go on.
    expect(await featuresOf(world.db, first)).toHaveLength(3);
    await load("modes", made(2, { extra: false }), { mode: "append" });
    expect(await layerOf(world.db, "modes")).toMatchObject({
      version: 3,
      feature_count: 6,
      table_name: second.table_name,
    });
    const upserted = collection([
      feature({ id: 3, name: "new", extra: true }, point(9, 9)),
      feature({ id: 77, name: "added", extra: true }, point(50, 9)),
    ]);
    await load("modes", upserted, { mode: "upsert", key: ["id"], register: true });
    // The item is of the whole layer, not of the rows that were added.
    const item = await world.item("layers", "modes");
    expect(item).toMatchObject({ bbox: [0, 0, 50, 9] });
    expect(item).not.toHaveProperty(["properties", "table:row_count"]);
    const last = (await layerOf(world.db, "modes"))!;
    expect(last).toMatchObject({ version: 4, feature_count: 7, extent: [0, 0, 50, 9] });
    const rows = await featuresOf(world.db, last);
    expect(rows.filter(({ id }) => id === 3)).toEqual([expect.objectContaining({ name: "new" })]);
    const wrong = await load("modes", made(1, { other: "column" }), { mode: "append" });
    expect(wrong).toMatchObject({ status: "failed" });
    expect(JSON.stringify(wrong)).toContain("has no columns of these names and types");
    const history = await world.db.sql`
      select version::int as version, mode, retired_at is null as served from geo.layer_versions where name = 'modes' order by version`;
    expect(history).toEqual([
      { version: 1, mode: "create", served: false },
      { version: 2, mode: "replace", served: false },
      { version: 3, mode: "append", served: false },
      { version: 4, mode: "upsert", served: true },
    ]);
  });

  test("a dry run says what would be made, and makes nothing", { timeout: 60_000 }, async () => {
    const job = await load("dry", made(3), { dry_run: true });
    expect(job).toMatchObject({
      status: "completed",
      result: { dry_run: true, layers: [{ layer: "dry", expected: 3, srid: 4326 }] },
    });
    // Of this job alone: those of others are swept meanwhile.
    expect(await world.db.sql`select table_name from geo.tables where job_id = ${job.job_id}`).toEqual([]);
  });

  test("CSV places are found, several sources become one layer, and a column splits it", {
    timeout: 60_000,
  }, async () => {
    world.put("bronze:many/a.csv", "name,Latitude,Longitude,kind\nA,50,8,x\nB,51,9,y\nC,,,x\n");
    world.put("bronze:many/b.csv", Buffer.from("name;lat;lon;kind\nZ\xfcrich;47.4;8.5;x\n", "latin1"));
    const sources = { prefix: "bronze:many/", pattern: "*.csv" };
    const job = await world.run("process_vector", {
      sources,
      layer: "places",
      combine: true,
      split_by: "kind",
      max_rejected: 1,
      register: false,
    });
    expect(job.error).toBeNull();
    const [x, y] = [(await layerOf(world.db, "places_x"))!, (await layerOf(world.db, "places_y"))!];
    expect([x.feature_count, y.feature_count]).toEqual([2, 1]);
    expect((await featuresOf(world.db, x)).map(({ name }) => name)).toEqual(["A", "Zürich"]);
    expect(JSON.stringify(job.result)).toContain("encoding_guessed");
  });

  test.each([
    ["truncated", () => Buffer.from(made(3)).subarray(0, 150), "broken.geojson", /cannot be read|unexpected|error/i],
    ["empty", () => Buffer.alloc(0), "empty.geojson", /is empty/],
    ["of no known format", () => Buffer.from("hello"), "what.bin", /none of the formats/],
    ["a zip that leads out", () => zipOf({ "../../evil.shp": Buffer.from("x") }), "evil.zip", /archive/],
    [
      "a link in a zip",
      () => zipOf([{ name: "a.shp", bytes: Buffer.from("/etc/passwd"), mode: 0o120777 }]),
      "link.zip",
      /lead out/,
    ],
    ["a zip bomb", () => zipOf({ "a.geojson": Buffer.alloc(60 * 2 ** 20) }), "bomb.zip", /times its size/],
    [
      "a zip that lies",
      () => zipOf([{ name: "a.geojson", bytes: Buffer.alloc(9000, " "), said_bytes: 10 }]),
      "lie.zip",
      /archive/,
    ],
    ["half a Shapefile", () => zipOf({ "a.shp": Buffer.from("x"), "a.dbf": Buffer.from("x") }), "half.zip", /no \.shx/],
    ["of too many columns", () => wide(2000), "wide.csv", /2000 columns|1998 columns|choose some/],
  ] as const)("a source that is %s is refused with what to do", { timeout: 60_000 }, async (_, bytes, file, words) => {
    const tables = await world.db.sql`select count(*)::int as n from geo.layers`;
    const job = await load(`bad_${file.replace(/\W/g, "_")}`, bytes(), {}, file);
    expect(job.status).toBe("failed");
    expect(String((job.error as { message: string }).message)).toMatch(words);
    expect(await world.db.sql`select count(*)::int as n from geo.layers`).toEqual(tables);
  });

  test("readers see one version or the next while a layer is replaced with other columns", {
    timeout: 90_000,
  }, async () => {
    await load("swapped", made(10));
    let stop = false;
    const seen = new Set<number>();
    const wrong: unknown[] = [];
    const reader = async () => {
      while (!stop) {
        const layer = (await layerOf(world.db, "swapped"))!;
        // As a server does: the table that the catalogue names.
        const [row] = await world.db.sql<{ n: number }>`
          select (xpath('/row/n/text()', query_to_xml('select count(*) as n from geo.' || ${layer.table_name}, false, true, '')))[1]::text::int as n`.catch(
          (error: unknown) => [{ n: -1, error }],
        );
        if (row?.n !== layer.feature_count) wrong.push([layer.version, row]);
        seen.add(layer.version);
      }
    };
    const readers = [reader(), reader()];
    for (let at = 1; at <= 3; at++) await load("swapped", made(10 + at, { [`c${at}`]: at }), { mode: "replace" });
    stop = true;
    await Promise.all(readers);
    expect(wrong).toEqual([]);
    expect(await layerOf(world.db, "swapped")).toMatchObject({ version: 4, feature_count: 13 });
    expect(seen.size).toBeGreaterThan(1);
  });

  test("a load whose publication never commits leaves the layer as it was, and its tables are swept", {
    timeout: 90_000,
  }, async () => {
    await load("kept", made(5));
    // Held here, the publication waits in its transaction: rows are copied, nothing is swapped.
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const held = world.db.transaction(async (tx) => {
      await tx.sql`select from geo.layers where name = 'kept' for update`;
      await released;
    });
    world.put("bronze:kept.geojson", made(9));
    const job = await world.submit("process_vector", {
      source: "bronze:kept.geojson",
      layer: "kept",
      mode: "replace",
      register: false,
    });
    await eventually(async () => {
      const waiting = await world.db.sql`
        select from pg_stat_activity where wait_event_type = 'Lock' and query like '%publish_layer%'`;
      return waiting.length > 0;
    }, 100);
    const [candidate] = await world.db.sql<{ table_name: string }>`
      select table_name from geo.tables where job_id = ${job} and kind = 'candidate'`;
    expect(candidate).toBeDefined();
    expect(await layerOf(world.db, "kept")).toMatchObject({ version: 1, feature_count: 5 });
    // As if the worker were killed: its connection is gone, and the task is cancelled before anybody else takes it.
    await world.db.sql`select app.cancel_job(${job})`;
    await world.db.sql`
      select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and query like '%publish_layer%'`;
    release();
    await held;
    await world.ended(job);
    expect(await layerOf(world.db, "kept")).toMatchObject({ version: 1, feature_count: 5 });
    await world.db.sql`update app.jobs set finished_at = now() - interval '2 minutes' where job_id = ${job}`;
    await world.db.sql`select geo.sweep_tables()`;
    expect(await world.db.sql`select from geo.tables where job_id = ${job}`).toEqual([]);
    expect(await world.db.sql`select from pg_class where relname = ${candidate!.table_name}`).toEqual([]);
    expect(await layerOf(world.db, "kept")).toMatchObject({ version: 1, feature_count: 5 });
  });

  test("another tenant sees and touches nothing of a load", { timeout: 60_000 }, async () => {
    await load("private", made(2));
    const layer = (await layerOf(world.db, "private"))!;
    await world.db.sql`insert into app.tenants (tenant_id) values ('rival')`;
    const role = `rival_${process.pid}`;
    await world.db.script(`create role ${role} login in role fanfold_api, fanfold_worker`);
    await world.db.sql`select app.map_role(${role}::name, 'rival')`;
    const [where] = await world.db.sql<{ database: string; port: string }>`
      select current_database() as database, current_setting('port') as port`;
    const rival = openServer(`postgres://${role}@127.0.0.1:${where!.port}/${where!.database}`);
    try {
      expect(await rival.sql`select from geo.layers`).toEqual([]);
      expect(await rival.sql`select from geo.rejects`).toEqual([]);
      const [row] = await rival.sql<{ n: number }>`
        select (xpath('/row/n/text()', query_to_xml('select count(*) as n from geo.' || ${layer.table_name}, false, true, '')))[1]::text::int as n`;
      expect(row!.n).toBe(0);
      await expect(
        rival.sql`select geo.publish_layer(${layer.table_name}, 'stolen', '{"mode": "create"}')`,
      ).rejects.toMatchObject({ code: "FF001" });
      await expect(rival.sql`select geo.make_stage(${layer.table_name}, 1)`).rejects.toMatchObject({ code: "FF001" });
      expect(await rival.sql`select geo.unpublish_layer('private') as reply`).toEqual([{ reply: null }]);
      expect(await layerOf(world.db, "private")).not.toBeNull();
    } finally {
      await rival.close();
      await world.db.script(`delete from app.tenant_roles where role_name = '${role}'; drop role ${role}`);
    }
  });

  test("unpublish_vector tells first, then takes the layer and its item away", { timeout: 60_000 }, async () => {
    await load("leaving", made(2), { register: true, collection: "leaving" });
    const told = await world.run("unpublish_vector", { layers: ["leaving", "never_there"] });
    expect(told.result).toMatchObject({
      dry_run: true,
      layers: [{ layer: "leaving", version: 1 }],
      missing: ["never_there"],
    });
    expect(await layerOf(world.db, "leaving")).not.toBeNull();
    const gone = await world.run("unpublish_vector", { layers: ["leaving"], dry_run: false });
    expect(gone.error).toBeNull();
    expect(await layerOf(world.db, "leaving")).toBeNull();
    expect(await world.items("leaving")).toEqual([]);
    // What comes back has a version of its own: caches know the old ones.
    await load("leaving", made(3));
    expect(await layerOf(world.db, "leaving")).toMatchObject({ version: 3, feature_count: 3 });
  });
});

function wide(columns: number): Buffer {
  const names = Array.from({ length: columns }, (_, at) => `c${at}`);
  return Buffer.from(`lon,lat,${names.join(",")}\n1,2,${names.map(() => "1").join(",")}\n`);
}
