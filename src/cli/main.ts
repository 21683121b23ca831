#!/usr/bin/env node
// The program: this process's streams and signals around the command line. The composition root, and the only file of the
// command line that touches `process`.
import { userInfo } from "node:os";
import { createLogUpdate } from "log-update";
import { environment } from "../config.js";
import { run } from "./program.js";
import { exit_codes, explain, explanationLines } from "./terminal/failure.js";
import type { Io } from "./terminal/io.js";

const env = environment();
const draw = createLogUpdate(process.stderr);

const io: Io = {
  out: (text) => void process.stdout.write(text),
  err: (text) => {
    // A line written into the drawing would shift what the next drawing erases.
    draw.clear();
    process.stderr.write(text);
  },
  draw: (text) => draw(text),
  drawn: () => draw.done(),
  live: process.stderr.isTTY === true && env.TERM !== "dumb",
  colour: wantsColour(),
  // A pipe or a file has no edge at which to cut.
  width: () => (process.stdout.isTTY ? (process.stdout.columns ?? 100) : Number.POSITIVE_INFINITY),
  screen_width: () => process.stderr.columns ?? process.stdout.columns ?? 100,
  stdin: readStdin,
  cwd: process.cwd(),
  user: userName,
  onSignal,
};

/** A container may run as a number that has no name. */
function userName(): string | null {
  try {
    return userInfo().username || null;
  } catch {
    return null;
  }
}

/** https://no-color.org: any value but the empty one. */
function wantsColour(): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== "0";
  return process.stdout.isTTY === true && process.stderr.isTTY === true && env.TERM !== "dumb";
}

async function readStdin(): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

function onSignal(listener: (signal: "SIGINT" | "SIGTERM") => void): () => void {
  process.on("SIGINT", listener);
  process.on("SIGTERM", listener);
  return () => {
    process.off("SIGINT", listener);
    process.off("SIGTERM", listener);
  };
}

// `fanfold jobs | head` closes the pipe early: that is how pipes end, not an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(exit_codes.done);
});

// A pipe that was closed, a terminal that is gone, a full disk: there is nowhere left to say so, and a worker or an answer
// on stdout goes on without remarks. Thrown, it would be told on stderr, over and over.
process.stderr.on("error", () => {});

// A handler of the user's may throw outside of its promise: that too is said in words, and a worker says what it can to the
// database. Errors that follow from the first are said only.
let crashing = false;
process.on("uncaughtException", (error) => {
  for (const text of explanationLines(explain(error))) io.err(`${text}\n`);
  if (crashing) return;
  crashing = true;
  void import("../worker/worker.js")
    .then(({ crashWorkers }) => crashWorkers(error))
    .finally(() => process.exit(exit_codes.failed));
});

const code = await run(process.argv.slice(2), io, env);
// Ended explicitly, because a module of the user's may keep connections open; but not before a slow pipe took everything.
await Promise.all(
  [process.stdout, process.stderr].map((stream) => new Promise((resolve) => stream.write("", resolve))),
);
process.exit(code);
