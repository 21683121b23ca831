// What a statement of a catalogue answers, and its refusals as errors of ours.
import { BadRequest, fromSqlError } from "../core/errors/errors.js";

/** The one row's `reply`; undefined where the session only writes down what is to run later. */
export async function answer<T>(rows: Promise<Record<string, unknown>[]>): Promise<T> {
  try {
    const [row] = await rows;
    return row?.reply as T;
  } catch (error) {
    throw fromSqlError(error) ?? asQuestion(error) ?? error;
  }
}

/** Data that Postgres cannot compute with (class 22: a number out of range, a time that is none) came with the question. */
function asQuestion(error: unknown): BadRequest | null {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code !== "string" || !code.startsWith("22")) return null;
  return new BadRequest(`the catalogue cannot compute this: ${String(message)}`, {
    hint: "check numbers, times and texts of the request",
    cause: error,
  });
}
