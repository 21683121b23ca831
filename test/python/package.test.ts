// The Python package's own tests, run by pytest in an environment that is made once, against a server of ours. Each is a test here too.
import { execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineHandler } from "../../src/core/declare/declare.js";
import { withoutPostgis } from "../catalog_packages.js";
import { build } from "../cli/built_program.js";
import { openService, type TestService } from "../server/service.js";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = join(root, "python");

const is_soak = process.env.FANFOLD_TEST_SOAK !== undefined;
/** What starts the whole product takes its time. */
const chosen = is_soak ? [] : ["-m", "not slow"];

/** The interpreter of the environment, and the tests there are; or why there is none. */
async function prepared(): Promise<{ python: string; names: string[] } | string> {
  try {
    const made = await run("node", ["scripts/python.mjs", "venv"], { cwd: root, timeout: 600_000 });
    const python = made.stdout.trim().split("\n").at(-1)!;
    const { stdout } = await run(python, ["-m", "pytest", "--collect-only", "-q", "-o", "addopts=", ...chosen], {
      cwd: folder,
    });
    return { python, names: stdout.split("\n").filter((line) => line.includes("::")) };
  } catch (error) {
    const { stderr, stdout } = error as { stderr?: string; stdout?: string };
    const told = (stderr ?? "").split("\n").find((line) => line.includes("is left out"));
    if (told !== undefined) return told;
    throw new Error(`${error}\n${stdout}\n${stderr}`);
  }
}

const ready = await prepared();

interface Outcome {
  kind: string;
  output: string;
}

const here = (names: string[]) => names.map((name) => `tests/test_${name}.py`);
const shares: Record<string, { title: string; files: string[]; env?: Record<string, string> }> = {
  worker: { title: "", files: here(["worker"]) },
  client: { title: "", files: here(["client", "context", "declare", "docs", "engines", "platform", "vectors"]) },
  plain: {
    title: " (without pydantic)",
    files: here(["client", "declare", "platform", "vectors"]),
    env: { FANFOLD_TEST_WITHOUT_PYDANTIC: "1" },
  },
};

/** How each test of these files ended. */
async function pytest(python: string, files: string[], env: Record<string, string>): Promise<Map<string, Outcome>> {
  const scratch = await mkdtemp(join(tmpdir(), "fanfold-pytest-"));
  const report = join(scratch, "report.xml");
  const args = ["-m", "pytest", "-p", "no:cacheprovider", "--durations=8", `--junitxml=${report}`, ...chosen, ...files];
  const child = spawn(python, args, { cwd: folder, env });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (output += piece));
  await new Promise((resolve) => child.on("close", resolve));
  const outcomes = new Map<string, Outcome>();
  for (const [, name, rest] of (await readFile(report, "utf8").catch(() => "")).matchAll(
    /<testcase [^>]*?\bname="([^"]*)"[^>]*?(\/>|>.*?<\/testcase>)/gs,
  )) {
    const kind = /<(failure|error|skipped)\b/.exec(rest!)?.[1] ?? "passed";
    outcomes.set(name!.replaceAll("&lt;", "<"), { kind, output });
  }
  await rm(scratch, { recursive: true, force: true });
  if (outcomes.size === 0) throw new Error(`pytest ran nothing:\n${output}`);
  if (process.env.FANFOLD_TEST_SHOW_PYTEST === "1") process.stderr.write(output);
  return outcomes;
}

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
  const outcomes = new Map<string, Outcome>();

  beforeAll(async () => {
    const has_catalog = (await withoutPostgis()) === null;
    const shout = defineHandler("ts.shout", {}, async (_, ctx) => {
      const before = await ctx.predecessor();
      return { text: `${String(before?.result.word).toUpperCase()}!` };
    });
    if (is_soak) await build();
    service = await openService({ handlers: [shout] }, {}, has_catalog ? { variant: "stac" } : {});
    await service.worker();
    // They mostly wait, so they run side by side, each with a tenant of its own.
    await Promise.all(
      Object.entries(shares).map(async ([tenant, { files, env }]) => {
        const given = { ...(await environment(tenant)), ...(has_catalog ? { FANFOLD_TEST_STAC: "1" } : {}), ...env };
        for (const [name, outcome] of await pytest(python, files, given)) outcomes.set(`${tenant} ${name}`, outcome);
      }),
    );
  }, 300_000);

  async function environment(tenant: string): Promise<Record<string, string>> {
    return {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "",
      PYTHONDONTWRITEBYTECODE: "1",
      FANFOLD_TEST_URL: service.url,
      FANFOLD_TEST_BRONZE: join(service.storage_dir, "zones", "bronze", `tenant-${tenant}`),
      FANFOLD_TEST_DATABASE_URL: service.database_url,
      FANFOLD_TEST_KEY: await service.key(tenant),
      FANFOLD_TEST_WORK_KEY: await service.key(tenant, ["work"]),
    };
  }

  afterAll(() => service?.close());

  for (const [tenant, { title, files }] of Object.entries(shares)) {
    const own = names.filter((name) => files.some((file) => name.startsWith(file)));
    test.each(own.map((name) => [`${sentence(name)}${title}`, name]))("%s", (_, name) => {
      const { kind, output } = outcomes.get(`${tenant} ${name.replace(/^.*::/, "")}`) ?? {
        kind: "not run",
        output: "",
      };
      // What is about pydantic is left out where that is not installed, and nothing else.
      const is_left_out = kind === "skipped" && title !== "" && /pydantic/.test(name);
      expect(kind === "passed" || is_left_out ? "" : `${kind}\n${output}`).toBe("");
    });
  }

  test("each of its tests is in a share", () => {
    const shared = Object.values(shares).flatMap(({ files }) => files);
    expect(names.filter((name) => !shared.some((file) => name.startsWith(file)))).toEqual([]);
  });

  test("it is of the product's version", async () => {
    const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    expect(await readFile(join(folder, "src/fanfold/version.py"), "utf8")).toContain(`VERSION = "${version}"`);
  });

  test("its code is as ruff wants it", async () => {
    const { stdout } = await run(python, ["-m", "ruff", "check", "--quiet", "."], { cwd: folder }).catch(
      (error) => error,
    );
    expect(stdout).toBe("");
  });
});
