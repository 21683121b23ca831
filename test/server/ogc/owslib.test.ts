// A client that people have: OWSLib lists processes, executes one in both ways, and fetches the results; and it reads the features of a layer.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { echoGive } from "../../../src/handlers/echo/echo.js";
import { echo } from "../../../src/jobs/echo.js";
import { withoutPostgis } from "../../catalog_packages.js";
import { owslib } from "../../python_tools.js";
import { openService, type TestService } from "../service.js";
import { grid_columns, gridRows, putLayer } from "./layers.js";

const tools = await owslib();
const why = typeof tools === "string" ? tools : null;

describe.skipIf(why !== null)(`OWSLib's client of OGC API Processes${why === null ? "" : ` (skipped: ${why})`}`, () => {
  let service: TestService;
  beforeAll(async () => {
    service = await openService({ jobs: [echo], handlers: [echoGive] });
    await service.worker();
  }, 120_000);
  afterAll(() => service?.close());

  test("lists, describes, executes in both ways, polls and fetches", async () => {
    if (typeof tools === "string") return;
    const told = await tools.run<Record<string, unknown>>("processes.py", {
      url: `${service.url}/ogc/`,
      key: await service.key(),
    });
    expect(told).toMatchObject({
      listed: ["echo"],
      inputs: ["text", "number", "flag", "list", "measure", "object", "box", "bytes", "pause"],
      conforms: expect.arrayContaining(["http://www.opengis.net/spec/ogcapi-processes-1/1.0/conf/core"]),
      waited: { text: "by OWSLib", list: ["a"] },
      status: "successful",
      results: { text: "later" },
    });
  });
});

const no_features = why ?? (await withoutPostgis());

describe.skipIf(no_features !== null)(
  `OWSLib's client of OGC API Features${no_features === null ? "" : ` (skipped: ${no_features})`}`,
  () => {
    let service: TestService;
    beforeAll(async () => {
      service = await openService({}, {}, { variant: "stac" });
      await putLayer(service.db, {
        name: "grid",
        title: "Grid",
        columns: grid_columns,
        rows: gridRows(200),
        geometry_type: "Point",
        time_column: "seen",
      });
    }, 120_000);
    afterAll(() => service?.close());

    test("lists and describes layers, and finds features by box, time and filter, on every page once", async () => {
      if (typeof tools === "string") return;
      const told = await tools.run<{ in_box: number[][]; pages: number[][] }>("features.py", {
        url: `${service.url}/ogc/`,
        key: await service.key(),
      });
      expect(told).toMatchObject({
        listed: ["grid"],
        title: "Grid",
        extent: [0, 40, 19, 45],
        queryables: expect.arrayContaining(["name", "n", "weight", "seen"]),
        conforms: expect.arrayContaining(["http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core"]),
        opened: expect.stringMatching(/^3\./),
        count: 200,
        in_time: [2, 3],
        filtered: [3, 13, 23, 33],
        one: "Näme 5",
      });
      const expected = [40, 40.5, 41].flatMap((y) => [2, 3, 4].map((x) => [x, y]));
      expect(told.in_box).toEqual(expected);
      expect(told.pages.map(({ length }) => length)).toEqual([80, 80, 40]);
      expect(told.pages.flat()).toEqual(Array.from({ length: 200 }, (_, at) => at + 1));
    });
  },
);
