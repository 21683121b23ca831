// The engines people already have, on real clusters of this machine: Ray with two nodes, Dask, cubed, and the examples that use
// them. Their packages are large and have an environment of their own, made when this runs. Each test of python/engine_tests is a
// test here, too.
import { execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openService, type TestService } from "../server/service.js";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = join(root, "python", "engine_tests");
const files = ["test_cubed.py", "test_dask.py", "test_odc_stac.py", "test_ray.py"];

/** The interpreter of the environment, or why there is none. */
async function prepared(): Promise<{ python: string } | string> {
  try {
    const made = await run("node", ["scripts/python.mjs", "engines"], { cwd: root, timeout: 1_200_000 });
    return { python: made.stdout.trim().split("\n").at(-1)! };
  } catch (error) {
    const { stderr = "" } = error as { stderr?: string };
    const told = stderr.split("\n").find((line) => line.includes("is left out"));
    if (told !== undefined) return told;
    throw error;
  }
}

const ready = await prepared();

describe.skipIf(typeof ready === "string")(typeof ready === "string" ? ready : "the engines", () => {
  if (typeof ready === "string") {
    test("are left out", () => {});
    return;
  }
  let service: TestService;
  let scratch: string;

  beforeAll(async () => {
    service = await openService({}, {}, { variant: "stac" });
    // Somebody has to take back what a killed worker held: the duties of the janitor are a TypeScript worker's.
    await service.worker();
    scratch = await mkdtemp(join(tmpdir(), "fanfold-engines-"));
  });

  afterAll(async () => {
    await service?.close();
    await rm(scratch, { recursive: true, force: true });
  });

  test.each(files)("%s", async (file) => {
    const report = join(scratch, `${file}.xml`);
    const env = {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "",
      PYTHONDONTWRITEBYTECODE: "1",
      FANFOLD_TEST_URL: service.url,
      FANFOLD_TEST_BRONZE: join(service.storage_dir, "zones", "bronze", "tenant-default"),
      FANFOLD_TEST_KEY: await service.key(),
    };
    const given = ["-m", "pytest", "-p", "no:cacheprovider", "--durations=20", `--junitxml=${report}`, file];
    const child = spawn(ready.python, given, { cwd: folder, env });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (output += piece));
    const code = await new Promise((resolve) => child.on("close", resolve));
    const told = [...(await readFile(report, "utf8")).matchAll(/<testcase [^>]*?(\/>|>.*?<\/testcase>)/gs)];
    const unusual = told.filter(([text]) => /<(failure|error|skipped)\b/.test(text));
    expect(code === 0 && told.length > 0 && unusual.length === 0 ? "" : `${code}\n${output}`).toBe("");
  });
});
