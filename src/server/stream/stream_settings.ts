// The limits of event streams: how many, how slow a reader may be, how often who reads is looked at again.
import { OverLimit } from "../../core/errors/errors.js";
import type { Principal } from "../access/auth.js";
import type { FeedOptions } from "./feed.js";

export interface StreamOptions extends FeedOptions {
  /** Streams that one key, or one subject of tokens, may have open at a time. */
  per_key?: number;
  /** All streams of a tenant on this server. */
  per_tenant?: number;
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
    per_tenant: 100,
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
  take({ tenant_id, actor }: Pick<Principal, "tenant_id" | "actor">): () => void {
    // Subjects of two tenants may have one name.
    const who = `${tenant_id} ${actor}`;
    const limit = this.#reached(tenant_id, who);
    if (limit !== null) {
      throw new OverLimit(`${limit}: no further one`, { hint: "close one, or share one", retry_after_s: 5 });
    }
    // A tenant's name has no blank in it: it is never taken for somebody.
    for (const one of [tenant_id, who]) this.#open.set(one, (this.#open.get(one) ?? 0) + 1);
    this.#in_all++;
    let given_back = false;
    return () => {
      if (given_back) return;
      given_back = true;
      this.#in_all--;
      for (const one of [tenant_id, who]) {
        const left = (this.#open.get(one) ?? 1) - 1;
        if (left === 0) this.#open.delete(one);
        else this.#open.set(one, left);
      }
    };
  }

  #reached(tenant_id: string, who: string): string | null {
    const { per_key, per_tenant, in_all } = this.settings;
    if ((this.#open.get(who) ?? 0) >= per_key) return `a key may have ${per_key} streams open`;
    if ((this.#open.get(tenant_id) ?? 0) >= per_tenant) return `a tenant may have ${per_tenant} streams open`;
    return this.#in_all >= in_all ? `this server has ${in_all} streams open` : null;
  }
}
