// Numbers of events that are missing although later ones are there: their transactions may be under way. Each is waited for
// until it comes, or until every transaction that ran when it was missed has ended, which proves that it never will. Pure.
import type { Span } from "../../engine/verbs/events.js";

interface Gap {
  from: number;
  to: number;
  /** A transaction numbered from here on began after the gap was seen. */
  xmax: number;
  since_ms: number;
}

const MOST_GAPS = 1_000;
/** In a position, which travels in a header. */
const MOST_TOLD = 40;
/** As wide as the widest that follow_events tells of: a cell counts in steps of 128, and goes on above the numbers of whoever comes. */
const WIDEST = 100_000 * 128;

export interface EventGapTimes {
  /** How long a number is waited for at most. */
  give_up_ms?: number;
  /** And at least: it is taken a moment before its transaction has a number of its own. */
  settle_ms?: number;
}

export class EventGaps {
  #gaps: Gap[] = [];

  constructor(private readonly times: EventGapTimes = {}) {}

  get spans(): Span[] {
    return this.#gaps.map(({ from, to }) => [from, to] as const);
  }

  add(spans: readonly Span[], xmax: number, now_ms: number): void {
    for (const [from, to] of spans) this.#gaps.push({ from, to, xmax, since_ms: now_ms });
    this.#gaps.sort((a, b) => a.from - b.from);
    if (this.#gaps.length > MOST_GAPS) this.#gaps = this.#gaps.slice(-MOST_GAPS);
  }

  fill(numbers: readonly number[]): void {
    for (const number of numbers) {
      this.#gaps = this.#gaps.flatMap((gap) => {
        if (number < gap.from || number >= gap.to) return [gap];
        const parts = [
          { ...gap, to: number },
          { ...gap, from: number + 1 },
        ];
        return parts.filter(({ from, to }) => from < to);
      });
    }
  }

  /** `xmin`: of the look that did not find them. */
  giveUp(xmin: number, now_ms: number): void {
    const { give_up_ms = 300_000, settle_ms = 2_000 } = this.times;
    this.#gaps = this.#gaps.filter(({ xmax, since_ms }) => {
      const age_ms = now_ms - since_ms;
      return age_ms < give_up_ms && (xmin < xmax || age_ms < settle_ms);
    });
  }
}

/** Where a follower stands: the last number it has seen all before, but for the gaps. `12`, or `12~7.9-11`. */
export function positionText(head: number, gaps: readonly Span[]): string {
  const below = gaps.filter(([from]) => from <= head);
  if (below.length === 0) return String(head);
  // Told from before the first gap, some events come twice; left out, one could be lost.
  if (below.length > MOST_TOLD) return String((below[0] as Span)[0] - 1);
  const told = below.map(([from, to]) => {
    const last = Math.min(to - 1, head);
    return last === from ? String(from) : `${from}-${last}`;
  });
  return `${head}~${told.join(".")}`;
}

const shape = /^(\d{1,15})(?:~(\d{1,15}(?:-\d{1,15})?(?:\.\d{1,15}(?:-\d{1,15})?)*))?$/;

/** null for anything that positionText has not written. */
export function readPosition(text: string): { head: number; gaps: Span[] } | null {
  if (text.length > 2_000) return null;
  const [, head, gaps = ""] = shape.exec(text) ?? [];
  if (head === undefined) return null;
  const spans = gaps === "" ? [] : gaps.split(".").map(spanOf);
  if (spans.length > MOST_TOLD || spans.some(([from, to]) => from >= to || to - from > WIDEST)) return null;
  return { head: Number(head), gaps: spans };
}

function spanOf(text: string): Span {
  const [from, last] = text.split("-").map(Number) as [number, number?];
  return [from, (last ?? from) + 1];
}
