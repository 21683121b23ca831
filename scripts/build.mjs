// src/ into dist/ and dashboard/ into dist/dashboard, from nothing each time: a module that was removed must not live on in the package.
import { spawnSync } from "node:child_process";
import { chmodSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");

rmSync(join(root, "dist"), { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [tsc, "-p", join(root, "tsconfig.build.json")], { stdio: "inherit" });
if (status === 0) {
  chmodSync(join(root, "dist", "cli", "main.js"), 0o755);
  await build({ configFile: join(root, "dashboard", "vite.config.ts"), logLevel: "warn" });
}
process.exitCode = status ?? 1;
