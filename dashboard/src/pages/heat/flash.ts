// What has just changed lights up for a moment, unless the reader wants no motion.

const LASTS_MS = 700;
/** When more than this change at once, the whole picture moves, and lights would only blind. */
const MOST = 1_500;

export class Flash {
  #lit = new Map<number, number>();
  #frame = 0;

  constructor(private readonly redraw: () => void) {}

  light(cells: readonly number[], now: number): void {
    if (cells.length > MOST || window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    for (const cell of cells) this.#lit.set(cell, now);
    this.#go();
  }

  /** Cells with how much of their light is left, 1 to 0. */
  *at(now: number): Generator<[cell: number, left: number]> {
    for (const [cell, since] of this.#lit) {
      const left = 1 - (now - since) / LASTS_MS;
      if (left <= 0) this.#lit.delete(cell);
      else yield [cell, left];
    }
  }

  stop(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#lit.clear();
  }

  #go(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.redraw();
      if (this.#lit.size > 0) this.#go();
    });
  }
}
