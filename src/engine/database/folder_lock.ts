// One process at a time per embedded data folder. The lock is a file that says who holds it; a holder that is dead (also
// by kill -9) holds nothing. Touches only that file and, for the moment of deciding, a guard folder beside it.
import { mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

export interface Holder {
  pid: number;
  host: string;
  /** When the process began, as its kernel counts: a pid alone may have been given to another process since. */
  process_start: string | null;
  started: string;
}

export class EmbeddedFolderBusy extends Error {
  override name = "EmbeddedFolderBusy";
  readonly code = "EMBEDDED_FOLDER_BUSY";

  constructor(
    readonly folder: string,
    readonly pid: number,
    readonly host: string,
  ) {
    const here = host === hostname();
    const who = !here ? `process ${pid} on ${host}` : pid === process.pid ? "this very process" : `process ${pid}`;
    const stop = here && pid !== process.pid ? `stop it (kill ${pid})` : "stop it";
    super(
      `the embedded database in ${folder} is in use by ${who}, and only one process can have it open. ` +
        `Either ${stop}, or use another folder (--data-dir other), or set DATABASE_URL to a Postgres server, ` +
        "which many processes can share.",
    );
  }
}

const lock_name = "lock.json";
const guard_name = "lock.guard";
/** Deciding takes a millisecond; a guard this old was left by a process killed inside it. */
const guard_stale_ms = 5_000;
const refresh_ms = 10_000;
/** On another host nothing can be asked of a pid: there the holder's sign of life is the file's age. */
const silent_ms = 60_000;

const held_here = new Set<string>();

export async function lockFolder(folder: string): Promise<() => void> {
  if (held_here.has(folder)) throw new EmbeddedFolderBusy(folder, process.pid, hostname());
  const path = join(folder, lock_name);
  const release_guard = await takeGuard(join(folder, guard_name));
  const mine: Holder = {
    pid: process.pid,
    host: hostname(),
    process_start: processStart(process.pid),
    started: new Date().toISOString(),
  };
  try {
    const holder = readHolder(path);
    if (holder && isAlive(holder, path)) throw new EmbeddedFolderBusy(folder, holder.pid, holder.host);
    writeFileSync(`${path}.new`, JSON.stringify(mine));
    renameSync(`${path}.new`, path);
    held_here.add(folder);
  } finally {
    release_guard();
  }
  const timer = setInterval(() => touch(path), refresh_ms);
  timer.unref();
  return () => {
    if (!held_here.delete(folder)) return;
    clearInterval(timer);
    if (readHolder(path)?.started === mine.started) rmSync(path, { force: true });
  };
}

/** mkdir either makes the folder or fails, on every file system: two processes never decide at once. */
async function takeGuard(guard: string): Promise<() => void> {
  for (;;) {
    try {
      mkdirSync(guard);
      return () => rmSync(guard, { recursive: true, force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    if (ageMs(guard) > guard_stale_ms) {
      try {
        rmdirSync(guard);
      } catch {
        // Another process removed it first.
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function isAlive(holder: Holder, path: string): boolean {
  if (holder.host !== hostname()) return ageMs(path) < silent_ms;
  // This process holds none (it would have been found above), so a lock with its pid is from an earlier life.
  if (holder.pid === process.pid || !exists(holder.pid)) return false;
  const start = processStart(holder.pid);
  return start === null || holder.process_start === null || start === holder.process_start;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Linux tells; elsewhere the pid has to do. */
function processStart(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}

function readHolder(path: string): Holder | null {
  try {
    const holder = JSON.parse(readFileSync(path, "utf8"));
    return Number.isInteger(holder?.pid) && typeof holder.host === "string" ? holder : null;
  } catch {
    return null;
  }
}

function ageMs(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

function touch(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // A folder removed under a running database shows itself in the database soon enough.
  }
}
