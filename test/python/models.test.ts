// What of the Python package follows from our OpenAPI document, and its blocking twins, are as they should be: `npm run docs` writes them.
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { openService } from "../server/service.js";

const folder = fileURLToPath(new URL("../../python", import.meta.url));
const has_python = spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 10))"]).status === 0;

test.skipIf(!has_python)("the Python models, endpoints and twins are as the document and the sources say", async () => {
  const service = await openService();
  onTestFinished(() => service.close());
  const scratch = await mkdtemp(join(tmpdir(), "fanfold-openapi-"));
  onTestFinished(() => rm(scratch, { recursive: true }));
  const { body } = await service.call("GET", "/api/openapi.json", { key: null });
  const file = join(scratch, "openapi.json");
  await writeFile(file, JSON.stringify(body));
  const check = process.env.FANFOLD_WRITE_DOCS === "1" ? [] : ["--check"];
  const { stdout, stderr } = spawnSync("python3", ["scripts/generate.py", file, ...check], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(stdout + stderr).toMatch(check.length > 0 ? /all as it should be/ : /written/);
});
