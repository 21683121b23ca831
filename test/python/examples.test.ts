// The examples in Python run as they stand, against a server of ours, with rasterio, xarray, zarr and geopandas in an environment that is made once.
// In the soak run the COGs are of 200 scenes.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, test } from "vitest";
import { withoutPostgis } from "../catalog_packages.js";
import { pythonExamples } from "../python_tools.js";
import { openService, type TestService } from "../server/service.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const is_soak = process.env.FANFOLD_TEST_SOAK !== undefined;
const tools = await pythonExamples();
const why_not = typeof tools === "string" ? tools : await withoutPostgis();
if (why_not !== null) process.stderr.write(`the examples in Python are left out: ${why_not}\n`);

let service: TestService;
beforeAll(async () => {
  if (why_not !== null) return;
  service = await openService({}, {}, { variant: "stac" });
  // For its janitor: as `fanfold up` has one.
  await service.worker();
});
afterAll(() => service?.close());

/** What it prints, line by line; with all it said where it did not end well. */
async function run(name: string, args: string[] = []): Promise<string[]> {
  if (typeof tools === "string") throw new Error(tools);
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: process.env.HOME ?? "",
    PYTHONPATH: join(root, "python", "src"),
    PYTHONDONTWRITEBYTECODE: "1",
    FANFOLD_URL: service.url,
    FANFOLD_KEY: await service.key(name),
    FANFOLD_LOG_LEVEL: "warning",
    DATABASE_URL: service.database_url,
  };
  const child = spawn(tools.python, [join(root, "examples", name, "main.py"), ...args], { env, detached: true });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (err += text));
  // With the workers it has started.
  const timer = setTimeout(() => process.kill(-child.pid!, "SIGKILL"), is_soak ? 900_000 : 100_000);
  const code = await new Promise((resolve) => child.on("close", resolve));
  clearTimeout(timer);
  if (code !== 0) throw new Error(`${name} ended with ${code}:\n${out}${err}`);
  return out.trimEnd().split("\n");
}

// They mostly wait, so they run side by side.
describe.skipIf(why_not !== null)("examples in Python", { concurrent: true, timeout: 600_000 }, () => {
  test("python_cogs: what is broken costs nobody else, and only that runs again", async ({ expect }) => {
    const scenes = is_soak ? 200 : 10;
    expect(await run("python_cogs", ["--scenes", String(scenes)])).toEqual([
      `partial_success: ${scenes - 3} of ${scenes} scenes`,
      "  1 × no_crs",
      "  2 × unreadable",
      `resumed: 3 again, ${scenes - 3} kept`,
      `completed: ${scenes} of ${scenes} scenes`,
      `${scenes} items; the first one's file is a COG of 300 × 300`,
    ]);
  });

  test("python_zarr: a worker that is killed half way costs what it had in hand", async ({ expect }) => {
    expect(await run("python_zarr", is_soak ? ["--size", "4096"] : [])).toEqual([
      `killed with at least ${is_soak ? 128 : 8} of ${is_soak ? 256 : 16} windows done`,
      `completed: {'equal': True, 'windows': ${is_soak ? 256 : 16}}`,
      "what the first worker had done was kept: True",
    ]);
  });

  test("python_postgis: a file is loaded once, whole or not at all", async ({ expect }) => {
    expect(await run("python_postgis")).toEqual([
      "partial_success: {'rows': 160, 'hectares': 160}",
      "refused: invalid_shapes",
      "resumed: completed: {'rows': 200, 'hectares': 200}",
      "PostGIS: 200 parcels, 200 different, 200 ha",
    ]);
  });
});
