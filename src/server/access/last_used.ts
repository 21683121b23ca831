// When something was last used: written down beside the call and never waited for, at most once a minute each.
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { Clock } from "./remembered.js";

const WRITTEN_MS = 60_000;
const KNOWN_MS = 3_600_000;
const MOST_KNOWN = 10_000;

export class LastUsed {
  /** When the last use of each was written down; kept for an hour after the last use. */
  readonly #used: LRUCache<string, number>;
  readonly #to_write = new Set<string>();
  #writing: Promise<void> | null = null;

  constructor(
    private readonly write: (ids: readonly string[]) => Promise<unknown>,
    private readonly now: Clock,
    private readonly log: Logger | undefined,
  ) {
    this.#used = new LRUCache({ max: MOST_KNOWN, ttl: KNOWN_MS, ttlResolution: 0, perf: { now } });
  }

  /** Was it let in within the hour? */
  lately(id: string): boolean {
    return this.#used.has(id);
  }

  note(id: string): void {
    const now = this.now();
    const written_at = this.#used.get(id);
    const is_written = written_at !== undefined && now - written_at < WRITTEN_MS;
    this.#used.set(id, is_written ? written_at : now);
    if (is_written) return;
    this.#to_write.add(id);
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null;
    });
  }

  /** Waits for what is still being written. */
  async close(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#to_write.size > 0) {
      const ids = [...this.#to_write];
      this.#to_write.clear();
      try {
        await this.write(ids);
      } catch (error) {
        this.log?.debug({ err: error }, "when keys and sessions were last used could not be written down");
      }
    }
  }
}
