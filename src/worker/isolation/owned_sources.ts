// The cached sources of tenants whose processes are users of their own. Such a process sees its own tenant's only, so what all of them
// take up together is the worker's to bound.
import { SourceCache, type SourceCacheOptions, sourceFolder } from "../../storage/source_cache.js";
import { makeFolderOf } from "./owned_files.js";

const TRIM_MS = 2000;

export class OwnedSources {
  private cache: SourceCacheOptions | undefined;
  private trimming: NodeJS.Timeout | undefined;

  give(uid: number, tenant_id: string, cache: SourceCacheOptions): void {
    makeFolderOf(uid, sourceFolder(cache.dir, tenant_id));
    this.cache = cache;
  }

  /** A task has ended that may have added to them. */
  used(): void {
    const { cache } = this;
    if (cache === undefined) return;
    this.trimming ??= setTimeout(() => {
      this.trimming = undefined;
      new SourceCache(cache).makeRoom(0).catch(() => {});
    }, TRIM_MS).unref();
  }

  close(): void {
    clearTimeout(this.trimming);
  }
}
