// The dashboard as it is shipped, built once for all test files of a run: whoever comes first builds, the others wait.
import { execFile } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const shipped = join(root, "dist", "dashboard");
const patience_ms = 120_000;

/** Gives the folder that holds index.html. `shared_dir`: of this run. */
export async function builtDashboard(shared_dir: string): Promise<string> {
  if (isFresh()) return shipped;
  const folder = join(shared_dir, "dashboard");
  const failure = join(shared_dir, "dashboard-failed");
  if (existsSync(folder)) return folder;
  const mine = await mkdir(join(shared_dir, "dashboard-lock")).then(
    () => true,
    () => false,
  );
  if (mine) {
    try {
      await build(join(shared_dir, "dashboard-new"));
      // It must appear in one piece.
      await rename(join(shared_dir, "dashboard-new"), folder);
    } catch (error) {
      await writeFile(failure, String((error as { stderr?: string }).stderr || error));
    }
  }
  for (const until = Date.now() + patience_ms; !existsSync(folder); ) {
    if (existsSync(failure)) throw new Error(`the dashboard cannot be built:\n${await readFile(failure, "utf8")}`);
    if (Date.now() > until) throw new Error("the dashboard is still not built");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return folder;
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
