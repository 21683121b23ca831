// The server's clock, to be set while it runs. Needs a C compiler; where there is none, there is no such clock.
import { spawnSync } from "node:child_process";
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface ServerClock {
  /** What the server must be started with. */
  env: Record<string, string>;
  /** From now on the server's calendar is so many seconds off. */
  set(offset_s: number): void;
  remove(): void;
}

export function makeServerClock(): ServerClock | null {
  const dir = mkdtempSync(join(tmpdir(), "fanfold-clock-"));
  // The server runs as another user.
  chmodSync(dir, 0o755);
  const library = join(dir, "clock_step.so");
  const source = fileURLToPath(new URL("./clock_step.c", import.meta.url));
  const made = spawnSync("cc", ["-shared", "-fPIC", "-O1", "-o", library, source], { encoding: "utf8" });
  const remove = () => rmSync(dir, { recursive: true, force: true });
  if (made.status !== 0) {
    remove();
    return null;
  }
  const path = join(dir, "offset");
  const file = openSync(path, "w", 0o644);
  const set = (offset_s: number) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(offset_s));
    writeSync(file, bytes, 0, 8, 0);
  };
  set(0);
  return {
    env: { LD_PRELOAD: library, FAULT_CLOCK_FILE: path },
    set,
    remove: () => {
      closeSync(file);
      remove();
    },
  };
}
