// The periodic duties. Any process may do them, many at once: each duty is a SQL verb that looks again under its locks before
// it changes anything. Here they are only called, page by page, one short transaction each; a duty that fails is told and the
// next one runs.
import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { fault } from "../../fault.js";
import type { Queryable } from "../database/database.js";
import { asked } from "../verbs/reply.js";
import { HeldTenants } from "./held_tenants.js";

export interface Alert {
  alert: string;
  reason: string;
  tenant_id: string;
  job_id: string | null;
  stage_id: number | null;
  data: Record<string, unknown>;
}

export interface JanitorParts {
  db: Queryable;
  log: Logger;
  /** After the log line and the event: a page, a chat message. What it throws is logged. */
  on_alert?: ((alert: Alert) => unknown) | undefined;
}

export interface Sweep {
  run_id: string;
  lost_workers: number;
  tasks: number;
  expired_jobs: number;
  expired_tasks: number;
  mended: number;
  swept: number;
  checked: number;
  alerts: Alert[];
  /** Duties that could not be done this time. */
  failed: string[];
}

/** How many pages of a long duty one sweep takes; it goes on there next time. */
const PAGES = 5;

interface Page {
  alerts: Alert[];
  /** The tenant for whose locks it would not wait any longer. */
  held?: string | null;
}

export class Janitor {
  private readonly held = new HeldTenants();
  private stuck_after: string | null = null;
  private ready_after = 0;
  private failures = 0;
  private stopped = false;

  constructor(private readonly parts: JanitorParts) {}

  /** `thorough`: all pages of the long duties, also those that others are at. */
  async sweep({ thorough = false }: { thorough?: boolean } = {}): Promise<Sweep> {
    const { db } = this.parts;
    const run = randomUUID();
    const done: Sweep = {
      run_id: run,
      lost_workers: 0,
      tasks: 0,
      expired_jobs: 0,
      expired_tasks: 0,
      mended: 0,
      swept: 0,
      checked: 0,
      alerts: [],
      failed: [],
    };
    let lately = false;
    let error: unknown = null;
    const duty = async (name: string, work: () => Promise<void>) => {
      if (this.stopped) return;
      try {
        await work();
      } catch (cause) {
        if (this.stopped) return;
        error = cause;
        done.failed.push(name);
        this.parts.log.warn({ err: cause, duty: name }, "the janitor could not do one of its duties");
      }
      await fault("mid-sweep");
    };
    const tell = <T extends Page>(page: T): T => {
      for (const alert of page.alerts) this.#tell(alert, done);
      if (typeof page.held === "string") this.held.add(page.held);
      return page;
    };

    await duty("begin", async () => {
      const reply = await asked<Page & { lately: boolean | null }>(
        db.sql`select app.janitor_begin(${run}::text::uuid) as reply`,
      );
      lately = tell(reply).lately === true;
    });
    if (thorough || !lately) {
      // First: what has just been started to count may be over already.
      await duty("start_clocks", async () => {
        await asked(db.sql`select app.start_clocks() as reply`);
      });
    }
    await duty("reap_workers", async () => {
      for (let more = true; more; ) {
        const page = tell(await this.#reap(run));
        done.lost_workers += page.lost_workers;
        done.tasks += page.tasks;
        more = page.more;
      }
    });
    await duty("expire_jobs", async () => {
      for (let after: unknown = null; ; ) {
        const cursor = after === null ? null : JSON.stringify(after);
        const page = tell(
          await asked<Page & { expired: number; next: unknown }>(
            db.sql`select app.expire_jobs(${run}::text::uuid, ${cursor}::text::json, ${this.#skip()}::text::json) as reply`,
          ),
        );
        done.expired_jobs += page.expired;
        if (page.next === null) break;
        after = page.next;
      }
    });
    await duty("expire_tasks", async () => {
      for (let after: string | null = null; ; ) {
        const page: Page & { expired: number; next: string | null } = tell(
          await asked(
            db.sql`select app.expire_tasks(${run}::text::uuid, ${after}::text::uuid, ${this.#skip()}::text::json) as reply`,
          ),
        );
        done.expired_tasks += page.expired;
        if (page.next === null) break;
        after = page.next;
      }
    });
    if (thorough || !lately) await this.#longDuties(run, done, duty, tell, thorough ? Number.POSITIVE_INFINITY : PAGES);
    await duty("end", async () => {
      const text = error === null ? null : String((error as { message?: unknown }).message ?? error);
      await asked(db.sql`select app.janitor_end(${run}::text::uuid, ${text}::text) as reply`);
    });
    this.#tellOwnFailures(done);
    return done;
  }

  /** A sweep under way ends with the duty it is at; its connection may be closed. */
  stop(): void {
    this.stopped = true;
  }

  async #longDuties(
    run: string,
    done: Sweep,
    duty: (name: string, work: () => Promise<void>) => Promise<void>,
    tell: <T extends Page>(page: T) => T,
    most: number,
  ): Promise<void> {
    const { db } = this.parts;
    await duty("mend_jobs", async () => {
      for (let pages = 0; pages < most; pages++) {
        const { jobs, next } = await asked<{ jobs: [tenant: string, job: string][]; next: unknown }>(
          db.sql`select app.stuck_jobs(${this.stuck_after}::text::json) as reply`,
        );
        // One that cannot be mended, nor says why by itself, must not keep the others waiting.
        let failure: unknown = null;
        for (const [tenant, job] of jobs) {
          if (this.held.has(tenant)) continue;
          const mended = asked<Page & { mended: number }>(
            db.sql`select app.mend_job(${run}::text::uuid, ${tenant}::text, ${job}::text) as reply`,
          );
          await mended.then(
            (reply) => {
              done.mended += tell(reply).mended;
            },
            (error: unknown) => {
              failure = error;
            },
          );
        }
        this.stuck_after = next === null ? null : JSON.stringify(next);
        if (failure !== null) throw failure;
        if (next === null) break;
      }
    });
    await duty("mend_plans", async () => {
      done.mended += await asked<number>(db.sql`select platform.mend_plans() as reply`);
    });
    await duty("sweep_ready", async () => {
      for (let pages = 0; pages < most; pages++) {
        const page = tell(
          await asked<Page & { swept: number; next: number | null }>(
            db.sql`select app.sweep_ready(${run}::text::uuid, ${this.ready_after}::bigint) as reply`,
          ),
        );
        done.swept += page.swept;
        this.ready_after = page.next ?? 0;
        if (page.next === null) break;
      }
    });
    await duty("sweep_claims", async () => {
      for (let after: number | null = 0; after !== null; ) {
        const page: Page & { swept: number; next: number | null } = tell(
          await asked(
            db.sql`select app.sweep_claims(${run}::text::uuid, ${after}::bigint, ${this.#skip()}::text::json) as reply`,
          ),
        );
        done.swept += page.swept;
        after = page.next;
      }
    });
    await duty("refresh_statistics", async () => {
      await asked(db.sql`select app.refresh_statistics() as reply`);
    });
    await duty("fold_counts", async () => {
      await asked(db.sql`select app.fold_counts() as reply`);
    });
    await duty("fold_rates", async () => {
      for (let more = true; more; ) {
        ({ more } = await asked<{ more: boolean }>(db.sql`select app.fold_rates() as reply`));
      }
    });
    await duty("sample_queues", async () => {
      await asked(db.sql`select app.sample_queues() as reply`);
    });
    await duty("count_usage", async () => {
      // One tenant a call, until all figures are fresh.
      for (let pages = 0; pages < 200 * PAGES; pages++) {
        if ((await asked<number>(db.sql`select app.count_usage() as reply`)) === 0) break;
      }
    });
    await duty("sweep_deliveries", async () => {
      for (let after: unknown = null; ; ) {
        const cursor = after === null ? null : JSON.stringify(after);
        const page = tell(
          await asked<Page & { swept: number; next: unknown }>(
            db.sql`select app.sweep_deliveries(${run}::text::uuid, ${cursor}::text::json) as reply`,
          ),
        );
        done.swept += page.swept;
        if (page.next === null) break;
        after = page.next;
      }
    });
    await duty("sweep_tables", async () => {
      // A database without PostGIS has no layers.
      const [geo] = await db.sql<{ installed: boolean }>`
        select exists (
          select from pg_proc p join pg_namespace n on n.oid = p.pronamespace
           where n.nspname = 'geo' and p.proname = 'sweep_tables' and has_schema_privilege(n.oid, 'usage')) as installed`;
      if (!geo?.installed) return;
      done.swept += (await asked<{ dropped: number }>(db.sql`select geo.sweep_tables() as reply`)).dropped;
    });
    await duty("check_closed", async () => {
      for (let pages = 0; pages < most; pages++) {
        const page = tell(
          await asked<Page & { checked: number; more: boolean }>(
            db.sql`select app.check_closed(${run}::text::uuid) as reply`,
          ),
        );
        done.checked += page.checked;
        if (!page.more) break;
      }
    });
  }

  #skip(): string {
    return JSON.stringify(this.held.now());
  }

  #reap(run: string) {
    return asked<Page & { lost_workers: number; tasks: number; more: boolean }>(
      this.parts.db.sql`select app.reap_workers(${run}::text::uuid) as reply`,
    );
  }

  /** A database that does not answer cannot keep an alert: the log and the hook still can. */
  #tellOwnFailures(done: Sweep): void {
    this.failures = done.failed.length === 0 ? 0 : this.failures + 1;
    if (this.failures !== 3) return;
    const reason = `three sweeps in a row failed (${done.failed.join(", ")}): dead workers and deadlines are not looked after`;
    const place = { tenant_id: "default", job_id: null, stage_id: null };
    this.#tell({ alert: "janitor_failing", reason, ...place, data: { run_id: done.run_id } }, done);
  }

  #tell(alert: Alert, done: Sweep): void {
    const { log, on_alert } = this.parts;
    done.alerts.push(alert);
    log.error({ ...alert }, `alert: ${alert.alert}`);
    if (on_alert === undefined) return;
    const said = (error: unknown) => log.warn({ err: error, alert: alert.alert }, "the alert hook failed");
    try {
      Promise.resolve(on_alert(alert)).catch(said);
    } catch (error) {
      said(error);
    }
  }
}
