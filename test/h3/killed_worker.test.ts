// A cascade of cells whose worker is killed with -9 when all of its rows are written and its finish is not: nothing of it is seen meanwhile,
// and what another worker makes is what an undisturbed run makes, row by row.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRegistry } from "../../src/core/declare/registry.js";
import { builtinRegistry } from "../../src/jobs/index.js";
import { WorkerProcess } from "../faults/worker_process.js";
import { catalogHere, RasterWorld } from "../jobs/raster_world.js";
import { layerOf } from "../vector/layer_rows.js";
import { rowsOf } from "./cell_rows.js";

const here = await catalogHere("server");
const killed_types = ["h3.fill_cascade"];

describe.skipIf(here.skip)(`killed before its finish${here.name}`, () => {
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
  }, 300_000);
  afterAll(() => world?.close());

  const process_of = (name: string, faults?: string) =>
    new WorkerProcess({
      name,
      database_url,
      storage_dir: world.dir,
      effects_dir: world.dir,
      registry: "builtin",
      options: { types: killed_types, slots: 1, lease_s: 2, raster: { engine: "wasm" } },
      ...(faults === undefined ? {} : { faults }),
    });

  test("a cascade has every cell once", { timeout: 180_000 }, async () => {
    const grid = await world.run("create_h3_grid", { layer: "base_1", resolution: 1, register: false });
    expect(grid.error).toBeNull();
    const wanted = { from_layer: "base_1", from: 2, to: 3, register: false };
    const living = process_of("living");
    const whole = await world.run("cascade_h3", { ...wanted, layer: "whole_3" });
    await living.stop();
    expect(whole.error).toBeNull();

    const job = await world.submit("cascade_h3", { ...wanted, layer: "killed_3" });
    const dying = process_of("dying", "before-finish:kill9");
    expect((await dying.exited).signal).toBe("SIGKILL");
    expect(await layerOf(world.db, "killed_3")).toBeNull();
    const second = process_of("second");
    const done = await world.ended(job);
    await second.stop();
    expect(done.error).toBeNull();
    const rows = await rowsOf(world.db, "whole_3");
    expect(rows).toHaveLength(5882 + 41_162);
    expect(await rowsOf(world.db, "killed_3")).toEqual(rows);
    // Neither a candidate nor a piece of it is left.
    const left = await world.db.sql`select from geo.tables where kind <> 'layer'`;
    expect(left).toEqual([]);
  });
});
