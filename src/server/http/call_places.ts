// How many calls of one tenant are under way at a time in this process: a caller who floods it is told to slow down, and the others
// go on being answered. Calls that wait for something are counted apart, streams where they are opened.
import type { ServerResponse } from "node:http";
import { OverLimit } from "../../core/errors/errors.js";

export interface CallLimits {
  /** Calls of a tenant that are being answered. */
  under_way?: number;
  /** Calls of a tenant that are held until something happens: claims, and questions for a job's end. */
  waiting?: number;
  /** Small submits of a tenant beyond those: a caller who asks for the same job is answered with it. */
  compared?: number;
}

/** The place of one call; what is left twice is left once. */
export interface CallPlace {
  /** For a call that was let in to be compared with others: it takes a place now. Throws OverLimit where all are taken. */
  enter(): void;
  /** From now on it waits: it gives its place to others. Throws OverLimit where too many wait already. */
  wait(): void;
  leave(): void;
}

/** Until the answer is sent or its caller gone, who may have gone before the place was taken: that is told but once. */
export function leaveWith(answer: ServerResponse, place: CallPlace): void {
  if (answer.destroyed) place.leave();
  else answer.once("close", place.leave);
}

export class CallPlaces {
  readonly #under_way: Places;
  readonly #waiting: Places;
  readonly #compared: Places;

  constructor({ under_way = 200, waiting = 200, compared = 2_000 }: CallLimits = {}) {
    this.#under_way = new Places(under_way, "calls under way");
    this.#waiting = new Places(waiting, "calls that wait");
    this.#compared = new Places(compared, "submits that are compared");
  }

  /** `may_be_same`: a call that is small and may ask for what another is being answered: it is let in without a place, and enters later. */
  take(tenant: string, may_be_same = false): CallPlace {
    let held: Places | null = may_be_same && this.#under_way.isFull(tenant) ? this.#compared : this.#under_way;
    held.take(tenant);
    return {
      enter: () => {
        if (held !== this.#compared) return;
        this.#under_way.take(tenant);
        held.leave(tenant);
        held = this.#under_way;
      },
      wait: () => {
        if (held !== this.#under_way) return;
        this.#waiting.take(tenant);
        held.leave(tenant);
        held = this.#waiting;
      },
      leave: () => {
        held?.leave(tenant);
        held = null;
      },
    };
  }

  /** For tests: how many there are. */
  taken(tenant: string): { under_way: number; waiting: number; compared: number } {
    const [under_way, waiting, compared] = [this.#under_way, this.#waiting, this.#compared].map((one) =>
      one.of(tenant),
    );
    return { under_way: under_way!, waiting: waiting!, compared: compared! };
  }
}

class Places {
  readonly #taken = new Map<string, number>();

  constructor(
    private readonly most: number,
    private readonly what: string,
  ) {}

  of(tenant: string): number {
    return this.#taken.get(tenant) ?? 0;
  }

  isFull(tenant: string): boolean {
    return this.of(tenant) >= this.most;
  }

  take(tenant: string): void {
    const taken = this.of(tenant);
    if (taken >= this.most) {
      throw new OverLimit(`a tenant may have ${this.most} ${this.what} at a time`, {
        hint: "send fewer at once, and come back in a second",
        retry_after_s: 1,
      });
    }
    this.#taken.set(tenant, taken + 1);
  }

  leave(tenant: string): void {
    const left = this.of(tenant) - 1;
    if (left > 0) this.#taken.set(tenant, left);
    else this.#taken.delete(tenant);
  }
}
