// The words for how the process of a handler ended before its task did. Pure.
import { type Failure, failureOf, type ProcessEnd, storableText } from "../../core/errors/failures.js";
import type { Escaped } from "./messages.js";

/** Why the worker itself ended the process. */
export type KillReason =
  | { code: "out_of_memory"; used_mb: number; memory_mb: number }
  | { code: "output_limit"; output_bytes: number }
  /** What came over the channel made no sense. */
  | { code: "killed" };

export interface Ending {
  pid: number;
  exit_code: number | null;
  signal: NodeJS.Signals | null;
  peak_memory_mb: number;
  last_lines: string[];
  heap_full: boolean;
  kill_reason: KillReason | null;
  escaped: Escaped | null;
}

/** Carries a failure that was classified where it happened, in the child, or that is about the child. */
export class ChildFailure extends Error {
  constructor(
    readonly failure: Failure,
    /** How the process ended, if it did. */
    readonly end: ProcessEnd | null = null,
  ) {
    super(failure.message);
  }
}

export function isProcessEnd(error: unknown): error is ChildFailure & { end: ProcessEnd } {
  return error instanceof ChildFailure && error.end !== null;
}

/** The failure, with how its process ended if it had to be killed for it. */
export function withEnd(failure: Failure, error: unknown): Failure {
  return isProcessEnd(error) ? { ...failure, detail: { ...failure.detail, process: error.end } } : failure;
}

export function crashOf(ending: Ending): ChildFailure {
  const { code, message } = toldBy(ending);
  const peak = `peak memory ${Math.round(ending.peak_memory_mb)} MB`;
  const process = processEnd(ending);
  const source = ending.escaped ?? {};
  const failure = failureOf({ ...source, message: `${message} (${peak})` }, { category: "crash", code });
  return new ChildFailure({ ...failure, detail: { ...failure.detail, process } }, process);
}

function processEnd({ pid, exit_code, signal, peak_memory_mb, last_lines }: Ending): ProcessEnd {
  return {
    pid,
    ...(exit_code === null ? {} : { exit_code }),
    ...(signal === null ? {} : { signal }),
    peak_memory_mb: Math.round(peak_memory_mb),
    last_lines: last_lines.map((line) => storableText(line, 2048)),
  };
}

function toldBy({ exit_code, signal, kill_reason, escaped, heap_full }: Ending): { code: string; message: string } {
  if (kill_reason?.code === "output_limit") {
    const message = `the handler wrote more than ${kill_reason.output_bytes} bytes to stdout and stderr, and was killed`;
    return { code: "output_limit", message };
  }
  if (kill_reason?.code === "killed") {
    const message = "the handler's process was killed, because something else wrote to its channel (descriptor 3)";
    return { code: "killed", message };
  }
  if (kill_reason?.code === "out_of_memory") {
    const { used_mb, memory_mb } = kill_reason;
    const used = `the handler's process used ${Math.round(used_mb)} MB`;
    return { code: "out_of_memory", message: `${used}, its memory_mb is ${memory_mb}, and was killed` };
  }
  if (escaped !== null) {
    const message = `an error that nobody caught ended the handler's process: ${escaped.name}: ${escaped.message}`;
    return { code: "exited", message };
  }
  if (signal === "SIGABRT" && heap_full) {
    return { code: "out_of_memory", message: "the handler's JavaScript heap was full, and its process was aborted" };
  }
  if (signal === "SIGKILL") {
    const guess = "by somebody else, perhaps by the system because its memory was full";
    return { code: "killed", message: `the handler's process was killed by SIGKILL, ${guess}` };
  }
  if (signal !== null) return { code: "killed", message: `the handler's process was killed by ${signal}` };
  return {
    code: "exited",
    message: `the handler's process ended with exit code ${exit_code} before its task was done`,
  };
}
