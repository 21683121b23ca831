// The dashboard as it is shipped, built once for all test files of a run.
import { execFile } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { madeOnce } from "../made_once.js";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const shipped = join(root, "dist", "dashboard");
/** Gives the folder that holds index.html. */
export async function builtDashboard(): Promise<string> {
  return isFresh() ? shipped : madeOnce("dashboard", build);
}

/** `npm run build` has just made it. */
function isFresh(): boolean {
  if (!existsSync(join(shipped, "ui"))) return false;
  const built_at = statSync(join(shipped, "index.html"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const bundled = readdirSync(join(shipped, "ui")).length > 0;
  return bundled && ["dashboard", "src/core", "src/client"].every((part) => newest(join(root, part)) < built_at);
}

function newest(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(folder, name)).mtimeMs)
    .reduce((a, b) => Math.max(a, b), 0);
}

/** In a process of its own: here NODE_ENV is "test", and React would be the one for developers. */
async function build(out_dir: string): Promise<void> {
  const vite = join(root, "node_modules", "vite", "bin", "vite.js");
  const config = join(root, "dashboard", "vite.config.ts");
  await run(process.execPath, [vite, "build", "--config", config, "--outDir", out_dir, "--logLevel", "warn"], {
    cwd: root,
    env: { ...process.env, NODE_ENV: "production", VITEST: "" },
  });
}
