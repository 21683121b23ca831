// A mosaic whose worker is killed with -9: nothing of it is seen meanwhile, and what another worker makes is byte for byte what an undisturbed
// run makes.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRegistry } from "../../src/core/declare/registry.js";
import { ref_field } from "../../src/handlers/stac/item_fields.js";
import { builtinRegistry } from "../../src/jobs/index.js";
import { WorkerProcess } from "../faults/worker_process.js";
import { catalogHere, RasterWorld, scene } from "../jobs/raster_world.js";
import { eventually } from "../worker/shop.js";

const here = await catalogHere("server");
const killed_types = ["export.mosaic"];

describe.skipIf(here.skip)(`a killed mosaic${here.name}`, () => {
  let world: RasterWorld;
  let database_url: string;
  beforeAll(async () => {
    world = await RasterWorld.open("server");
    const { handlers, jobs } = createRegistry(builtinRegistry());
    const types = ["#plan", ...handlers.keys(), ...Array.from(jobs.keys(), (job) => `#plan:${job}`)];
    await world.worker({ types: types.filter((type) => !killed_types.includes(type)), lease_s: 2 });
    const [where] = await world.db.sql<{ database: string; port: string; role: string }>`
      select current_database() as database, current_setting('port') as port, current_user as role`;
    database_url = `postgres://${where!.role}@127.0.0.1:${where!.port}/${where!.database}`;
    // One beside and below the other: of a grid of four two parts are empty.
    for (const at of [0, 1]) {
      const step = at * 64 * 30;
      world.put(`bronze:parts/p${at}.tif`, scene({ seed: 1 + at, origin: [500_000 + step, 100_000 - step] }));
    }
    const job = await world.run("process_raster_collection", {
      sources: { prefix: "bronze:parts/" },
      collection: "parts",
      datetime: "2024-06-21T10:30:00Z",
      target_crs: "source",
    });
    expect(job.error).toBeNull();
  }, 300_000);
  afterAll(() => world?.close());

  const scratch = (name: string) => join(world.dir, "scratch", name);
  const worker = (name: string, faults?: string) =>
    new WorkerProcess({
      name,
      database_url,
      storage_dir: world.dir,
      effects_dir: world.dir,
      registry: "builtin",
      options: { types: killed_types, slots: 1, lease_s: 2, raster: { engine: "wasm" }, scratch_dir: scratch(name) },
      ...(faults === undefined ? {} : { faults }),
    });
  const mosaic = (name: string) => ["export_collection", { source: "parts", name, grid: 2 }] as const;

  test("is made again, byte for byte, and nothing of it was seen before", { timeout: 240_000 }, async () => {
    const living = worker("living");
    const whole = await world.run(...mosaic("whole"));
    await living.stop();
    expect(whole.error).toBeNull();
    expect([...(await filesOf("whole")).keys()]).toEqual(["0_0", "1_1"]);

    const job = await world.submit(...mosaic("killed"));
    // One part of two is recorded; the files of the other lie in the zone, and what records them is not committed.
    const after_files = worker("after-files", "after-writes:kill9@2");
    expect((await after_files.exited).signal).toBe("SIGKILL");
    expect(await filesOf("killed")).toEqual(new Map());
    expect(await recorded("killed")).toHaveLength(2);
    expect(filesBelow(world.path("gold", "exports/killed"))).toHaveLength(4);
    // And one in the middle of its pixels: what it ends with is held back.
    const amid = worker("amid", "before-writes:hang");
    await eventually(() => filesBelow(scratch("amid")).some(({ name }) => name === "mosaic.vrt"));
    await amid.kill();
    expect(await filesOf("killed")).toEqual(new Map());
    expect(await recorded("killed")).toHaveLength(2);

    const second = worker("second");
    const done = await world.ended(job);
    await second.stop();
    expect(done.error).toBeNull();
    expect(await filesOf("killed")).toEqual(await filesOf("whole"));
    expect(await recorded("killed")).toHaveLength(4);
  });

  /** What the catalogue shows of an export, by part: each file it names, read. */
  async function filesOf(name: string): Promise<Map<string, unknown>> {
    const items = (await world.items("exports")).filter(({ id }) => id.startsWith(`${name}_`));
    return new Map(
      items.map(({ id, assets, bbox, properties }) => [
        id.slice(name.length + 1),
        {
          bbox,
          shape: properties["proj:shape"],
          transform: properties["proj:transform"],
          files: Object.values(assets).flatMap((asset) => {
            const ref = asset[ref_field];
            return typeof ref === "string" ? [sha256(readFileSync(world.path("gold", ref.slice("gold:".length))))] : [];
          }),
        },
      ]),
    );
  }

  async function recorded(name: string): Promise<string[]> {
    const rows = await world.db.sql<{ key: string }>`
      select key from app.assets where zone = 'gold' and key like ${`exports/${name}/%`} and retracted_at is null`;
    return rows.map(({ key }) => key);
  }

  const filesBelow = (folder: string) =>
    existsSync(folder)
      ? readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
      : [];
});

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
