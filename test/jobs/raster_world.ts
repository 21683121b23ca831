// Everything a raster job needs, real: a database with a catalogue, zones on disk, a worker with its processes. One per test file:
// starting an engine takes a second. Tests keep apart by collection.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { deflateSync } from "node:zlib";
import type { Catalog } from "../../src/catalog/catalog.js";
import { openCatalog } from "../../src/catalog/open.js";
import { type NewGeoTiff, writeGeoTiff } from "../../src/cli/demo/geotiff_writer.js";
import { type Scene, syntheticScene } from "../../src/cli/demo/terrain.js";
import { createRegistry } from "../../src/core/declare/registry.js";
import { tenantPrefix } from "../../src/core/places/store.js";
import { isTerminal } from "../../src/core/shown/statuses.js";
import type { Database } from "../../src/engine/database/database.js";
import { Engine } from "../../src/engine/engine.js";
import { openEngine } from "../../src/engine/open_engine.js";
import type { JobRecord } from "../../src/engine/verbs/records.js";
import type { StacItem } from "../../src/geo/stac.js";
import { builtinRegistry } from "../../src/jobs/index.js";
import { openFolderStore } from "../../src/storage/folder_store.js";
import { Zones, zonesBelow } from "../../src/storage/zones.js";
import type { WorkerOptions } from "../../src/worker/options.js";
import { startWorker, type Worker } from "../../src/worker/worker.js";
import { withoutPgstac, withoutPostgis } from "../catalog_packages.js";
import { freshDatabase, freshEmbedded } from "../postgres.js";
import { node_args } from "../worker/isolation_node.js";
import { eventually } from "../worker/shop.js";

/** The built-in catalogue on a server or on the embedded database, or pgSTAC on a server. */
export type WorldKind = "server" | "embedded" | "pgstac";

export class RasterWorld {
  private readonly workers: Worker[] = [];

  private constructor(
    readonly engine: Engine,
    /** Superuser. */
    readonly db: Database,
    readonly dir: string,
    readonly catalog: Catalog,
    private readonly gone: () => Promise<void>,
  ) {}

  static async open(kind: WorldKind): Promise<RasterWorld> {
    const dir = mkdtempSync(join(tmpdir(), "fanfold-raster-"));
    const registry = createRegistry(builtinRegistry());
    if (kind !== "embedded") {
      const { db, url, drop } = await freshDatabase({ variant: kind === "server" ? "stac" : "pgstac" });
      const engine = await openEngine({ database_url: url, storage_dir: dir, registry });
      return new RasterWorld(engine, db, dir, await openCatalog(db, { tenant: "default" }), drop);
    }
    const embedded = await freshEmbedded({ catalog: true });
    const open = () => embedded.as("fanfold_admin");
    const engine = new Engine({
      db: open(),
      tenant: "default",
      registry,
      openConnection: open,
      close: () => embedded.close(),
      store: openFolderStore(join(dir, "storage")),
      zones: new Zones(zonesBelow(join(dir, "zones"))),
    });
    const db = embedded.as(null);
    return new RasterWorld(engine, db, dir, await openCatalog(db, { tenant: "default" }), async () => {});
  }

  async worker(options: WorkerOptions = {}): Promise<Worker> {
    const worker = await startWorker(this.engine, {
      slots: 2,
      poll_s: 1,
      isolation_node_args: node_args,
      raster: { engine: "wasm" },
      scratch_dir: join(this.dir, "scratch"),
      ...options,
    });
    this.workers.push(worker);
    return worker;
  }

  /** Where an object of the default tenant is on disk. */
  path(zone: string, key: string): string {
    return join(this.dir, "zones", zone, tenantPrefix("default"), key);
  }

  put(ref: string, bytes: Uint8Array | string): void {
    const [zone, key] = ref.split(":") as [string, string];
    const path = this.path(zone, key);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  }

  async submit(type: string, parameters: Record<string, unknown>, options = {}): Promise<string> {
    return (await this.engine.submit(type, parameters, options)).job_id;
  }

  async ended(job_id: string): Promise<JobRecord> {
    // Asked more often, the answers would take the time that the work needs.
    await eventually(async () => isTerminal((await this.engine.status(job_id)).status), 100);
    return this.engine.status(job_id);
  }

  async run(type: string, parameters: Record<string, unknown>, options = {}): Promise<JobRecord> {
    return this.ended(await this.submit(type, parameters, options));
  }

  items(collection: string): Promise<StacItem[]> {
    const query = { collections: [collection], limit: 1000, sortby: [{ field: "id", direction: "asc" as const }] };
    return this.catalog.search(this.db, query).then(({ items }) => items);
  }

  async item(collection: string, id: string): Promise<StacItem> {
    const found = await this.catalog.item(this.db, collection, id);
    if (found === null) throw new Error(`there is no item ${id} in ${collection}`);
    return found;
  }

  async close(): Promise<void> {
    for (const worker of this.workers) await worker.stop();
    await this.engine.close();
    await this.gone();
    await rm(this.dir, { recursive: true, force: true });
  }
}

/** UTM 36N, 30 m pixels, somewhere at the equator. */
export function scene(
  wanted: Partial<Scene> & { origin?: [number, number]; pixel?: number } = {},
  more: Partial<NewGeoTiff> = {},
): Uint8Array {
  const { origin = [500_000, 100_000], pixel = 30, ...rest } = wanted;
  const pixels = syntheticScene({ seed: 7, width: 64, height: 64, look: "dem", ...rest });
  return writeGeoTiff({
    ...pixels,
    transform: [origin[0], pixel, 0, origin[1], 0, -pixel],
    crs: { epsg: 32636, kind: "projected" },
    deflate: (bytes) => new Uint8Array(deflateSync(bytes)),
    ...more,
  });
}

/** Whether this machine can have such a database, and what is added to a test's name when it cannot. */
export async function catalogHere(kind: WorldKind): Promise<{ skip: boolean; name: string }> {
  const reason = kind === "embedded" ? null : kind === "server" ? await withoutPostgis() : await withoutPgstac();
  return { skip: reason !== null, name: reason === null ? "" : ` (skipped: ${reason})` };
}
