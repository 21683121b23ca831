// What a command says while its database opens, and what stands on a terminal before its log.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { migratedFolder } from "./embedded_folder.js";
import { fanfold, start } from "./fake_terminal.js";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let folder: string;
/** No database can be opened here: what is said before the error is said before the database is open. */
let impossible: string;

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "fanfold-first-"));
  impossible = path.join(folder, "a-file");
  writeFileSync(impossible, "");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a command says that it opens the embedded database before it does", async () => {
  for (const command of ["jobs", "migrate"]) {
    const { code, err } = await fanfold([command, "--data-dir", impossible]);
    expect(code).toBe(5);
    expect(err).toMatch(
      /^opening the embedded database in .*a-file, which takes a few seconds the first time\nerror: /,
    );
  }
});

test("on a terminal the line is drawn, and with --json there is none", async () => {
  const live = start(["jobs", "--data-dir", impossible], { live: true });
  expect((await live.done).err).toMatch(/^error: /);
  expect(live.drawings).toEqual([expect.stringContaining("opening the embedded database")]);
  expect((await fanfold(["jobs", "--data-dir", impossible, "--json"])).err).toBe("");
});

test("no line of the log stands above what `up` says first on a terminal, and the dashboard's address comes first", async () => {
  const data = path.join(folder, "data");
  await migratedFolder(data);
  const up = start(["up", "--port", "0", "--data-dir", data], { live: true, env: { FANFOLD_LOG_LEVEL: "info" } });
  await up.until('"msg":"worker started"');
  up.signal("SIGINT");
  expect((await up.done).code).toBe(0);
  const lines = up.screen().split("\n");
  expect(lines[0]).toMatch(/^fanfold .* is up$/);
  expect(lines[1]).toMatch(/^ {2}(dashboard|http) /);
  const first_log = lines.findIndex((line) => line.startsWith("{"));
  expect(first_log).toBeGreaterThan(lines.findIndex((line) => line.startsWith("  stop")));
});
