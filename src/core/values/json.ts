// Reads JSON that people and programs send, strictly: what JSON.parse would silently change (duplicate keys, 1e400, long
// integers, __proto__) is refused with the path to it. For command-line and HTTP text. Pure.
import { NotJson, ValueProblems } from "../errors/errors.js";
import { jsonPath, max_problems, type Problem, quoted, type Step } from "../errors/problems.js";
import { isUnsafeKey, type JsonLimits, json_limits, numberProblem, textProblem, unsafe_key } from "./json_values.js";

export { type JsonLimits, json_limits, jsonProblems, result_limits } from "./json_values.js";

/** Bytes must be UTF-8. Throws ValueProblems; a syntax error ends the reading, other problems are all collected. */
export function parseJson(source: string | Uint8Array, limits: JsonLimits = json_limits): unknown {
  const text = typeof source === "string" ? source : decode(source);
  if (text.startsWith("\uFEFF")) {
    throw refused("starts with a byte order mark", "Save it as UTF-8 without a byte order mark.");
  }
  const reader = new Reader(text, limits);
  const value = reader.whole();
  if (reader.problems.length > 0) throw new ValueProblems(reader.problems, refusal_title);
  return value;
}

/**
 * For bodies whose parts are judged one by one by the route: any JSON there is, as JSON.parse takes it. Nothing of it
 * may be stored without jsonProblems.
 */
export function parseLoosely(source: Uint8Array, max_values = json_limits.max_values): unknown {
  if (holdsMore(source, max_values)) throw refused(tooManyValues(max_values), send_less);
  try {
    return JSON.parse(decode(source));
  } catch (error) {
    if (error instanceof ValueProblems) throw error;
    throw new NotJson([{ path: "$", problem: "is not JSON", fix: "Send one JSON object." }], refusal_title);
  }
}

const refusal_title = "This JSON is refused";
const send_less = "Send less at once.";

function tooManyValues(max_values: number): string {
  return `holds more than ${max_values} values`;
}

/** Counted before anything is made of them: a comma has a value behind it, a bracket perhaps one. */
function holdsMore(bytes: Uint8Array, max_values: number): boolean {
  let count = 0;
  let in_text = false;
  for (let position = 0; position < bytes.length; position++) {
    const byte = bytes[position];
    if (in_text) {
      if (byte === 0x5c) position += 1;
      else if (byte === 0x22) in_text = false;
    } else if (byte === 0x22) in_text = true;
    else if (byte === 0x2c || byte === 0x5b || byte === 0x7b) {
      count += 1;
      if (count > max_values) return true;
    }
  }
  return false;
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
  return new ValueProblems([{ path: "$", problem, fix }], refusal_title);
}

const number_pattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const array_end = 0x5d;
const object_end = 0x7d;

/** Looks at character codes, not at texts: a body of megabytes holds up everybody while it is read. */
class Reader {
  readonly problems: Problem[] = [];
  private readonly path: Step[] = [];
  private position = 0;
  private depth = 0;
  private keys = 0;
  private values = 0;

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
    switch (this.text.charCodeAt(this.position)) {
      case 0x7b: {
        this.enter();
        const members = this.object();
        this.depth -= 1;
        return members;
      }
      case 0x5b: {
        this.enter();
        const items = this.array();
        this.depth -= 1;
        return items;
      }
      case quote: {
        const text = this.string();
        this.note(textProblem(text));
        return text;
      }
      case 0x74:
        return this.word("true", true);
      case 0x66:
        return this.word("false", false);
      case 0x6e:
        return this.word("null", null);
      default:
        return this.number();
    }
  }

  private enter(): void {
    if (this.depth >= this.limits.max_depth) {
      throw this.tooMuch(`is nested deeper than ${this.limits.max_depth} levels`, "Flatten it.");
    }
    this.depth += 1;
    this.position += 1;
    this.skipSpace();
  }

  /** Keys and array items together, as jsonProblems counts them. */
  private count(): void {
    this.values += 1;
    if (this.values > this.limits.max_values) throw this.tooMuch(tooManyValues(this.limits.max_values), send_less);
  }

  private object(): Record<string, unknown> {
    const members: Record<string, unknown> = {};
    if (this.take(object_end)) return members;
    for (;;) {
      if (this.text.charCodeAt(this.position) !== quote) throw this.syntaxError("expected a key in double quotes");
      const key = this.string();
      this.keys += 1;
      if (this.keys > this.limits.max_keys) {
        throw this.tooMuch(`has more than ${this.limits.max_keys} keys`, send_less);
      }
      this.count();
      this.path.push(key);
      this.note(textProblem(key));
      if (Object.hasOwn(members, key)) this.report("appears twice", "Keep one of the two.");
      this.skipSpace();
      if (!this.take(colon)) throw this.syntaxError("expected a colon after the key");
      this.skipSpace();
      const value = this.value();
      // An unsafe key is never assigned, so that not even the refused object carries it.
      if (isUnsafeKey(key, value)) this.note(unsafe_key);
      else members[key] = value;
      this.path.pop();
      this.skipSpace();
      if (this.take(object_end)) return members;
      if (!this.take(comma)) throw this.syntaxError("expected a comma or }");
      this.skipSpace();
    }
  }

  private array(): unknown[] {
    const items: unknown[] = [];
    if (this.take(array_end)) return items;
    for (;;) {
      this.count();
      this.path.push(items.length);
      items.push(this.value());
      this.path.pop();
      this.skipSpace();
      if (this.take(array_end)) return items;
      if (!this.take(comma)) throw this.syntaxError("expected a comma or ]");
      this.skipSpace();
    }
  }

  private string(): string {
    const start = this.position;
    const end = this.closingQuote(start);
    try {
      const text = JSON.parse(this.text.slice(start, end + 1)) as string;
      this.position = end + 1;
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
      while (this.text.charCodeAt(end - 1 - backslashes) === backslash) backslashes += 1;
      if (backslashes % 2 === 0) return end;
    }
  }

  private number(): number {
    const short = this.shortInteger();
    if (short !== null) return short;
    number_pattern.lastIndex = this.position;
    const piece = number_pattern.exec(this.text)?.[0];
    if (piece === undefined) throw this.syntaxError("expected a value");
    this.position += piece.length;
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

  /** Most numbers are short and whole, and nothing can be wrong with them; null: one that must be looked at. */
  private shortInteger(): number | null {
    let position = this.position;
    let value = 0;
    for (;;) {
      const digit = this.text.charCodeAt(position) - 0x30;
      if (!(digit >= 0 && digit <= 9)) break;
      value = value * 10 + digit;
      position += 1;
    }
    const digits = position - this.position;
    if (digits === 0 || digits > 9 || (digits > 1 && this.text.charCodeAt(this.position) === 0x30)) return null;
    const next = this.text.charCodeAt(position);
    if (next === 0x2e || next === 0x65 || next === 0x45) return null;
    this.position = position;
    return value;
  }

  private word<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.position)) throw this.syntaxError("expected a value");
    this.position += word.length;
    return value;
  }

  private take(code: number): boolean {
    if (this.text.charCodeAt(this.position) !== code) return false;
    this.position += 1;
    return true;
  }

  private skipSpace(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.position);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.position += 1;
    }
  }

  private note(found: { problem: string; fix: string } | null): void {
    if (found !== null) this.report(found.problem, found.fix);
  }

  private report(problem: string, fix: string): void {
    this.problems.push({ path: jsonPath(this.path), problem, fix });
    if (this.problems.length >= max_problems) throw new ValueProblems(this.problems, refusal_title);
  }

  private tooMuch(problem: string, fix: string): ValueProblems {
    return new ValueProblems(this.withProblem(problem, fix), refusal_title);
  }

  private withProblem(problem: string, fix: string): Problem[] {
    return [...this.problems, { path: jsonPath(this.path), problem, fix }];
  }

  private syntaxError(expected: string): NotJson {
    const before = this.text.slice(0, this.position).split("\n");
    const where = `line ${before.length}, column ${before.at(-1)!.length + 1}`;
    const what = this.position >= this.text.length ? `the text ends too early (${expected})` : expected;
    const problem = `is not JSON: ${what} at ${where}`;
    return new NotJson(this.withProblem(problem, "Check the text there."), refusal_title);
  }
}
