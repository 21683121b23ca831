// Tasks of a stage as they are written on the command line: 0-99,200 are the first hundred and the one numbered 200.

import { printable } from "../../core/values/printable.js";
import type { RetriedTasks } from "../../engine/verbs/operator.js";
import { usage } from "./failure.js";
import { tasks } from "./figures.js";

/** As the engine takes them: [from, to), the last not among them. */
export function ordinalsOf(text: string): [number, number][] {
  return text.split(",").map((piece) => {
    const found = /^\s*(\d{1,15})(?:\s*-\s*(\d{1,15}))?\s*$/.exec(piece);
    const [from, last] = [Number(found?.[1]), Number(found?.[2] ?? found?.[1])];
    if (found !== null && from <= last) return [from, last + 1];
    throw usage(`--tasks: "${printable(piece, 40)}" is neither a number nor a range`, {
      next: "give numbers and ranges with commas between them: --tasks 0-99,200",
    });
  });
}

export function* leftLines(left: RetriedTasks["left"]): Generator<string> {
  for (const { tasks: count, text } of left) yield `  left as they are: ${tasks(count)}, ${text}`;
}
