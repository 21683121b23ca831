// One shape for everything that is wrong with an input: where, what, and what to do. SQL raises the same shape in the
// DETAIL of FF002. Pure.

export interface Problem {
  path: string;
  problem: string;
  fix: string;
}

/** More than this helps nobody and would let a hostile input make a huge error. */
export const max_problems = 20;

export type Step = string | number;

const plain_key = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** `$.tiles[3]["odd key"]` */
export function jsonPath(steps: readonly Step[]): string {
  let path = "$";
  for (const step of steps) {
    if (typeof step === "number") path += `[${step}]`;
    else if (plain_key.test(step)) path += `.${step}`;
    else path += `[${JSON.stringify(shorten(step))}]`;
  }
  return path;
}

/** For names and values quoted inside messages: an error must not repeat a megabyte of input. */
export function shorten(text: string, limit = 60): string {
  if (text.length <= limit) return text;
  const characters = Array.from(text.slice(0, limit + 1)).slice(0, limit);
  return `${characters.join("")}…`;
}

export function quoted(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(shorten(value));
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  return kindOf(value);
}

/** "a Date", "an array": how a message names a value without showing it. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "undefined";
  if (Array.isArray(value)) return "an array";
  if (typeof value !== "object") return `a ${typeof value}`;
  const name: unknown = value.constructor?.name;
  return typeof name === "string" && name !== "" && name !== "Object" ? `a ${shorten(name)}` : "an object";
}

export function formatProblems(title: string, problems: readonly Problem[]): string {
  const lines = problems.slice(0, max_problems).map(({ path, problem, fix }) => {
    const line = path === "" ? `- ${problem}` : `- ${path}: ${problem}`;
    return fix === "" ? line : `${line}\n  ${fix}`;
  });
  const left_out = problems.length - max_problems;
  if (left_out > 0) lines.push(`- and ${left_out} more`);
  return `${title}:\n${lines.join("\n")}`;
}

/** "Did you mean x?", or what there is to choose from; one wording for keys, types, stages and handlers. */
export function suggestion(word: string, known: Iterable<string>): string {
  const names = [...known];
  const close = didYouMean(word, names);
  if (close !== null) return `Did you mean ${JSON.stringify(close)}?`;
  if (names.length === 0) return "There are none.";
  const shown = names.slice(0, 12).map((name) => JSON.stringify(shorten(name)));
  return `Known: ${shown.join(", ")}${names.length > shown.length ? ", …" : ""}.`;
}

export function didYouMean(word: string, known: Iterable<string>): string | null {
  if (word.length > 100) return null;
  const names = [...known];
  let best: string | null = null;
  let best_distance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const name of names) {
    if (Math.abs(name.length - word.length) >= best_distance) continue;
    const distance = editDistance(word.toLowerCase(), name.toLowerCase());
    if (distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  if (best !== null || word.length < 3) return best;
  // The beginning of one name, or a name and more: "group" for "group_id".
  const started = names.filter((name) => {
    const [short, long] = [word.toLowerCase(), name.toLowerCase()].sort((a, b) => a.length - b.length) as [
      string,
      string,
    ];
    return short.length >= 3 && long.startsWith(short);
  });
  return started.length === 1 ? (started[0] as string) : null;
}

/** Edits (with neighbouring swaps counted as one) that lead from a to b. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const line = [row];
    for (let column = 1; column <= b.length; column++) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let value = Math.min(above[column]! + 1, line[column - 1]! + 1, above[column - 1]! + cost);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        value = Math.min(value, before[column - 2]! + 1);
      }
      line.push(value);
    }
    before = above;
    above = line;
  }
  return above[b.length]!;
}
