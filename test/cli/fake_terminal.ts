// Runs the command line in this process with captured streams: no terminal, no spawned process, no ended process.

import { run } from "../../src/cli/program.js";
import type { Io } from "../../src/cli/terminal/io.js";

export interface FakeOptions {
  env?: Record<string, string | undefined>;
  cwd?: string;
  stdin?: string | Uint8Array;
  live?: boolean;
  colour?: boolean;
  width?: number;
  screen_width?: number;
  user?: string | null;
}

export interface Running {
  /** What was written so far. */
  out(): string;
  err(): string;
  /** Both, in the order in which they were written. */
  screen(): string;
  drawings: string[];
  signal(name: "SIGINT" | "SIGTERM"): void;
  /** Resolves when the standard output or error holds the text. */
  until(text: string | RegExp): Promise<void>;
  done: Promise<Ended>;
}

export interface Ended {
  code: number;
  out: string;
  err: string;
  /** The one JSON document of --json. Throws when there is another number of them. */
  json(): Document;
  /** One document per line, as watch --json writes them. */
  lines(): Document[];
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks into it, whatever it is
export type Document = any;

export function start(argv: readonly string[], options: FakeOptions = {}): Running {
  const written = { out: "", err: "" };
  let screen = "";
  const drawings: string[] = [];
  const listeners = new Set<(signal: "SIGINT" | "SIGTERM") => void>();
  const waiting = new Set<() => void>();
  const write = (stream: "out" | "err", text: string) => {
    written[stream] += text;
    screen += text;
    for (const look of waiting) look();
  };
  const io: Io = {
    out: (text) => write("out", text),
    err: (text) => write("err", text),
    draw: (text) => {
      drawings.push(text);
      for (const look of waiting) look();
    },
    drawn: () => {},
    live: options.live ?? false,
    colour: options.colour ?? false,
    width: () => options.width ?? 100,
    screen_width: () => options.screen_width ?? Math.min(options.width ?? 100, 1000),
    stdin: async () => Buffer.from(options.stdin ?? ""),
    cwd: options.cwd ?? process.cwd(),
    user: () => (options.user === undefined ? "tess" : options.user),
    onSignal: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const matches = (text: string | RegExp) => {
    const all = [written.out, written.err, drawings.at(-1) ?? ""].join("\n");
    return typeof text === "string" ? all.includes(text) : text.test(all);
  };
  const ended = run(argv, io, { FANFOLD_LOG_LEVEL: "fatal", ...options.env }).then((code) => endOf(code, written));
  return {
    out: () => written.out,
    err: () => written.err,
    screen: () => screen,
    drawings,
    signal: (name) => {
      for (const listener of [...listeners]) listener(name);
    },
    until: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!matches(text)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
        void ended.then(({ code, out, err }) => {
          if (waiting.delete(look)) reject(new Error(`ended with ${code} before ${text}:\n${out}\n${err}`));
        });
      }),
    done: ended,
  };
}

export function fanfold(argv: readonly string[], options: FakeOptions = {}): Promise<Ended> {
  return start(argv, options).done;
}

function endOf(code: number, { out, err }: { out: string; err: string }): Ended {
  const lines = () =>
    out
      .split("\n")
      .filter((text) => text !== "")
      .map((text) => JSON.parse(text));
  return {
    code,
    out,
    err,
    lines,
    json: () => {
      const documents = lines();
      if (documents.length !== 1) throw new Error(`${documents.length} documents on standard output, not one:\n${out}`);
      return documents[0];
    },
  };
}
