// What people already have reads the API: GDAL's OAPIF driver, with counts, boxes, filters, pages and reference systems.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withoutPostgis } from "../../catalog_packages.js";
import { openService, type TestService } from "../service.js";
import { grid_columns, gridRows, putLayer } from "./layers.js";

const run = promisify(execFile);
const gdal = await run("ogrinfo", ["--formats"]).then(
  ({ stdout }) => (stdout.includes("OAPIF") ? null : "this GDAL has no OAPIF driver"),
  () => "there is no ogrinfo on this machine",
);
const why = (await withoutPostgis()) ?? gdal;

describe.skipIf(why !== null)(`GDAL reads OGC API Features${why === null ? "" : ` (skipped: ${why})`}`, () => {
  let service: TestService;
  let asKey: string[];
  const ogr = async (program: string, args: string[]) =>
    (await run(program, [...asKey, ...args], { maxBuffer: 1e8 })).stdout;

  beforeAll(async () => {
    service = await openService({}, {}, { variant: "stac" });
    asKey = ["--config", "GDAL_HTTP_HEADERS", `Authorization: Bearer ${await service.key()}`];
    await putLayer(service.db, {
      name: "grid",
      title: "Grid",
      columns: grid_columns,
      rows: gridRows(2_345, { wide: 60 }),
      geometry_type: "Point",
      time_column: "seen",
    });
    await putLayer(service.db, {
      name: "utm",
      columns: grid_columns,
      rows: gridRows(50, { srid: 32633 }),
      srid: 32633,
      geometry_type: "Point",
    });
  }, 120_000);
  afterAll(() => service?.close());

  test("the layers, their fields, extent and count", async () => {
    const told = await ogr("ogrinfo", ["-so", `OAPIF:${service.url}/ogc`, "grid"]);
    expect(told).toContain("Feature Count: 2345");
    expect(told).toMatch(/Extent: \(0\.0+, 40\.0+\) - \(59\.0+, 59\.5/);
    for (const field of [/^name: String/m, /^n: Integer/m, /^weight: Real/m, /^seen: DateTime/m])
      expect(told).toMatch(field);
    expect(await ogr("ogrinfo", [`OAPIF:${service.url}/ogc`])).toMatch(/grid[\s\S]*utm/);
  });

  test("every feature once, over many pages", async () => {
    const told = await ogr("ogr2ogr", [
      "-f",
      "CSV",
      "/vsistdout/",
      `OAPIF:${service.url}/ogc`,
      "grid",
      "-select",
      "n",
      "-oo",
      "PAGE_SIZE=100",
    ]);
    expect(told.trim().split("\n")).toHaveLength(2_346);
  });

  test("boxes and filters find as many as there are", async () => {
    const box = await ogr("ogrinfo", [
      "-so",
      "-spat",
      "2.5",
      "40.2",
      "4.5",
      "41.2",
      `OAPIF:${service.url}/ogc`,
      "grid",
    ]);
    expect(box).toContain("Feature Count: 4");
    const filter = await ogr("ogrinfo", [
      "-so",
      "-where",
      "n = 3 AND name LIKE 'Näme 1%'",
      `OAPIF:${service.url}/ogc`,
      "grid",
    ]);
    const [right] = await service.engine.db.sql<{ reply: number }>`select geo.count_features(${JSON.stringify({
      tenant: "default",
      layer: "grid",
      version: 1,
      filter: {
        op: "and",
        args: [
          { op: "=", type: "number", args: [{ column: "n" }, { value: 3 }] },
          { op: "like", type: "text", args: [{ column: "name" }, { value: "Näme 1%" }] },
        ],
      },
    })}::text::jsonb) as reply`;
    expect(filter).toContain(`Feature Count: ${right?.reply}`);
    expect(right?.reply).toBeGreaterThan(10);
  });

  test("one collection by its own address, and one feature in the system it is stored in", async () => {
    const told = await ogr("ogr2ogr", [
      "-f",
      "CSV",
      "/vsistdout/",
      "-lco",
      "GEOMETRY=AS_XY",
      `OAPIF_COLLECTION:${service.url}/ogc/collections/utm`,
      "-where",
      "n = 3",
      "-select",
      "n",
    ]);
    const [x, y] = told.trim().split("\n")[1]!.split(",").map(Number);
    expect([x!.toFixed(4), y!.toFixed(4)]).toEqual(["3.0000", "40.0000"]);
  });
});
