// A line that shows how much of some files has been copied.
import { performance } from "node:perf_hooks";
import { printable, truncate } from "../../core/values/printable.js";
import type { Cli } from "./command.js";
import { bytes, count, seconds } from "./figures.js";

const REDRAW_MS = 100;
const BAR = 24;

/** Drawn while somebody watches, and only once it takes a moment. */
export class Bar {
  #name = "";
  #done = 0;
  /** Bytes of the files before this one. */
  #before = 0;
  #files = 0;
  readonly #began = performance.now();
  #drawn_at = performance.now();

  constructor(
    private readonly cli: Cli,
    private readonly files: number,
    private readonly total: number,
  ) {}

  begin(name: string): void {
    this.#name = name;
    this.#files++;
  }

  async *counted(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      yield piece;
      this.#done += piece.byteLength;
      this.#draw();
    }
  }

  /** So much of this file is there. */
  at(done: number): void {
    this.#done = this.#before + done;
    this.#draw();
  }

  next(): void {
    this.#before = this.#done;
  }

  #draw(): void {
    const { io } = this.cli;
    const now = performance.now();
    if (!io.live || now - this.#drawn_at < REDRAW_MS) return;
    this.#drawn_at = now;
    const share = this.total === 0 ? 1 : Math.min(1, this.#done / this.total);
    const filled = Math.round(share * BAR);
    const per_s = (this.#done * 1000) / Math.max(1, now - this.#began);
    const left = per_s > 0 ? `  ${seconds(Math.max(0, this.total - this.#done) / per_s)} left` : "";
    const number = this.files > 1 ? `${count(this.#files)} of ${count(this.files)}  ` : "";
    const line = `${"█".repeat(filled)}${"░".repeat(BAR - filled)} ${Math.floor(share * 100)} %  ${bytes(this.#done)} of ${bytes(this.total)}  ${bytes(per_s)}/s${left}  ${number}${printable(this.#name)}`;
    io.draw(truncate(line, io.screen_width()));
  }

  end(): void {
    if (this.cli.io.live) this.cli.io.drawn();
  }
}
