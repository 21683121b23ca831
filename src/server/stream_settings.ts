// The limits of event streams: how many, how slow a reader may be, how often who reads is looked at again.
import { OverLimit } from "../core/errors.js";
import type { FeedOptions } from "./feed.js";

export interface StreamOptions extends FeedOptions {
  /** Streams that one key may have open at a time. */
  per_key?: number;
  /** All streams of this server. */
  in_all?: number;
  /** What may wait for a reader that does not read. */
  buffered_bytes?: number;
  heartbeat_ms?: number;
  /** How often the credential is looked at again. */
  recheck_ms?: number;
}

export type StreamSettings = Required<Omit<StreamOptions, keyof FeedOptions>> & FeedOptions;

export function streamSettings(given: StreamOptions = {}): StreamSettings {
  return {
    per_key: 20,
    in_all: 2_000,
    buffered_bytes: 1024 * 1024,
    heartbeat_ms: 15_000,
    recheck_ms: 1_000,
    ...given,
  };
}

/** Who has how many streams open. */
export class StreamPlaces {
  readonly #open = new Map<string, number>();
  #in_all = 0;

  constructor(private readonly settings: StreamSettings) {}

  get taken(): number {
    return this.#in_all;
  }

  /** Returns how to give the place back. */
  take(who: string): () => void {
    const open = this.#open.get(who) ?? 0;
    const { per_key, in_all } = this.settings;
    if (open >= per_key || this.#in_all >= in_all) {
      const limit =
        open >= per_key ? `a key may have ${per_key} streams open` : `this server has ${in_all} streams open`;
      throw new OverLimit(`${limit}: no further one`, { hint: "close one, or share one", retry_after_s: 5 });
    }
    this.#open.set(who, open + 1);
    this.#in_all++;
    let given_back = false;
    return () => {
      if (given_back) return;
      given_back = true;
      this.#in_all--;
      const left = (this.#open.get(who) ?? 1) - 1;
      if (left === 0) this.#open.delete(who);
      else this.#open.set(who, left);
    };
  }
}
