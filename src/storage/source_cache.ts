// Sources that were fetched once, for the other tasks on this machine that work on the same raster. A file is in it under a name made
// of what it is (tenant, place, version), read-only, and reaches a task as a second name in its scratch directory: nothing is copied,
// and what is thrown out of the cache stays with the process that works on it. Processes agree through renames and links, which are atomic.
import { createHash, randomUUID } from "node:crypto";
import type { Stats } from "node:fs";
import { chmod, link, mkdir, open, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

export interface CachedFile {
  bytes: number;
  sha256: string;
}

export interface SourceCacheOptions {
  dir: string;
  bytes: number;
  /** How long a fetch may be silent before another process begins it anew. */
  stale_ms?: number;
  poll_ms?: number;
}

/** What it is, its checksum, its size, and when it was last written to. */
const entry_name = /^([0-9a-f]{64})\.([0-9a-f]{64})\.(\d+)\.(\d+)$/;

export class SourceCache {
  private readonly stale_ms: number;
  private readonly poll_ms: number;

  constructor(private readonly options: SourceCacheOptions) {
    this.stale_ms = options.stale_ms ?? 15_000;
    this.poll_ms = options.poll_ms ?? 200;
  }

  /**
   * The file `what` names, put at `target`: from the cache, or by `fetch`, which writes `target` itself. While one process fetches,
   * others that want the same wait for it.
   */
  async provide(
    tenant_id: string,
    what: readonly string[],
    target: string,
    fetch: () => Promise<CachedFile>,
    signal: AbortSignal,
  ): Promise<CachedFile & { from_cache: boolean }> {
    const dir = sourceFolder(this.options.dir, tenant_id);
    const name = digest([tenant_id, ...what]);
    await mkdir(dir, { recursive: true, mode: 0o700 });
    for (;;) {
      signal.throwIfAborted();
      const found = await this.take(dir, name, target);
      if (found !== null) return { ...found, from_cache: true };
      const lock = await this.lock(dir, name);
      if (lock === null) {
        await wait(this.poll_ms, undefined, { signal });
        continue;
      }
      try {
        // It may have come between the look and the lock.
        const late = await this.take(dir, name, target);
        if (late !== null) return { ...late, from_cache: true };
        const made = await fetch();
        await this.keep(dir, name, target, made);
        return { ...made, from_cache: false };
      } finally {
        await lock.release();
      }
    }
  }

  private async take(dir: string, name: string, target: string): Promise<CachedFile | null> {
    for (const file of await names(dir)) {
      const [, is, sha256 = "", bytes = "", modified = ""] = entry_name.exec(file) ?? [];
      if (is !== name) continue;
      const path = join(dir, file);
      const found = await stat(path).catch(() => null);
      if (found === null) continue;
      if (found.size !== Number(bytes) || stamp(found) !== modified) {
        // Somebody has written to what nobody writes to.
        await rm(path, { force: true });
        continue;
      }
      try {
        await link(path, target);
      } catch {
        // Thrown out just now.
        continue;
      }
      await utimes(path, new Date(), found.mtime).catch(() => {});
      return { bytes: found.size, sha256 };
    }
    return null;
  }

  /** Never a reason to fail: a disk that has no links has no cache. */
  private async keep(dir: string, name: string, target: string, { bytes, sha256 }: CachedFile): Promise<void> {
    if (bytes > this.options.bytes) return;
    const part = join(dir, `${randomUUID()}.part`);
    try {
      await this.makeRoom(bytes);
      // A whole second, which every file system keeps: a process that writes to the file later changes it.
      await utimes(target, new Date(), Math.floor(Date.now() / 1000));
      await chmod(target, 0o444);
      await link(target, part);
      const made = await stat(part);
      if (made.size === bytes) await rename(part, join(dir, `${name}.${sha256}.${bytes}.${stamp(made)}`));
    } catch {
      // The task has its file.
    } finally {
      await rm(part, { force: true });
    }
  }

  /**
   * What was used longest ago goes first, whoever's it is; so does what a killed process left half done. A process that is a user of
   * its tenant's sees nothing here: its worker does this for it.
   */
  async makeRoom(wanted: number): Promise<void> {
    const entries: { path: string; bytes: number; used: number }[] = [];
    for (const tenant of await names(this.options.dir)) {
      for (const file of await names(join(this.options.dir, tenant))) {
        const path = join(this.options.dir, tenant, file);
        const found = await stat(path).catch(() => null);
        if (found === null) continue;
        if (entry_name.test(file)) entries.push({ path, bytes: found.size, used: found.atimeMs });
        else if (file.endsWith(".part") && isOld(found, this.stale_ms)) await rm(path, { force: true });
      }
    }
    entries.sort((one, other) => one.used - other.used);
    let total = entries.reduce((sum, { bytes }) => sum + bytes, wanted);
    for (const { path, bytes } of entries) {
      if (total <= this.options.bytes) return;
      await rm(path, { force: true });
      total -= bytes;
    }
  }

  /** null: another process is fetching it. */
  private async lock(dir: string, name: string): Promise<{ release(): Promise<void> } | null> {
    const path = join(dir, `${name}.lock`);
    let ino: number;
    try {
      const file = await open(path, "wx", 0o600);
      ino = (await file.stat()).ino;
      await file.close();
    } catch {
      await this.breakStale(path);
      return null;
    }
    const beat = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => {}), this.stale_ms / 5);
    beat.unref();
    return {
      release: async () => {
        clearInterval(beat);
        const found = await stat(path).catch(() => null);
        if (found?.ino === ino) await rm(path, { force: true });
      },
    };
  }

  /** A lock nobody has touched for long is moved away by one, and only by one: a rename happens once. */
  private async breakStale(path: string): Promise<void> {
    const found = await stat(path).catch(() => null);
    if (found === null || !isOld(found, this.stale_ms)) return;
    const aside = `${path}.${randomUUID()}.part`;
    await rename(path, aside).then(
      () => rm(aside, { force: true }),
      () => {},
    );
  }
}

/** Where one tenant's sources lie. */
export function sourceFolder(dir: string, tenant_id: string): string {
  return join(dir, digest([tenant_id]).slice(0, 32));
}

function isOld(found: Stats, ms: number): boolean {
  return Date.now() - found.mtimeMs > ms;
}

function stamp(found: Stats): string {
  return String(found.mtimeMs / 1000).replace(".", "_");
}

async function names(dir: string): Promise<string[]> {
  return readdir(dir).catch(() => []);
}

function digest(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
