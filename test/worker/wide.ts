// Runs a wide job in a child process, for the tests that look at its memory and at what it does to the tables.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { plainScript } from "../plain_code.js";

const run = promisify(execFile);

export interface WideRun {
  status: string;
  result: { seen: number; sum: number };
  peak_mb: number;
}

export async function runWide(database_url: string, count: number): Promise<WideRun> {
  const storage_dir = await mkdtemp(join(tmpdir(), "fanfold-test-"));
  try {
    const script = plainScript(new URL("./wide_child.ts", import.meta.url));
    const { stdout } = await run(process.execPath, [script, database_url, storage_dir, String(count)]);
    return JSON.parse(stdout) as WideRun;
  } finally {
    await rm(storage_dir, { recursive: true, force: true });
  }
}
