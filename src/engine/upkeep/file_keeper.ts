// Now and then, somewhere: the sweep of files as one of the duties of workers and servers. The database says which zone of which
// tenant is due, so that many processes share the work and none does it twice.
import type { Logger } from "pino";
import type { ZoneName } from "../../core/places/zones.js";
import { blobsOf } from "../../storage/open_blobs.js";
import type { Queryable } from "../database/database.js";
import type { Engine } from "../engine.js";
import { asked } from "../verbs/reply.js";
import { FileSweep, type FileSweepParts } from "./file_sweep.js";

const PERIOD_MS = 60_000;
/** How often a zone is looked through. */
const EVERY_S = 6 * 3600;
/** The most pages of 1,000 objects, in one go. */
const PAGES = 20;

export interface FileKeeperParts extends FileSweepParts {
  period_ms?: number;
  every_s?: number;
  /** Something of this machine's that is to be done as often. */
  also?: () => Promise<unknown>;
}

/** `also`: what else is to be done on this machine as often. */
export function fileKeeper(engine: Engine, db: Queryable, log: Logger, also?: () => Promise<unknown>): FileKeeper {
  const { zones, leftovers_after_h: older_than_h, shared_store } = engine;
  return new FileKeeper({ db, zones, log, older_than_h, results: blobsOf(shared_store), also });
}

export class FileKeeper {
  #timer: NodeJS.Timeout | undefined;
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();
  readonly #sweep: FileSweep;
  readonly #db: Queryable;
  readonly #log: Logger;

  constructor(private readonly parts: FileKeeperParts) {
    this.#sweep = new FileSweep(parts);
    this.#db = parts.db;
    this.#log = parts.log;
  }

  start(): void {
    const { period_ms = PERIOD_MS } = this.parts;
    if (this.#stop.signal.aborted) return;
    // Processes that started together do not come together for ever.
    this.#timer = setTimeout(
      () => {
        this.#running = this.round()
          .catch((error: unknown) => {
            if (!this.#stop.signal.aborted) this.#log.warn({ err: error }, "files could not be swept");
          })
          .finally(() => this.start());
      },
      period_ms * (0.75 + Math.random() * 0.5),
    );
    this.#timer.unref();
  }

  /** What was retracted, and every zone that is due. */
  async round(): Promise<void> {
    const { every_s = EVERY_S } = this.parts;
    await this.parts.also?.();
    await this.#sweep.retracted();
    while (!this.#stop.signal.aborted) {
      const due = await asked<{ tenant_id: string; zone: ZoneName; after: string | null } | null>(
        this.#db.sql`select app.take_zone_sweep(${every_s}::float8) as reply`,
      );
      if (due === null) return;
      await this.#sweepZone(due);
    }
  }

  async #sweepZone({ tenant_id, zone, after }: { tenant_id: string; zone: ZoneName; after: string | null }) {
    const options = { after, pages: PAGES, signal: this.#stop.signal };
    // What lies in bronze is people's own: only what never became one of their files is ours to remove.
    const { found, after: next } =
      zone === "bronze"
        ? await this.#sweep.uploads(tenant_id, options)
        : await this.#sweep.zone(tenant_id, zone, options);
    // Once for each tenant: with the first part of its first zone.
    if (zone === "silver" && after === null) {
      found.push(...(await this.#sweep.results(tenant_id, { signal: this.#stop.signal })).found);
    }
    const bytes = found.reduce((sum, one) => sum + one.bytes, 0);
    const keys = found.slice(0, 20).map((one) => one.key);
    const request = { tenant: tenant_id, zone, after: next, removed: found.length, bytes, keys };
    await this.#db.sql`select app.leave_zone_sweep(${JSON.stringify(request)}::text::json)`;
    if (found.length > 0) this.#log.info({ tenant_id, zone, files: found.length, bytes }, "removed files left behind");
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }
}
