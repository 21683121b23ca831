// Whether this server can do its work, and why not. Anybody may ask, as often as they like: the database is asked once a second
// at most, and no question waits longer than two seconds.
import { performance } from "node:perf_hooks";
import type { Engine } from "../../engine/engine.js";
import { type CheckResult, examineDatabase, judgeNode, judgeStorage } from "../../engine/schema/diagnosis.js";
import { schemaState } from "../../engine/schema/migrate.js";
import { readWorkerFacts } from "../../engine/schema/server_facts.js";
import { blobsOf } from "../../storage/open_blobs.js";
import { zoneProblem } from "../../storage/zone_probe.js";

export interface Vitals {
  database_reachable: boolean;
  /** null: not known, the database is away. */
  schema_current: boolean | null;
  janitor_age_s: number | null;
  janitor_late: boolean | null;
  workers_live: number | null;
}

const FRESH_MS = 1_000;
const PATIENCE_MS = 2_000;
/** Reads the whole schema folder, and changes with a deploy only. */
const SCHEMA_FRESH_MS = 15_000;
const unknown: Vitals = {
  database_reachable: false,
  schema_current: null,
  janitor_age_s: null,
  janitor_late: null,
  workers_live: null,
};

export class Health {
  #vitals: { at: number; vitals: Promise<Vitals> } | null = null;
  #schema: { at: number; current: boolean } | null = null;

  constructor(
    private readonly engine: Engine,
    private readonly isStopping: () => boolean,
  ) {}

  vitals(): Promise<Vitals> {
    const now = performance.now();
    if (this.#vitals === null || now - this.#vitals.at >= FRESH_MS) {
      this.#vitals = { at: now, vitals: this.#within(this.#look()) };
    }
    return this.#vitals.vitals;
  }

  /** Why this process will not come back by itself, in words; null when it will. A database that is away is no such reason. */
  stuck(): string | null {
    return this.engine.db.load?.().stuck === true
      ? "calls wait for the database, and their waiting is not ended"
      : null;
  }

  /** Why no call should be sent here, in words; null when all is well. It is asked for over the connections that calls have. */
  async notReady(): Promise<string | null> {
    if (this.isStopping()) return "the server is stopping";
    const stuck = this.stuck();
    if (stuck !== null) return stuck;
    const { database_reachable, schema_current } = await this.vitals();
    if (!database_reachable) return "the database is out of reach";
    return schema_current === false ? "the database's schema is not the one this version was written for" : null;
  }

  /** Everything there is to find out. */
  async preflight(): Promise<CheckResult[]> {
    const { db, store } = this.engine;
    const findings = [judgeNode(process.version)];
    const blobs = blobsOf(store);
    if (blobs !== null) findings.push(judgeStorage(blobs, await zoneProblem(blobs)));
    try {
      findings.push(...(await examineDatabase(db, { sees_workers: true })));
      findings.push(await this.#janitor());
    } catch (error) {
      this.engine.log.warn({ err: error }, "the preflight could not ask the database");
      findings.push({
        name: "database",
        level: "fail",
        message: "out of reach",
        fix: "is it running, and is the address right? The log of the server tells more",
      });
    }
    return findings;
  }

  async #janitor(): Promise<CheckResult> {
    const { age_s, late } = await this.engine.operate.janitorHealth();
    if (!late) return { name: "janitor", level: "ok", message: `ran ${age_s} s ago` };
    const when = age_s === null ? "has never run" : `last ran ${age_s} s ago`;
    return {
      name: "janitor",
      level: "warn",
      message: when,
      fix: "start a worker: fanfold up, or a server: fanfold serve",
    };
  }

  async #look(): Promise<Vitals> {
    try {
      const { db, operate } = this.engine;
      const [janitor, workers] = await Promise.all([operate.janitorHealth(), readWorkerFacts(db)]);
      return {
        database_reachable: true,
        schema_current: await this.#isCurrent(),
        janitor_age_s: janitor.age_s,
        janitor_late: janitor.late,
        workers_live: workers?.live ?? null,
      };
    } catch (error) {
      // A function that is not there is a schema of another version; anything else is a database that is not there.
      const is_schema = /^(42883|42P01|3F000)$/.test(String((error as { code?: unknown })?.code));
      if (!is_schema) return unknown;
      return { ...unknown, database_reachable: true, schema_current: false };
    }
  }

  async #isCurrent(): Promise<boolean> {
    const now = performance.now();
    if (this.#schema === null || now - this.#schema.at >= SCHEMA_FRESH_MS || !this.#schema.current) {
      const { pending, database_version, code_version } = await schemaState(this.engine.db);
      this.#schema = { at: now, current: pending.length === 0 && database_version === code_version };
    }
    return this.#schema.current;
  }

  async #within(look: Promise<Vitals>): Promise<Vitals> {
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<Vitals>((resolve) => {
      timer = setTimeout(() => resolve(unknown), PATIENCE_MS);
    });
    return Promise.race([look, patience]).finally(() => clearTimeout(timer));
  }
}
