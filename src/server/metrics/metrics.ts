// GET /metrics: what this process measures of itself, and what the database measures. The database is asked at most once a
// second however many scrape, and a database that does not answer is a metric too.
import { createHash, timingSafeEqual } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { FastifyInstance } from "fastify";
import type { Engine } from "../../engine/engine.js";
import { readMetrics } from "../../engine/verbs/metrics.js";
import { databaseFamilies } from "./database_metrics.js";
import { exposition, Family } from "./exposition.js";
import { HttpMetrics } from "./http_metrics.js";

const KEPT_MS = 1_000;

export class Metrics {
  readonly #http: HttpMetrics;
  readonly #token_hash: Buffer | null;
  #scraped: { at: number; text: Promise<string> } | null = null;

  constructor(
    app: FastifyInstance,
    private readonly engine: Engine,
    token?: string,
  ) {
    this.#http = new HttpMetrics(app);
    this.#token_hash = token === undefined ? null : sha256(token);
  }

  /** Whether this is the token for scrapes that the server was started with. */
  isToken(authorization: string | undefined): boolean {
    if (this.#token_hash === null || authorization === undefined) return false;
    return timingSafeEqual(sha256(authorization.replace(/^Bearer +/i, "")), this.#token_hash);
  }

  scrape(): Promise<string> {
    const now = performance.now();
    if (this.#scraped === null || now - this.#scraped.at >= KEPT_MS)
      this.#scraped = { at: now, text: this.#write(now) };
    return this.#scraped.text;
  }

  async #write(began_at: number): Promise<string> {
    const of_database = await readMetrics(this.engine.db).then(databaseFamilies, (error: unknown) => {
      this.engine.log.warn({ err: error }, "the database could not be measured");
      return null;
    });
    return exposition([
      new Family("fanfold_database_up", "gauge", "1 when the database answered this scrape.").sample(
        of_database === null ? 0 : 1,
      ),
      ...(of_database ?? []),
      ...this.#http.families(),
      new Family("fanfold_scrape_duration_seconds", "gauge", "How long this scrape took.").sample(
        (performance.now() - began_at) / 1000,
      ),
    ]);
  }
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
