// CQL2 text into CQL2 JSON. A parser of our own, because a filter that is read wrongly shows a tenant the wrong items: the library at hand
// drops what follows a BETWEEN, cuts 'it''s' short, and never recovers from deep nesting. Says where it stopped. Pure.
import { BadRequest } from "../../core/errors/errors.js";
import { shorten } from "../../core/errors/problems.js";

const longest_text = 20_000;
const deepest = 30;

type Token = { kind: "word" | "name" | "text" | "number" | "sign" | "end"; text: string; at: number };

const patterns: [Token["kind"], RegExp][] = [
  ["number", /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y],
  ["text", /'(?:[^'\\]|''|\\'|\\(?!'))*'/y],
  ["name", /"(?:[^"]|"")*"/y],
  ["word", /[\p{L}_:][\p{L}\p{M}\p{N}_:.-]*/uy],
  ["sign", /<>|<=|>=|!=|[=<>+\-*/%^(),[\]]/y],
];

/** A name may hold a dash, and `a-b` is then a name; with spaces around it is a difference. */
function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  next: while (at < source.length) {
    if (/\s/.test(source[at] as string)) {
      at++;
      continue;
    }
    for (const [kind, pattern] of patterns) {
      pattern.lastIndex = at;
      const found = pattern.exec(source)?.[0];
      if (found === undefined) continue;
      tokens.push({ kind, text: found, at });
      at += found.length;
      continue next;
    }
    throw refusal(source, at, `${JSON.stringify(source[at])} is not expected here`);
  }
  tokens.push({ kind: "end", text: "", at: source.length });
  return tokens;
}

function refusal(source: string, at: number, problem: string): BadRequest {
  const seen = shorten(source.slice(at), 30);
  const place = seen === "" ? "at its end" : `at character ${at + 1}, before ${JSON.stringify(seen)}`;
  const fix = "CQL2 text, for instance: eo:cloud_cover < 10 AND platform = 'sentinel-2a'";
  return new BadRequest("the filter cannot be read", {
    problems: [{ path: "filter", problem: `${problem} ${place}`, fix }],
  });
}

export function cql2FromText(source: string): unknown {
  if (source.length > longest_text)
    throw new BadRequest(`a filter has at most ${longest_text} characters`, { hint: "send a shorter one" });
  return new Parser(source).whole();
}

const reserved = new Set(["and", "or", "not", "like", "between", "in", "is", "null", "true", "false", "div"]);
const comparisons = new Set(["=", "<>", "!=", "<", ">", "<=", ">="]);
const geometry_words: Record<string, { type: string; depth: number }> = {
  point: { type: "Point", depth: 0 },
  linestring: { type: "LineString", depth: 1 },
  polygon: { type: "Polygon", depth: 2 },
  multipoint: { type: "MultiPoint", depth: 1 },
  multilinestring: { type: "MultiLineString", depth: 2 },
  multipolygon: { type: "MultiPolygon", depth: 3 },
};

class Parser {
  private readonly tokens: Token[];
  private place = 0;
  private depth = 0;

  constructor(private readonly source: string) {
    this.tokens = tokensOf(source);
  }

  whole(): unknown {
    const found = this.either();
    if (this.seen.kind !== "end") throw this.refuse("the filter should have ended");
    return found;
  }

  private get seen(): Token {
    return this.tokens[this.place] as Token;
  }

  private either(): unknown {
    return this.chain("or", () => this.chain("and", () => this.negation()));
  }

  private chain(word: string, part: () => unknown): unknown {
    const args = [part()];
    while (this.takeWord(word)) args.push(part());
    return args.length === 1 ? args[0] : { op: word, args };
  }

  private negation(): unknown {
    let times = 0;
    while (this.takeWord("not")) times++;
    const found = this.comparison();
    return times % 2 === 1 ? { op: "not", args: [found] } : found;
  }

  private comparison(): unknown {
    const left = this.sum();
    if (this.seen.kind === "sign" && comparisons.has(this.seen.text)) {
      const op = this.take().text;
      return { op: op === "!=" ? "<>" : op, args: [left, this.sum()] };
    }
    if (this.takeWord("is")) {
      const negated = this.takeWord("not");
      this.needWord("null");
      return negate(negated, { op: "isNull", args: [left] });
    }
    const at = this.place;
    const negated = this.takeWord("not");
    if (this.takeWord("like")) return negate(negated, { op: "like", args: [left, this.sum()] });
    if (this.takeWord("in")) return negate(negated, { op: "in", args: [left, this.list()] });
    if (this.takeWord("between")) {
      const low = this.sum();
      this.needWord("and");
      return negate(negated, { op: "between", args: [left, low, this.sum()] });
    }
    this.place = at;
    return left;
  }

  private sum(): unknown {
    return this.left(["+", "-"], () => this.left(["*", "/", "%", "div"], () => this.power()));
  }

  private left(operators: string[], part: () => unknown): unknown {
    let found = part();
    for (;;) {
      const word = this.seen.kind === "word" ? this.seen.text.toLowerCase() : this.seen.text;
      if ((this.seen.kind !== "sign" && word !== "div") || !operators.includes(word)) return found;
      this.take();
      found = { op: word, args: [found, part()] };
    }
  }

  /** 2 ^ 3 ^ 2 is 2 ^ (3 ^ 2). */
  private power(): unknown {
    const base = this.single();
    if (!this.takeSign("^")) return base;
    return this.deeper(() => ({ op: "^", args: [base, this.power()] }));
  }

  private single(): unknown {
    const { kind, text } = this.seen;
    if (kind === "sign" && (text === "-" || text === "+")) {
      this.take();
      const value = this.deeper(() => this.single());
      if (text === "+") return value;
      return typeof value === "number" ? -value : { op: "*", args: [-1, value] };
    }
    if (kind === "number") return this.number();
    if (kind === "text") return unquoted(this.take().text, "'");
    if (kind === "name") return { property: unquoted(this.take().text, '"') };
    if (kind === "sign" && text === "(") return this.deeper(() => this.group());
    if (kind === "sign" && text === "[") return this.list();
    if (kind !== "word") throw this.refuse("a property, a value or a function is missing");
    return this.word();
  }

  /** One thing in parentheses is that thing; several are an array. */
  private group(): unknown {
    this.needSign("(");
    if (this.takeSign(")")) return [];
    const parts = [this.either()];
    while (this.takeSign(",")) parts.push(this.either());
    this.needSign(")");
    return parts.length === 1 ? parts[0] : parts;
  }

  private list(): unknown[] {
    const end = this.takeSign("[") ? "]" : ")";
    if (end === ")") this.needSign("(");
    const parts: unknown[] = [];
    if (this.takeSign(end)) return parts;
    do parts.push(this.deeper(() => this.sum()));
    while (this.takeSign(","));
    this.needSign(end);
    return parts;
  }

  private word(): unknown {
    const { text } = this.take();
    const word = text.toLowerCase();
    if (word === "true") return true;
    if (word === "false") return false;
    if (Object.hasOwn(geometry_words, word) || word === "geometrycollection") {
      const next = this.seen;
      if ((next.kind === "sign" && next.text === "(") || next.kind === "word") return this.geometry(word);
    }
    if (this.seen.kind === "sign" && this.seen.text === "(") return this.deeper(() => this.call(word));
    if (reserved.has(word)) {
      this.place--;
      throw this.refuse(`${text} is not expected here`);
    }
    return { property: text };
  }

  private call(word: string): unknown {
    if (word.startsWith("a_")) return { op: word, args: this.arrayArguments() };
    this.needSign("(");
    const args: unknown[] = [];
    if (!this.takeSign(")")) {
      do args.push(this.either());
      while (this.takeSign(","));
      this.needSign(")");
    }
    if (word === "timestamp" || word === "date") return { [word]: args[0] };
    if (word === "interval") return { interval: args };
    if (word === "bbox") return { bbox: args };
    return { op: word, args };
  }

  /** Here ('a') is an array of one. */
  private arrayArguments(): unknown[] {
    this.needSign("(");
    const args: unknown[] = [];
    do {
      const opens = this.seen.kind === "sign" && (this.seen.text === "(" || this.seen.text === "[");
      args.push(opens ? this.list() : this.sum());
    } while (this.takeSign(","));
    this.needSign(")");
    return args;
  }

  private geometry(word: string): unknown {
    // POINT Z (1 2 3): the positions tell it anyway.
    if (this.seen.kind === "word") this.take();
    if (word === "geometrycollection") {
      const geometries: unknown[] = [];
      this.needSign("(");
      do geometries.push(this.deeper(() => this.geometry(this.take().text.toLowerCase())));
      while (this.takeSign(","));
      this.needSign(")");
      return { type: "GeometryCollection", geometries };
    }
    const shape = geometry_words[word];
    if (shape === undefined) throw this.refuse(`${word} is not a geometry`);
    this.needSign("(");
    const coordinates = shape.depth === 0 ? this.position() : this.positions(shape.depth, word === "multipoint");
    this.needSign(")");
    return { type: shape.type, coordinates };
  }

  private positions(depth: number, may_be_wrapped: boolean): unknown[] {
    const found: unknown[] = [];
    do {
      if (depth > 1) {
        this.needSign("(");
        found.push(this.positions(depth - 1, false));
        this.needSign(")");
      } else if (may_be_wrapped && this.takeSign("(")) {
        found.push(this.position());
        this.needSign(")");
      } else found.push(this.position());
    } while (this.takeSign(","));
    return found;
  }

  private position(): number[] {
    const numbers: number[] = [];
    while (this.seen.kind === "number" || (this.seen.kind === "sign" && /^[+-]$/.test(this.seen.text))) {
      const is_negative = this.takeSign("-");
      if (!is_negative) this.takeSign("+");
      numbers.push(is_negative ? -this.number() : this.number());
    }
    if (numbers.length === 0) throw this.refuse("a position is missing");
    return numbers;
  }

  private number(): number {
    const { kind, text } = this.seen;
    const value = kind === "number" ? Number(text) : Number.NaN;
    if (!Number.isFinite(value)) throw this.refuse("a number is missing, or too large");
    this.take();
    return value;
  }

  /** Deep nesting is refused here, before it exhausts this program's own stack or the database's. */
  private deeper<T>(part: () => T): T {
    if (++this.depth > deepest) throw this.refuse(`it is nested deeper than ${deepest}`);
    const found = part();
    this.depth--;
    return found;
  }

  private take(): Token {
    const token = this.seen;
    if (token.kind !== "end") this.place++;
    return token;
  }

  private takeWord(word: string): boolean {
    const found = this.seen.kind === "word" && this.seen.text.toLowerCase() === word;
    if (found) this.place++;
    return found;
  }

  private takeSign(sign: string): boolean {
    const found = this.seen.kind === "sign" && this.seen.text === sign;
    if (found) this.place++;
    return found;
  }

  private needWord(word: string): void {
    if (!this.takeWord(word)) throw this.refuse(`${word.toUpperCase()} is missing`);
  }

  private needSign(sign: string): void {
    if (!this.takeSign(sign)) throw this.refuse(`"${sign}" is missing`);
  }

  private refuse(problem: string): BadRequest {
    return refusal(this.source, this.seen.at, problem);
  }
}

function negate(negated: boolean, node: unknown): unknown {
  return negated ? { op: "not", args: [node] } : node;
}

function unquoted(text: string, quote: string): string {
  const inner = text.slice(1, -1);
  return quote === '"' ? inner.replaceAll('""', '"') : inner.replace(/''|\\'/g, "'");
}
