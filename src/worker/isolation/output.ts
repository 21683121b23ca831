// What a child writes to stdout and stderr: cut into lines for the task's log, counted, and its end kept for the report of
// a failure. Never more in memory than a few kilobytes, however much is written.

import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** V8 ends a full heap with some thirty lines of native stack. */
const LAST_LINES = 40;
/** V8 has no other way to say it than this sentence, before it aborts. */
const HEAP_FULL = "heap out of memory";
const LINE_LENGTH = 500;
/** Text without a line end is cut here. */
const PIECE_LENGTH = 8 * 1024;

export class Output {
  /** Written since the last reset. */
  bytes = 0;
  heap_full = false;
  private last: string[] = [];
  private readonly halves: (() => void)[] = [];

  constructor(
    private readonly onLine: (level: "info" | "warn", line: string) => void,
    private readonly onBytes: (bytes: number) => void,
  ) {}

  read(stream: Readable, level: "info" | "warn"): void {
    const decoder = new StringDecoder("utf8");
    let rest = "";
    const take = (text: string): void => {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      if (rest.length > PIECE_LENGTH) {
        lines.push(rest);
        rest = "";
      }
      for (const line of lines) this.line(level, line.endsWith("\r") ? line.slice(0, -1) : line);
    };
    stream.on("data", (chunk: Buffer) => {
      this.bytes += chunk.length;
      take(decoder.write(chunk));
      this.onBytes(this.bytes);
    });
    this.halves.push(() => {
      if (rest !== "") this.line(level, rest);
      rest = "";
    });
    // A broken pipe is the end of the child, which is told elsewhere.
    stream.on("error", () => {});
  }

  private line(level: "info" | "warn", line: string): void {
    this.keep(line);
    this.heap_full ||= level === "warn" && line.includes(HEAP_FULL);
    this.onLine(level, line);
  }

  /** Also for what is logged otherwise. */
  keep(line: string): void {
    this.last.push(line.length > LINE_LENGTH ? `${line.slice(0, LINE_LENGTH)}…` : line);
    if (this.last.length > LAST_LINES) this.last.shift();
  }

  lastLines(): string[] {
    return [...this.last];
  }

  /** What is there is all there is: lines without an end are lines too. */
  flush(): void {
    for (const take of this.halves) take();
  }

  /** A new task begins. */
  reset(): void {
    this.bytes = 0;
    this.heap_full = false;
    this.last = [];
  }
}
