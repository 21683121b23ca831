// What the process table says about processes of isolated handlers.
import { existsSync, readFileSync } from "node:fs";
import type { NoteLine } from "./poison.js";

/** A zombie waits for its parent to take notice, and runs no more. */
export function isAlive(pid: number): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(")") + 2)[0] !== "Z";
  } catch {
    return false;
  }
}

export function readNotes(file: string): NoteLine[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1); // after the last line end: nothing, or half a line
  return lines.map((line) => JSON.parse(line) as NoteLine);
}
