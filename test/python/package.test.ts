// The Python package's own tests, run by pytest in an environment that is made once, against a server of ours. Each is a test here too.
import { execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineHandler } from "../../src/core/declare/declare.js";
import { openService, type TestService } from "../server/service.js";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = join(root, "python");

/** The interpreter of the environment, and the tests there are; or why there is none. */
async function prepared(): Promise<{ python: string; names: string[] } | string> {
  try {
    const made = await run("node", ["scripts/python.mjs", "venv"], { cwd: root, timeout: 600_000 });
    const python = made.stdout.trim().split("\n").at(-1)!;
    const { stdout } = await run(python, ["-m", "pytest", "--collect-only", "-q", "-o", "addopts="], { cwd: folder });
    return { python, names: stdout.split("\n").filter((line) => line.includes("::")) };
  } catch (error) {
    const { stderr, stdout } = error as { stderr?: string; stdout?: string };
    const told = (stderr ?? "").split("\n").find((line) => line.includes("is left out"));
    if (told !== undefined) return told;
    throw new Error(`${error}\n${stdout}\n${stderr}`);
  }
}

const ready = await prepared();

/** "a job is submitted" of "tests/test_client.py::test_a_job_is_submitted". */
function sentence(name: string): string {
  return name.replace(/^.*::(test_)?/, "").replaceAll("_", " ");
}

describe.skipIf(typeof ready === "string")(typeof ready === "string" ? ready : "the Python package", () => {
  if (typeof ready === "string") {
    test("is left out", () => {});
    return;
  }
  const { python, names } = ready;
  let service: TestService;
  let output = "";
  const outcomes = new Map<string, string>();

  beforeAll(async () => {
    const shout = defineHandler("ts.shout", {}, async (_, ctx) => {
      const before = await ctx.predecessor();
      return { text: `${String(before?.result.word).toUpperCase()}!` };
    });
    service = await openService({ handlers: [shout] });
    await service.worker();
    const scratch = await mkdtemp(join(tmpdir(), "fanfold-pytest-"));
    const report = join(scratch, "report.xml");
    const env = {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "",
      PYTHONDONTWRITEBYTECODE: "1",
      FANFOLD_TEST_URL: service.url,
      FANFOLD_TEST_BRONZE: join(service.storage_dir, "zones", "bronze", "tenant-default"),
      FANFOLD_TEST_KEY: await service.key(),
      FANFOLD_TEST_WORK_KEY: await service.key("default", ["work"]),
    };
    const child = spawn(python, ["-m", "pytest", "-p", "no:cacheprovider", "--durations=8", `--junitxml=${report}`], {
      cwd: folder,
      env,
    });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (output += piece));
    await new Promise((resolve) => child.on("close", resolve));
    for (const [, name, rest] of (await readFile(report, "utf8")).matchAll(
      /<testcase [^>]*?\bname="([^"]*)"[^>]*?(\/>|>.*?<\/testcase>)/gs,
    )) {
      const kind = /<(failure|error|skipped)\b/.exec(rest!)?.[1] ?? "passed";
      outcomes.set(name!.replaceAll("&lt;", "<"), kind);
    }
    await rm(scratch, { recursive: true, force: true });
  }, 300_000);

  afterAll(() => service?.close());

  test.each(names.map((name) => [sentence(name), name]))("%s", (_, name) => {
    const outcome = outcomes.get(name.replace(/^.*::/, ""));
    expect(outcome === "passed" ? "" : `${outcome}\n${output}`).toBe("");
  });

  test("it is of the product's version, and declares and checks without pydantic, too", async () => {
    const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    expect(await readFile(join(folder, "src/fanfold/version.py"), "utf8")).toContain(`VERSION = "${version}"`);
    const env = { PATH: process.env.PATH ?? "", PYTHONDONTWRITEBYTECODE: "1", FANFOLD_TEST_WITHOUT_PYDANTIC: "1" };
    const given = ["-m", "pytest", "-p", "no:cacheprovider", "tests/test_declare.py"];
    const { stdout } = await run(python, given, { cwd: folder, env }).catch((error) => error);
    expect(stdout).toMatch(/\d+ passed, 1 skipped/);
  });

  test("its code is as ruff wants it", async () => {
    const { stdout } = await run(python, ["-m", "ruff", "check", "--quiet", "."], { cwd: folder }).catch(
      (error) => error,
    );
    expect(stdout).toBe("");
  });
});
