// The corpus of broken inputs: every format, damaged in every way, as jobs on both engines and both kinds of database. Each ends in a
// refusal with a code and a reason, or in a layer whose rows and rejects are as many as its source has; never in a crash, a hang, or half a layer.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemGdal } from "../gdal_bin.js";
import { catalogHere, RasterWorld, type WorldKind } from "../jobs/raster_world.js";
import { all_broken } from "./broken_inputs.js";
import { type Outcome, outcomeOf, refuseUnlike } from "./broken_outcome.js";

const here = await catalogHere("server");
const gdal = await systemGdal();
const places: [kind: WorldKind, engine: "gdal" | "wasm"][] = [
  ["server", "gdal"],
  ["server", "wasm"],
  ["embedded", "wasm"],
];

describe.skipIf(here.skip || !gdal.available)(`broken inputs${here.name}${gdal.why_not}`, () => {
  const outcomes = new Map<string, Outcome[]>();

  describe.each(places)("on the %s database with the engine %s", (kind, engine) => {
    let world: RasterWorld;
    beforeAll(async () => {
      world = await RasterWorld.open(kind);
      await world.worker({ raster: { engine } });
    }, 300_000);
    afterAll(() => world?.close());

    test.each(all_broken.map((one) => [one.what, one] as const))("%s", { timeout: 120_000 }, async (_, input) => {
      const outcome = await outcomeOf(world, input);
      refuseUnlike(outcome, input);
      outcomes.set(input.what, [...(outcomes.get(input.what) ?? []), outcome]);
    });

    test("leave no table behind that nobody reads, and the worker as it was", { timeout: 60_000 }, async () => {
      const after = await outcomeOf(world, {
        what: "good",
        file: "after.csv",
        make: () => "lon,lat\n1,2\n",
        becomes: { loaded: 1 },
      });
      expect(after).toMatchObject({ status: "completed", loaded: 1 });
      expect(
        await world.db
          .sql`select table_name from geo.tables where kind = 'stage' and created_at < now() - interval '2 minutes'`,
      ).toEqual([]);
    });
  });

  test("whether a layer comes of it does not depend on where it is loaded", () => {
    const unlike = [...outcomes].filter(
      ([, all]) => new Set(all.map(({ status, loaded }) => `${status} ${loaded}`)).size > 1,
    );
    expect(Object.fromEntries(unlike)).toEqual({});
  });
});
