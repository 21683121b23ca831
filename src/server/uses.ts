// When something was last used: written down beside the call and never waited for, at most once a minute each.
import type { Logger } from "pino";
import type { Clock } from "./remembered.js";

const WRITTEN_MS = 60_000;
const KNOWN_MS = 3_600_000;
const MOST_KNOWN = 10_000;

export class Uses {
  readonly #used = new Map<string, { at: number; written_at: number }>();
  readonly #to_write = new Set<string>();
  #writing: Promise<void> | null = null;

  constructor(
    private readonly write: (ids: readonly string[]) => Promise<unknown>,
    private readonly now: Clock,
    private readonly log: Logger | undefined,
  ) {}

  /** Was it let in within the hour? */
  lately(id: string): boolean {
    const used = this.#used.get(id);
    return used !== undefined && this.now() - used.at < KNOWN_MS;
  }

  note(id: string): void {
    const now = this.now();
    const used = this.#used.get(id);
    if (used !== undefined) used.at = now;
    if (used !== undefined && now - used.written_at < WRITTEN_MS) return;
    if (this.#used.size >= MOST_KNOWN) this.#used.clear();
    this.#used.set(id, { at: now, written_at: now });
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
