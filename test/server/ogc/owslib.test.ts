// A client that people have: OWSLib lists processes, executes one in both ways, and fetches the results.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { echoGive } from "../../../src/handlers/echo/echo.js";
import { echo } from "../../../src/jobs/echo.js";
import { owslib } from "../../python_tools.js";
import { openService, type TestService } from "../service.js";

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
      inputs: ["text", "number", "flag", "list", "measure", "box", "object", "bytes", "pause"],
      conforms: expect.arrayContaining(["http://www.opengis.net/spec/ogcapi-processes-1/1.0/conf/core"]),
      waited: { text: "by OWSLib", list: ["a"] },
      status: "successful",
      results: { text: "later" },
    });
  });
});
