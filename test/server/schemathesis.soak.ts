// Ten minutes of schemathesis against a running server with rows of every kind: it reads the OpenAPI document as it is served, and makes
// calls of it that fit and that do not, with methods nobody declared, in sequences that use what earlier answers told. Whatever is no
// answer of the document's is a finding, and none is let pass. FANFOLD_SCHEMATHESIS_S: other than ten minutes.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { scopes } from "../../src/core/api/endpoint.js";
import { withoutPostgis } from "../catalog_packages.js";
import { schemathesis } from "../python_tools.js";
import { ids, World, world_parts, world_types } from "./conformance_world.js";
import { openService } from "./service.js";

const seconds = Number(process.env.FANFOLD_SCHEMATHESIS_S ?? 600);
const tools = await schemathesis();
const config = fileURLToPath(new URL("./schemathesis.toml", import.meta.url));

test.skipIf(typeof tools === "string")(
  `schemathesis finds nothing in ${seconds} seconds${typeof tools === "string" ? ` (${tools})` : ""}`,
  { timeout: (seconds + 300) * 1000 },
  async () => {
    // Without PostGIS there is no catalogue: its calls are refused then, as the document says.
    const service = await openService(world_parts, {}, { variant: (await withoutPostgis()) === null ? "stac" : "app" });
    const folder = await mkdtemp(join(tmpdir(), "fanfold-schemathesis-"));
    try {
      await service.worker({ types: world_types, slots: 4 });
      const world = new World(service, "acme", "acme_mark");
      await service.key("acme");
      for (const make of Object.values(ids)) await make(world);
      const key = await service.key("acme", scopes, { operator: true });
      const said = await run(folder, `${service.url}/api/openapi.json`, key);
      process.stderr.write(`${said.slice(said.indexOf("API Operations:"))}\n`);
      expect(said).toMatch(/\n=+ [\d,]+ passed[^\n]*=+\s*$|No issues found/);
    } finally {
      await service.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
);

/** What it says, however it ends. One caller: with more, Python's own parser is not safe. */
function run(cwd: string, document: string, key: string): Promise<string> {
  const told = [
    "-m",
    "schemathesis.cli",
    "--config-file",
    config,
    "--no-color",
    "run",
    document,
    "--header",
    `Authorization: Bearer ${key}`,
    "--max-time",
    String(seconds),
    "--checks",
    "all",
    "--mode",
    "all",
    "--continue-on-failure",
    "--suppress-health-check",
    "all",
    "--request-timeout",
    "60",
    "--workers",
    "1",
  ];
  const env = { PATH: process.env.PATH ?? "", NO_PROXY: "127.0.0.1", HOME: cwd, PYTHONDONTWRITEBYTECODE: "1" };
  return new Promise((resolve) => {
    execFile((tools as { python: string }).python, told, { cwd, env, maxBuffer: 2 ** 28 }, (_, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
}
