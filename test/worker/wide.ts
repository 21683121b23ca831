// Runs a wide job in a child process, for the tests that look at its memory and at what it does to the tables.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

export interface WideRun {
  status: string;
  result: { seen: number; sum: number };
  peak_mb: number;
}

export async function runWide(database_url: string, count: number): Promise<WideRun> {
  const storage_dir = await mkdtemp(join(tmpdir(), "fanfold-test-"));
  try {
    const args = [
      "--import",
      path("./typescript.mjs"),
      path("./wide_child.ts"),
      database_url,
      storage_dir,
      String(count),
    ];
    const { stdout } = await run(process.execPath, args);
    return JSON.parse(stdout) as WideRun;
  } finally {
    await rm(storage_dir, { recursive: true, force: true });
  }
}
