// The two streams, the width, the signals and the user, as one value: commands write through it, tests capture it.
// Nothing in the command line touches `process` but main.ts, which makes one of these.
import { printableJson } from "../../core/values/printable.js";

export interface Io {
  /** What the command answers: tables, summaries, JSON. */
  out(text: string): void;
  /** What accompanies it: the live view, hints, errors. */
  err(text: string): void;
  /** Replaces what was last drawn on the error stream. Only called when `live`. */
  draw(text: string): void;
  /** Leaves the last drawing on the screen and goes on below it. */
  drawn(): void;
  /** The error stream is a terminal that can be drawn on. */
  live: boolean;
  colour: boolean;
  /** The width of the answer's lines; infinite where nothing is cut, in a pipe or a file. */
  width(): number;
  /** The width of the live view and of help, whichever stream is a terminal. */
  screen_width(): number;
  stdin(): Promise<Uint8Array>;
  cwd: string;
  /** Who sits at this terminal, as far as the machine knows. */
  user(): string | null;
  /** Calls back at each Ctrl-C or termination; returns how to stop listening. */
  onSignal(listener: (signal: "SIGINT" | "SIGTERM") => void): () => void;
}

export function line(io: Io, text = ""): void {
  io.out(`${text}\n`);
}

export function note(io: Io, text: string): void {
  io.err(`${text}\n`);
}

/** One document, one line: scripts may read either the whole output or line by line. */
export function json(io: Io, document: unknown): void {
  io.out(`${printableJson(document)}\n`);
}
