// The story of a large collection, for any number of scenes: some are broken, a worker is killed three times, the database is restarted
// once. What is usable is there and nothing else; once the broken ones are mended, resume adds exactly them. After each part the
// catalogue, the files and the ledger say the same.
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { openCatalog } from "../../src/catalog/open.js";
import { createRegistry } from "../../src/core/declare/registry.js";
import { tenantPrefix } from "../../src/core/places/store.js";
import { isTerminal } from "../../src/core/shown/statuses.js";
import type { Engine } from "../../src/engine/engine.js";
import { openEngine } from "../../src/engine/open_engine.js";
import { migrate } from "../../src/engine/schema/migrate.js";
import type { StacItem } from "../../src/geo/stac.js";
import { builtinRegistry } from "../../src/jobs/index.js";
import { type Cluster, type ClusterDatabase, startCluster } from "../faults/cluster.js";
import { Fleet, WorkerProcess } from "../faults/worker_process.js";
import { eventually } from "../worker/shop.js";
import { scene } from "./raster_world.js";

export interface StoryOptions {
  scenes: number;
  broken: number[];
  workers: number;
  slots: number;
}

/** What is wrong with the broken ones, in turn. */
const damages: ((good: Uint8Array) => Uint8Array | string)[] = [
  () => "<!doctype html><title>404</title>",
  (good) => good.subarray(0, Math.floor(good.length / 2)),
  () => "",
  () => scene({}, { crs: undefined }),
  () => scene({}, { transform: undefined }),
  () => "PK\u0003\u0004 an archive",
  () => scene({ nodata_wedge: 200 }),
];

export class RasterStory {
  private constructor(
    private readonly cluster: Cluster,
    private readonly database: ClusterDatabase,
    private readonly engine: Engine,
    private readonly dir: string,
    private readonly fleet: Fleet,
  ) {}

  static async open(options: StoryOptions): Promise<RasterStory> {
    const cluster = await startCluster();
    const database = await cluster.freshDatabase();
    await migrate(database.db, { catalog: "stac" });
    const dir = mkdtempSync(join(tmpdir(), "fanfold-story-"));
    const storage_dir = join(dir, "storage");
    const registry = createRegistry(builtinRegistry());
    const engine = await openEngine({ database_url: database.url, storage_dir, registry });
    const fleet = new Fleet(
      options.workers,
      (name) =>
        new WorkerProcess({
          name,
          database_url: database.url,
          storage_dir,
          effects_dir: join(dir, "effects"),
          registry: "builtin",
          options: { slots: options.slots, lease_s: 5, raster: { engine: "wasm" }, scratch_dir: join(dir, "scratch") },
        }),
    );
    const story = new RasterStory(cluster, database, engine, dir, fleet);
    for (let number = 0; number < options.scenes; number++) story.put(number);
    for (const [position, number] of options.broken.entries()) {
      story.put(number, damages[position % damages.length]!(story.bytes(number)));
    }
    await fleet.ready();
    return story;
  }

  key(number: number): string {
    return `scenes/scene-${String(number).padStart(5, "0")}.tif`;
  }

  private bytes(number: number): Uint8Array {
    return scene({ seed: number, origin: [400_000 + (number % 100) * 1920, 10_000 + Math.floor(number / 100) * 1920] });
  }

  put(number: number, bytes: Uint8Array | string = this.bytes(number)): void {
    const path = this.path("bronze", this.key(number));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  }

  private path(zone: string, key: string): string {
    return join(this.dir, "storage", "zones", zone, tenantPrefix("default"), key);
  }

  async submit(): Promise<string> {
    const sources = { prefix: "bronze:scenes/" };
    const parameters = { sources, collection: "story", datetime: "2024-01-01T00:00:00Z" };
    return (await this.engine.submit("process_raster_collection", parameters)).job_id;
  }

  resume(job_id: string): Promise<unknown> {
    return this.engine.operate.resume(job_id, { reason: "the scenes were mended" });
  }

  /** Asks again while the server is down. */
  private async patiently<T>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!/^(08...|57P0.|53300)$/.test(String((error as { code?: unknown }).code))) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  /** Resolves when so many tasks have results, or the job has ended. */
  async progress(job_id: string, count: number): Promise<void> {
    await eventually(async () => {
      const [row] = await this.patiently(
        () => this.database.db.sql<{ n: number }>`select count(*)::integer as n from app.results`,
      );
      return row!.n >= count || isTerminal((await this.patiently(() => this.engine.status(job_id))).status);
    }, 100);
  }

  async killOne(): Promise<void> {
    await eventually(() => this.fleet.working.length > 0);
    await this.fleet.working[0]!.kill();
  }

  restart(): Promise<void> {
    return this.cluster.restart("immediate", 300);
  }

  async ended(job_id: string) {
    await eventually(async () => isTerminal((await this.patiently(() => this.engine.status(job_id))).status), 250);
    return this.patiently(() => this.engine.status(job_id));
  }

  errorGroups(job_id: string) {
    return this.engine.operate.errorGroups(job_id);
  }

  failures(job_id: string) {
    return this.engine.tasks({ job_id, stage: "validate", status: "failed", limit: 1000 });
  }

  killed(): number {
    return this.fleet.deaths.filter(({ signal }) => signal === "SIGKILL").length;
  }

  /** Catalogue, files, records and ledger, compared one by one. */
  async expectAgreement(job_id: string, numbers: readonly number[]): Promise<void> {
    const { db } = this.database;
    const expected = numbers.map((number) => this.key(number).replace(/^scenes\/|\.tif$/g, ""));
    const items = await this.items();
    expect(items.map(({ id }) => id).sort()).toEqual(expected.sort());
    const catalog = await openCatalog(db, { tenant: "default" });
    expect(await catalog.count(db, "story")).toBe(numbers.length);
    // Every item's file is there, is what the item says, and is recorded; nothing else is recorded.
    const named = items.flatMap(({ assets }) => Object.values(assets).map((asset) => asset["fanfold:ref"] as string));
    const records = await db.sql<{
      ref: string;
    }>`select zone || ':' || key as ref from app.assets where retracted_at is null`;
    expect(records.map(({ ref }) => ref).sort()).toEqual(named.sort());
    for (const { assets } of items) {
      const [zone, key] = (assets.data!["fanfold:ref"] as string).split(":") as [string, string];
      const sum = createHash("sha256")
        .update(readFileSync(this.path(zone, key)))
        .digest("hex");
      expect(assets.data!["file:checksum"]).toBe(`1220${sum}`);
    }
    const [ledger] = await db.sql<{ n: number }>`
      select count(*)::integer as n from app.results join app.stages using (stage_id)
       where job_id = ${job_id} and name = 'cog' and app.results.status = 'completed'`;
    expect(ledger!.n).toBe(numbers.length);
    expect(await this.engine.operate.verify(job_id)).toMatchObject({ ok: true, problems: [] });
  }

  private async items(): Promise<StacItem[]> {
    const { db } = this.database;
    const catalog = await openCatalog(db, { tenant: "default" });
    const items: StacItem[] = [];
    let token: string | null = null;
    do {
      const query = { collections: ["story"], limit: 500, ...(token === null ? {} : { token }) };
      const page: { items: StacItem[]; next: string | null } = await catalog.search(db, query);
      items.push(...page.items);
      token = page.next;
    } while (token !== null);
    return items;
  }

  /** How often each task of the COG stage has been finished, by epoch: what was kept is what ran once. */
  async cogRuns(job_id: string): Promise<Map<string, string>> {
    const rows = await this.database.db.sql<{ index: string; finished_at: string }>`
      select t.index, r.finished_at::text as finished_at
        from app.results r join app.stages s using (stage_id) join app.tasks t using (stage_id, ordinal)
       where s.job_id = ${job_id} and s.name = 'cog'`;
    return new Map(rows.map(({ index, finished_at }) => [index, finished_at]));
  }

  async close(): Promise<void> {
    await this.fleet.killAll();
    await this.engine.close();
    await this.database.drop();
    await this.cluster.close();
    await rm(this.dir, { recursive: true, force: true });
  }
}

/** The whole of it. */
export async function tellStory(options: StoryOptions): Promise<void> {
  const story = await RasterStory.open(options);
  try {
    const { scenes, broken } = options;
    const all = Array.from({ length: scenes }, (_, number) => number);
    const job_id = await story.submit();
    await story.progress(job_id, Math.floor(scenes * 0.3));
    await story.killOne();
    await story.progress(job_id, Math.floor(scenes * 0.7));
    await story.killOne();
    await story.progress(job_id, Math.floor(scenes * 1.2));
    await story.restart();
    await story.progress(job_id, Math.floor(scenes * 1.6));
    await story.killOne();

    const first = await story.ended(job_id);
    expect({ status: first.status, error: first.error }).toMatchObject({ status: "partial_success" });
    expect(story.killed()).toBe(3);
    expect(first.stages.map(({ name, status, failed }) => [name, status, failed])).toEqual([
      ["inventory", "completed", 0],
      ["validate", "partial_success", broken.length],
      ["check", "completed", 0],
      ["cog", "completed", 0],
      ["register", "completed", 0],
      ["publish", "completed", 0],
    ]);
    const { tasks } = await story.failures(job_id);
    expect(tasks.map(({ index }) => index)).toEqual(broken.map((number) => story.key(number).slice(7, -4)));
    expect(first.deliverables).toMatchObject([
      { name: "cogs", count: scenes - broken.length, usable: true },
      { name: "stac_items", count: scenes - broken.length, usable: true },
      { name: "collection" },
    ]);
    await story.expectAgreement(
      job_id,
      all.filter((number) => !broken.includes(number)),
    );

    const before = await story.cogRuns(job_id);
    for (const number of broken) story.put(number);
    await story.resume(job_id);
    const second = await story.ended(job_id);
    expect({ status: second.status, error: second.error }).toEqual({ status: "completed", error: null });
    await story.expectAgreement(job_id, all);
    const after = await story.cogRuns(job_id);
    expect([...before].filter(([index, at]) => after.get(index) !== at)).toEqual([]);
  } finally {
    await story.close();
  }
}
