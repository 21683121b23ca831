// Where the process that holds an embedded database answers HTTP: a small file beside it, for commands that find the database in use.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const file_name = "serving.json";

/** Returns how to take it back. A folder that cannot be written loses a hint and nothing else. */
export function noteServedAt(data_dir: string, url: string): () => void {
  const path = join(data_dir, file_name);
  try {
    writeFileSync(path, JSON.stringify({ pid: process.pid, url }));
  } catch {
    return () => {};
  }
  return () => rmSync(path, { force: true });
}

/** Null when that process did not say, or another did before it. */
export function servedAt(data_dir: string, pid: number): string | null {
  try {
    const said = JSON.parse(readFileSync(join(data_dir, file_name), "utf8")) as { pid?: unknown; url?: unknown };
    return said.pid === pid && typeof said.url === "string" ? said.url : null;
  } catch {
    return null;
  }
}
