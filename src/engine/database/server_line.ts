// Those who wait for a connection of a pool: first come, first served, and nobody for ever.
import type { DatabaseError } from "./database.js";

/** A place in the line, which a caller that is woken in vain keeps. */
export interface WaitingSince {
  /** In ticks of the pool's watch, and by the clock. */
  since: number;
  at: number;
}

interface Waiting extends WaitingSince {
  wake(): void;
  refuse(error: DatabaseError): void;
}

export class WaitingLine {
  private readonly waiting: Waiting[] = [];

  get length(): number {
    return this.waiting.length;
  }

  /** How long the first of them has waited; 0 when nobody does. */
  get waited_s(): number {
    const [first] = this.waiting;
    return first === undefined ? 0 : (performance.now() - first.at) / 1000;
  }

  /** Resolves when it is one's turn to look. */
  wait(place: WaitingSince, is_first: boolean): Promise<void> {
    return new Promise<void>((wake, refuse) => {
      const mine = { ...place, wake, refuse };
      if (is_first) this.waiting.unshift(mine);
      else this.waiting.push(mine);
    });
  }

  wakeNext(): void {
    this.waiting.shift()?.wake();
  }

  wakeAll(): void {
    for (const { wake } of this.waiting.splice(0)) wake();
  }

  /** The caller that has waited since then; the first has waited longest. */
  refuse(since: number, error: DatabaseError): void {
    while (this.waiting[0] !== undefined && this.waiting[0].since <= since) this.waiting.shift()?.refuse(error);
  }
}
