// Tasks with a scratch directory and zones over a folder of bytes in memory, which count what is asked of them.
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { default_policy, type OutboundPolicy } from "../../../src/core/places/outbound.js";
import type { TaskZones, ZoneRef } from "../../../src/core/places/zones.js";
import type { TaskContext } from "../../../src/core/task/context.js";
import { default_raster_settings, type RasterSettings } from "../../../src/core/task/raster_settings.js";

export const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

export class SourceWorld {
  readonly objects = new Map<string, Uint8Array>();
  /** Given instead of the object when it is downloaded. */
  readonly swapped = new Map<string, Uint8Array>();
  downloads = 0;
  reads = 0;
  /** Downloads wait for it. */
  gate: Promise<void> = Promise.resolve();
  private tasks = 0;

  private constructor(readonly root: string) {}

  static async open(): Promise<SourceWorld> {
    return new SourceWorld(await mkdtemp(join(tmpdir(), "fanfold-sources-")));
  }

  close(): Promise<void> {
    return rm(this.root, { recursive: true, force: true });
  }

  get cache_dir(): string {
    return join(this.root, "sources");
  }

  cache(bytes = 1_000_000): RasterSettings["source_cache"] {
    return { dir: this.cache_dir, bytes };
  }

  ctx(
    more: {
      tenant_id?: string;
      source_cache?: RasterSettings["source_cache"];
      outbound?: Partial<OutboundPolicy>;
      signal?: AbortSignal;
      engine?: RasterSettings["engine"];
    } = {},
  ): TaskContext {
    const scratch = join(this.root, `task-${++this.tasks}`);
    const { tenant_id = "default", source_cache = null, outbound = {}, signal = new AbortController().signal } = more;
    const { engine = default_raster_settings.engine } = more;
    return {
      tenant_id,
      signal,
      raster: { ...default_raster_settings, source_cache, engine },
      outbound: { ...default_policy, refusal_ms: 0, ...outbound },
      scratch: () => mkdir(scratch, { recursive: true }).then(() => scratch),
      zones: this.zones,
    } as unknown as TaskContext;
  }

  private readonly zones = {
    stat: async ({ key }: ZoneRef) => {
      const bytes = this.objects.get(key);
      return bytes === undefined ? null : { bytes: bytes.length, etag: sha256(bytes).slice(0, 8), modified_at: "" };
    },
    list: async (_: string, prefix: string) => {
      const found = [...this.objects].filter(([key]) => key.startsWith(prefix)).sort();
      return {
        entries: found.map(([key, { length }]) => ({ key, bytes: length, etag: "", modified_at: "" })),
        next: null,
      };
    },
    read: async ({ key }: ZoneRef, offset: number, length: number) => {
      this.reads++;
      return this.objects.get(key)!.slice(offset, offset + length);
    },
    download: async ({ key }: ZoneRef, file: string) => {
      this.downloads++;
      await this.gate;
      const bytes = this.swapped.get(key) ?? this.objects.get(key)!;
      await writeFile(file, bytes, { flag: "wx" });
      return { bytes: bytes.length, sha256: sha256(bytes), etag: "" };
    },
  } as unknown as TaskZones;
}
