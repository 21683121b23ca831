// Everything that can be said of the code without running the whole test suite: format, lint, types, who imports whom, and
// plpgsql_check over every SQL function where a server with that extension can be had. All of it, also when one part fails.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const parts = [
  ["format and lint", "biome", "check", "."],
  ["types", "tsc", "--noEmit"],
  ["types of the dashboard", "tsc", "-p", "dashboard", "--noEmit"],
  ["types of the documentation", "node", "scripts/snippets.mjs"],
  ["the Python package", "node", "scripts/python.mjs", "check"],
  ["folder rules and SQL functions", "vitest", "run", "test/folders.test.ts", "test/functions.test.ts"],
];

const failed = [];
for (const [name, ...command] of parts) {
  process.stdout.write(`\n# ${name}\n`);
  const { status } = spawnSync("npx", ["--no-install", ...command], {
    cwd: root,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  // 69: there is no Python here, which was said.
  if (status !== 0 && status !== 69) failed.push(name);
}
process.stdout.write(failed.length === 0 ? "\nall checks passed\n" : `\nfailed: ${failed.join(", ")}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
