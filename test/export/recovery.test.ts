// export_vector on a real server: a worker that is killed with -9 in the middle of writing, tenants, and taking an export back.
import { existsSync, readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRegistry } from "../../src/core/declare/registry.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { builtinRegistry } from "../../src/jobs/index.js";
import { WorkerProcess } from "../faults/worker_process.js";
import { catalogHere, RasterWorld } from "../jobs/raster_world.js";
import { collection, feature, point } from "../vector/vector_files.js";
import { eventually } from "../worker/shop.js";
import { readParquet } from "./read_parquet.js";

const here = await catalogHere("server");

describe.skipIf(here.skip)(`exports${here.name}`, () => {
  let world: RasterWorld;
  let database_url: string;
  beforeAll(async () => {
    world = await RasterWorld.open("server");
    const { handlers, jobs } = createRegistry(builtinRegistry());
    const types = ["#plan", ...handlers.keys(), ...Array.from(jobs.keys(), (job) => `#plan:${job}`)];
    // Here is no writer: a process of its own is one, which the test kills.
    await world.worker({ types: types.filter((type) => type !== "export.write_vector"), lease_s: 2 });
    const [where] = await world.db.sql<{ database: string; port: string; role: string }>`
      select current_database() as database, current_setting('port') as port, current_user as role`;
    database_url = `postgres://${where!.role}@127.0.0.1:${where!.port}/${where!.database}`;
    world.put("bronze:dots.geojson", dots(500));
    const job = await world.run("process_vector", { source: "bronze:dots.geojson", register: false });
    expect(job.error).toBeNull();
  }, 300_000);
  afterAll(() => world?.close());

  const dots = (count: number) =>
    collection(Array.from({ length: count }, (_, at) => feature({ at, name: `n${at}` }, point(at % 180, at % 80))));
  const writer = (name: string) =>
    new WorkerProcess({
      name,
      database_url,
      storage_dir: world.dir,
      effects_dir: world.dir,
      registry: "builtin",
      options: { types: ["export.write_vector"], slots: 1, lease_s: 2, raster: { engine: "wasm" } },
    });
  const pathOf = (ref: string) => world.path("gold", ref.slice("gold:".length));
  const snapshotOf = async (job: string) => {
    const [found] = await world.db.sql<{ table_name: string }>`
      select table_name from geo.tables where job_id = ${job} and kind = 'snapshot'`;
    return found?.table_name;
  };

  test("of an export whose worker is killed with -9 nothing is seen; another worker writes the same rows", {
    timeout: 90_000,
  }, async () => {
    const whole = await exported({ layer: "dots", name: "whole", formats: ["geoparquet", "csv"] });
    const job = await world.submit("export_vector", { layer: "dots", name: "killed", formats: ["geoparquet", "csv"] });
    await eventually(async () => (await snapshotOf(job)) !== undefined);
    const table = (await snapshotOf(job))!;
    // Held here, the writer waits for a page: its scratch folder is there, and nothing of it is in a zone.
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const held = world.db.transaction(async (tx) => {
      await tx.script(`lock table geo.${table} in access exclusive mode`);
      await released;
    });
    const first = writer("first");
    await eventually(async () => {
      const waiting = await world.db.sql`
        select from pg_locks where not granted and relation = (select oid from pg_class where relname = ${table})`;
      return waiting.length > 0;
    });
    await first.kill();
    const seen = await world.db.sql`select from app.assets where key like 'exports/killed/%'`;
    expect(seen).toEqual([]);
    expect(existsSync(world.path("gold", "exports/killed"))).toBe(false);
    expect((await world.items("exports")).map(({ id }) => id)).toEqual(["whole"]);
    release();
    await held;
    // Rows that came meanwhile are of another version.
    world.put("bronze:more.geojson", dots(3));
    await world.run("process_vector", {
      source: "bronze:more.geojson",
      layer: "dots",
      mode: "append",
      register: false,
    });
    const second = writer("second");
    const done = await world.ended(job);
    await second.stop();
    expect(done.error).toBeNull();
    const files = (done.result as Exported).files;
    expect(files.map(({ sha256 }) => sha256)).toEqual(whole.files.map(({ sha256 }) => sha256));
    expect(done.result).toMatchObject({ layer_version: 1, row_count: 500 });
    expect(readdirSync(world.path("gold", "exports/killed"))).toHaveLength(1);
  });

  test("another tenant reads no snapshot, and sees no export", { timeout: 60_000 }, async () => {
    const job = await world.submit("export_vector", { layer: "dots", name: "private" });
    await eventually(async () => (await snapshotOf(job)) !== undefined);
    const table = (await snapshotOf(job))!;
    await world.db.sql`insert into app.tenants (tenant_id) values ('rival')`;
    const role = `rival_of_exports_${process.pid}`;
    await world.db.script(`create role ${role} login in role fanfold_api, fanfold_worker`);
    await world.db.sql`select app.map_role(${role}::name, 'rival')`;
    const rival = openServer(database_url.replace(/\/\/[^@]+@/, `//${role}@`));
    const request = JSON.stringify({ geometry: "wkb", rows: 10, bytes: 1000 });
    try {
      await expect(rival.sql`select geo.read_snapshot(${table}, 0, ${request}::text::jsonb)`).rejects.toMatchObject({
        code: "FF001",
      });
      await expect(rival.sql`select geo.make_snapshot('j', 'dots', '{"srid": 4326}')`).rejects.toMatchObject({
        code: "FF001",
      });
      await expect(rival.script(`select from geo.${table}`)).rejects.toMatchObject({ code: "42501" });
      const [page] = await world.db.sql<{ page: string }>`
        select geo.read_snapshot(${table}, 0, ${request}::text::jsonb) as page`;
      expect(JSON.parse(page!.page).length).toBeGreaterThan(0);
    } finally {
      await rival.close();
      await world.db.script(`delete from app.tenant_roles where role_name = '${role}'; drop role ${role}`);
      await world.db.sql`select app.cancel_job(${job})`;
    }
  });

  test("unpublish_export tells first, then takes item, files and records away, and nothing else", {
    timeout: 60_000,
  }, async () => {
    const kept = await exported({ layer: "dots", name: "kept" });
    const gone = await exported({ layer: "dots", name: "gone" });
    const told = await world.run("unpublish_export", { exports: ["gone", "never"] });
    expect(told.result).toMatchObject({
      dry_run: true,
      would_remove: { item_count: 1, file_count: 2, items: [{ item_id: "gone" }] },
      missing: ["never"],
    });
    expect(existsSync(pathOf(gone.files[0]!.file))).toBe(true);
    const done = await world.run("unpublish_export", { exports: ["gone"], dry_run: false });
    expect(done.result).toMatchObject({ dry_run: false, removed_items: 1, removed_files: 2 });
    await eventually(() => !existsSync(pathOf(gone.files[0]!.file)));
    expect((await world.items("exports")).map(({ id }) => id)).not.toContain("gone");
    expect((await readParquet(pathOf(kept.files[0]!.file))).rows.length).toBeGreaterThan(0);
    expect(await world.db.sql`select from geo.layers where name = 'dots'`).toHaveLength(1);
  });

  test("a snapshot goes when its job has ended", { timeout: 60_000 }, async () => {
    const [found] = await world.db.sql<{ job_id: string; table_name: string }>`
      select t.job_id, t.table_name from geo.tables t join app.jobs j using (job_id) where t.kind = 'snapshot' and j.status = 'completed' limit 1`;
    const { job_id, table_name } = found!;
    await world.db.sql`update app.jobs set finished_at = now() - interval '2 minutes' where job_id = ${job_id}`;
    await world.db.sql`select geo.sweep_tables()`;
    expect(await world.db.sql`select from pg_class where relname = ${table_name}`).toEqual([]);
  });

  interface Exported {
    files: { file: string; sha256: string }[];
  }

  async function exported(parameters: Record<string, unknown>): Promise<Exported> {
    const helper = writer(`of-${parameters.name}`);
    try {
      const job = await world.run("export_vector", parameters);
      expect(job.error).toBeNull();
      return job.result as Exported;
    } finally {
      await helper.stop();
    }
  }
});
