// Removes files that nobody will ever see: of attempts that did not finish, of results that no row names, of writers that died, and
// those that were retracted. It looks at names that prove we have made them, and asks the database before anything goes: users'
// own files are never touched.
import type { Logger } from "pino";
import { tenantPrefix } from "../../core/places/store.js";
import type { ZoneName } from "../../core/places/zones.js";
import { attemptOf } from "../../storage/attempt_token.js";
import type { BlobStore } from "../../storage/blob_store.js";
import { removeOldPartials } from "../../storage/disk_blobs.js";
import type { Zones } from "../../storage/zones.js";
import type { Queryable } from "../database/database.js";
import { deploymentsOf, removeRetracted } from "../verbs/assets.js";
import { asked } from "../verbs/reply.js";
import { proof_prefix } from "./file_proof.js";

export interface Leftover {
  tenant_id: string;
  /** "storage": the place of large results. */
  zone: ZoneName | "storage";
  key: string;
  bytes: number;
  why: "unfinished" | "retracted" | "orphaned_result" | "abandoned_upload";
}

export interface FileSweepParts {
  db: Queryable;
  zones: Zones;
  log: Logger;
  /** Where large results lie. */
  results?: BlobStore | null;
  /** Younger files may belong to somebody who is still at work. */
  older_than_h?: number;
  now?: () => number;
}

export interface SweepOptions {
  dry_run?: boolean;
  /** Where to go on. */
  after?: string | null;
  /** The most pages of 1,000 objects; then it stops and says where. */
  pages?: number;
  signal?: AbortSignal;
}

export interface Swept {
  found: Leftover[];
  after: string | null;
}

/** One that writes a file and retracts it right after removes it itself. */
const QUIET_S = 60;

export class FileSweep {
  constructor(private readonly parts: FileSweepParts) {}

  /** Files of attempts that did not finish, in one zone of one tenant. */
  async zone(tenant_id: string, zone: ZoneName, options: SweepOptions = {}): Promise<Swept> {
    const { zones, db } = this.parts;
    const store = zones.store(zone, tenant_id);
    const makers = { deployments: await deploymentsOf(db, tenant_id), tenant_id, zone };
    const swept = await this.#pages(store, "", options, async (old) => {
      const ours = old.flatMap((entry) => {
        const attempt = attemptOf(makers, entry.key);
        return attempt === null ? [] : [{ ...entry, g: attempt.stage_id, o: attempt.ordinal }];
      });
      const request = { tenant: tenant_id, zone, keys: ours.map(({ key, g, o }) => ({ k: key, g, o })) };
      const gone = ours.length === 0 ? [] : await this.#ask(request, "unrecorded");
      return ours
        .filter(({ key }) => gone.includes(key))
        .map(({ key, bytes }) => ({ tenant_id, zone, key, bytes, why: "unfinished" as const }));
    });
    if (options.dry_run !== true && store.kind === "disk") await removeOldPartials(store.place, new Date(this.#limit));
    return swept;
  }

  /** Parts of uploads that nobody has gone on with, or that are over, of one tenant; such uploads end here. */
  async uploads(tenant_id: string, options: SweepOptions = {}): Promise<Swept> {
    const { zones, db } = this.parts;
    const store = zones.parts("bronze", tenant_id);
    const swept = await this.#pages(store, "", options, async (old) => {
      const ids = [...new Set(old.map(({ key }) => key.split("/")[0]!).filter((id) => upload_id.test(id)))];
      const known = JSON.stringify(ids);
      const kept = await asked<string[]>(
        db.sql`select app.expire_uploads(${tenant_id}::text, ${known}::text::json, ${options.dry_run === true}::boolean) as reply`,
      );
      return old
        .filter(({ key }) => !key.startsWith(proof_prefix) && !kept.includes(key.split("/")[0]!))
        .map(({ key, bytes }) => ({
          tenant_id,
          zone: "bronze" as const,
          key,
          bytes,
          why: "abandoned_upload" as const,
        }));
    });
    if (options.dry_run !== true && store.kind === "disk") await removeOldPartials(store.place, new Date(this.#limit));
    return swept;
  }

  /** Files of results that no row names, of one tenant. */
  async results(tenant_id: string, options: SweepOptions = {}): Promise<Swept> {
    const { results = null } = this.parts;
    if (results === null) return { found: [], after: null };
    const prefix = `${tenantPrefix(tenant_id)}results/`;
    const swept = await this.#pages(results, prefix, options, async (old) => {
      const ours = old.flatMap(({ key, bytes }) => {
        const [, g, o, w] = spilled_name.exec(key.slice(prefix.length)) ?? [];
        return g === undefined ? [] : [{ k: key, g: Number(g), o: Number(o), w, bytes }];
      });
      const request = { tenant: tenant_id, keys: ours.map(({ bytes: _, ...one }) => one) };
      const gone = ours.length === 0 ? [] : await this.#ask(request, "spilled");
      return ours
        .filter(({ k }) => gone.includes(k))
        .map(({ k: key, bytes }) => ({
          tenant_id,
          zone: "storage" as const,
          key,
          bytes,
          why: "orphaned_result" as const,
        }));
    });
    if (options.dry_run !== true && results.kind === "disk") {
      await removeOldPartials(results.place, new Date(this.#limit));
    }
    return swept;
  }

  /** Those that were retracted and whose objects are still there, of one tenant or of all that this session looks after. */
  async retracted({
    dry_run = false,
    quiet_s = QUIET_S,
    tenant = null,
  }: {
    dry_run?: boolean;
    quiet_s?: number;
    tenant?: string | null;
  } = {}): Promise<Leftover[]> {
    const { db, zones, log } = this.parts;
    const found: Leftover[] = [];
    for (;;) {
      const page = await asked<{ tenant_id: string; zone: ZoneName; key: string }[]>(
        db.sql`select app.retracted_assets(${quiet_s}::float8, 500, ${tenant}::text) as reply`,
      );
      let removed = 0;
      for (const one of page) {
        found.push({ ...one, bytes: 0, why: "retracted" });
        if (dry_run) continue;
        try {
          await removeRetracted(db, zones, one);
          removed++;
          log.info({ ...one, why: "retracted" }, "removed a file");
        } catch (error) {
          log.warn({ ...one, err: error }, "a retracted file could not be removed; it is tried again");
        }
      }
      // A place that is out of reach must not keep the sweep for ever.
      if (page.length < 500 || removed === 0) return found;
    }
  }

  async #pages(
    store: BlobStore,
    prefix: string,
    { dry_run = false, after = null, pages = Number.POSITIVE_INFINITY, signal }: SweepOptions,
    judge: (old: { key: string; bytes: number }[]) => Promise<Leftover[]>,
  ): Promise<Swept> {
    const found: Leftover[] = [];
    let next = after;
    for (let page = 0; page < pages && signal?.aborted !== true; page++) {
      const listed = await store.list(prefix, next === null ? {} : { after: next });
      const old = listed.entries.filter(({ modified_at }) => Date.parse(modified_at) < this.#limit);
      for (const leftover of await judge(old)) {
        found.push(leftover);
        if (!dry_run) await this.#remove(store, leftover);
      }
      next = listed.next;
      if (next === null) break;
    }
    return { found, after: next };
  }

  async #remove(store: BlobStore, leftover: Leftover): Promise<void> {
    const { log } = this.parts;
    try {
      await store.remove(leftover.key);
      log.info({ ...leftover }, "removed a file");
    } catch (error) {
      log.warn({ ...leftover, err: error }, "a leftover could not be removed; it is tried again");
    }
  }

  #ask(request: object, what: "unrecorded" | "spilled"): Promise<string[]> {
    const { db } = this.parts;
    const text = JSON.stringify(request);
    return asked(
      what === "unrecorded"
        ? db.sql`select app.unrecorded_keys(${text}::text::json) as reply`
        : db.sql`select app.orphaned_spills(${text}::text::json) as reply`,
    );
  }

  get #limit(): number {
    const { now = Date.now, older_than_h = 24 } = this.parts;
    return now() - older_than_h * 3_600_000;
  }
}

const upload_id = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** <stage>/<ordinal>/<attempt>-<claim>-<worker>-<random>.json */
export const spilled_name =
  /^(\d{1,18})\/(-?\d{1,18})\/\d+-\d+-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-[0-9a-f-]{36}\.json$/;
