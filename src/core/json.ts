// Reads JSON that people and programs send, strictly: what JSON.parse would silently change (duplicate keys, 1e400, long
// integers, __proto__) is refused with the path to it. For command-line and HTTP text. Pure.
import { ValueProblems } from "./errors.js";
import { isUnsafeKey, type JsonLimits, json_limits, numberProblem, textProblem, unsafe_key } from "./json_values.js";
import { jsonPath, max_problems, type Problem, quoted, type Step } from "./problems.js";

export { type JsonLimits, json_limits, jsonProblems, result_limits } from "./json_values.js";

/** Bytes must be UTF-8. Throws ValueProblems; a syntax error ends the reading, other problems are all collected. */
export function parseJson(source: string | Uint8Array, limits: JsonLimits = json_limits): unknown {
  const text = typeof source === "string" ? source : decode(source);
  if (text.startsWith("\uFEFF")) {
    throw refused("starts with a byte order mark", "Save it as UTF-8 without a byte order mark.");
  }
  const reader = new Reader(text, limits);
  const value = reader.whole();
  if (reader.problems.length > 0) throw new ValueProblems(reader.problems, "This JSON is refused:");
  return value;
}

/**
 * For bodies whose parts are judged one by one by whoever answers: any JSON there is, as JSON.parse takes it. Nothing of it
 * may be stored without jsonProblems.
 */
export function parseLoosely(source: Uint8Array): unknown {
  try {
    return JSON.parse(decode(source));
  } catch (error) {
    if (error instanceof ValueProblems) throw error;
    throw refused("is not JSON", "Send one JSON object.");
  }
}

function decode(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const utf16_mark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  // The first character of JSON is ASCII: a zero byte beside it can only be UTF-16 or UTF-32.
  if (utf16_mark || (bytes.length >= 2 && (first === 0 || second === 0))) {
    throw refused("is not UTF-8 (it looks like UTF-16)", "Save it as UTF-8.");
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refused("is not valid UTF-8", "Save it as UTF-8.");
  }
}

function refused(problem: string, fix: string): ValueProblems {
  return new ValueProblems([{ path: "$", problem, fix }], "This JSON is refused:");
}

const number_pattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const space_pattern = /[ \t\n\r]*/y;

class Reader {
  readonly problems: Problem[] = [];
  private readonly path: Step[] = [];
  private position = 0;
  private depth = 0;
  private keys = 0;

  constructor(
    private readonly text: string,
    private readonly limits: JsonLimits,
  ) {}

  whole(): unknown {
    this.skipSpace();
    const value = this.value();
    this.skipSpace();
    if (this.position < this.text.length) throw this.syntaxError("something follows the end of the value");
    return value;
  }

  private value(): unknown {
    switch (this.text[this.position]) {
      case "{":
        return this.nested(() => this.object());
      case "[":
        return this.nested(() => this.array());
      case '"': {
        const text = this.string();
        this.note(textProblem(text));
        return text;
      }
      case "t":
        return this.word("true", true);
      case "f":
        return this.word("false", false);
      case "n":
        return this.word("null", null);
      default:
        return this.number();
    }
  }

  private nested<T>(read: () => T): T {
    if (this.depth >= this.limits.max_depth) {
      throw this.tooMuch(`is nested deeper than ${this.limits.max_depth} levels`, "Flatten it.");
    }
    this.depth += 1;
    this.position += 1;
    this.skipSpace();
    const value = read();
    this.depth -= 1;
    return value;
  }

  private object(): Record<string, unknown> {
    const members: Record<string, unknown> = {};
    if (this.take("}")) return members;
    for (;;) {
      if (this.text[this.position] !== '"') throw this.syntaxError("expected a key in double quotes");
      const key = this.string();
      this.keys += 1;
      if (this.keys > this.limits.max_keys) {
        throw this.tooMuch(`has more than ${this.limits.max_keys} keys`, "Send less at once.");
      }
      this.path.push(key);
      this.note(textProblem(key));
      if (Object.hasOwn(members, key)) this.report("appears twice", "Keep one of the two.");
      this.skipSpace();
      if (!this.take(":")) throw this.syntaxError("expected a colon after the key");
      this.skipSpace();
      const value = this.value();
      // An unsafe key is never assigned, so that not even the refused object carries it.
      if (isUnsafeKey(key, value)) this.note(unsafe_key);
      else members[key] = value;
      this.path.pop();
      this.skipSpace();
      if (this.take("}")) return members;
      if (!this.take(",")) throw this.syntaxError("expected a comma or }");
      this.skipSpace();
    }
  }

  private array(): unknown[] {
    const items: unknown[] = [];
    if (this.take("]")) return items;
    for (;;) {
      this.path.push(items.length);
      items.push(this.value());
      this.path.pop();
      this.skipSpace();
      if (this.take("]")) return items;
      if (!this.take(",")) throw this.syntaxError("expected a comma or ]");
      this.skipSpace();
    }
  }

  private string(): string {
    const start = this.position;
    const piece = this.text.slice(start, this.closingQuote(start) + 1);
    try {
      const text = JSON.parse(piece) as string;
      this.position += piece.length;
      return text;
    } catch {
      throw this.syntaxError("a string with a bad escape or a raw control character");
    }
  }

  /** Searched, not matched by a pattern: a pattern would need stack for every character of a long string. */
  private closingQuote(start: number): number {
    for (let end = start; ; ) {
      end = this.text.indexOf('"', end + 1);
      if (end === -1) throw this.syntaxError("a string that does not end");
      let backslashes = 0;
      while (this.text[end - 1 - backslashes] === "\\") backslashes += 1;
      if (backslashes % 2 === 0) return end;
    }
  }

  private number(): number {
    const piece = this.match(number_pattern);
    if (piece === null) throw this.syntaxError("expected a value");
    const value = Number(piece);
    const mantissa = piece.split(/[eE]/)[0]!;
    if (!Number.isFinite(value)) {
      this.report(`${quoted(piece)} is beyond the range of a double`, "Send it as a string.");
    } else if (value === 0 && /[1-9]/.test(mantissa)) {
      this.report(`${quoted(piece)} is too small for a double and would become 0`, "Send it as a string.");
    } else if (/^-?\d+$/.test(piece) && !Number.isSafeInteger(value)) {
      // Written out in full, a long integer is meant digit by digit, even where 1e21 would be a fair double.
      this.note(numberProblem(Number.MAX_SAFE_INTEGER + 1));
    } else {
      this.note(numberProblem(value));
    }
    return value === 0 ? 0 : value;
  }

  private word<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.position)) throw this.syntaxError("expected a value");
    this.position += word.length;
    return value;
  }

  private take(character: string): boolean {
    if (this.text[this.position] !== character) return false;
    this.position += 1;
    return true;
  }

  private skipSpace(): void {
    this.match(space_pattern);
  }

  private match(pattern: RegExp): string | null {
    pattern.lastIndex = this.position;
    const found = pattern.exec(this.text);
    if (found === null) return null;
    this.position += found[0].length;
    return found[0];
  }

  private note(found: { problem: string; fix: string } | null): void {
    if (found !== null) this.report(found.problem, found.fix);
  }

  private report(problem: string, fix: string): void {
    this.problems.push({ path: jsonPath(this.path), problem, fix });
    if (this.problems.length >= max_problems) throw new ValueProblems(this.problems, "This JSON is refused:");
  }

  private tooMuch(problem: string, fix: string): ValueProblems {
    return new ValueProblems([...this.problems, { path: jsonPath(this.path), problem, fix }], "This JSON is refused:");
  }

  private syntaxError(problem: string): ValueProblems {
    const before = this.text.slice(0, this.position).split("\n");
    const where = `line ${before.length}, column ${before.at(-1)!.length + 1}`;
    const what = this.position >= this.text.length ? `the text ends too early (${problem})` : problem;
    return this.tooMuch(`is not JSON: ${what} at ${where}`, "Check the text there.");
  }
}
