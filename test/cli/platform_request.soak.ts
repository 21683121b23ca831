// The example of a platform request as a person runs it who has nothing but this program: on the embedded database, with curl alone.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { scene } from "../jobs/raster_world.js";
import { build, root, spawnFanfold } from "./built_program.js";

let cwd: string;
beforeAll(async () => {
  cwd = mkdtempSync(path.join(tmpdir(), "fanfold-platform-"));
  await build();
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

test("a raster goes through a request on the embedded database, and is taken down again", async () => {
  const file = path.join(cwd, "example.tif");
  writeFileSync(file, scene());
  const program = spawnFanfold(["up", "--port", "0"], { cwd, env: { FANFOLD_CATALOG: "stac" } });
  try {
    await expect.poll(() => program.out(), { timeout: 120_000 }).toMatch(/ff_live_\w{12}_[\w-]{43}/);
    const [key = ""] = /ff_live_\w{12}_[\w-]{43}/.exec(program.out()) ?? [];
    await expect.poll(() => program.out(), { timeout: 60_000 }).toMatch(/http:\/\/127\.0\.0\.1:\d+/);
    const [url = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(program.out()) ?? [];
    const script = path.join(root, "examples", "platform_request", "request.sh");
    const { stdout } = await promisify(execFile)("bash", [script], {
      env: { ...process.env, URL: url, KEY: key, FILE: file },
    });
    expect(stdout.trimEnd().split("\n")).toEqual([
      "uploaded: bronze:requests/example.tif",
      "would be: raster",
      "waits for approval of: publish",
      "the request is completed",
      expect.stringMatching(/^followed \d+ links$/),
      expect.stringMatching(/^would go: \d+ files$/),
      "revoked, and taken down",
    ]);
  } finally {
    program.child.kill("SIGTERM");
    await program.ended;
  }
});
