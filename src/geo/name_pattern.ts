// File names taken apart by a pattern such as `{region}_{return_period}_{tile}.tif`, and put into groups whose members become
// the bands of one raster. Patterns are matched by our own code in bounded time: no regular expression comes from a user. Pure.
import { BadRequest } from "../core/errors/errors.js";
import { type Problem, quoted } from "../core/errors/problems.js";

/** What a field may hold: `{tile}` anything but a slash, `{year:digits}`, `{kind:fluvial|pluvial}`. */
const kinds: Record<string, (char: string) => boolean> = {
  any: (char) => char !== "/",
  digits: (char) => char >= "0" && char <= "9",
  letters: (char) => isLetter(char),
  word: (char) => isLetter(char) || (char >= "0" && char <= "9"),
  path: () => true,
};

function isLetter(char: string): boolean {
  return (char >= "a" && char <= "z") || (char >= "A" && char <= "Z");
}

type Token = { literal: string } | { star: true } | { field: string; kind: string; choices: string[] | null };

export interface NamePattern {
  readonly text: string;
  readonly fields: readonly string[];
  /** Null when the name does not fit. A pattern without a slash looks at the last part of the name only. */
  match(name: string): Record<string, string> | null;
}

const longest = 500;

/** Throws BadRequest with all that is wrong. `*` is anything but a slash, `{{` and `}}` are braces. */
export function compileNamePattern(text: string): NamePattern {
  const { tokens, problems } = parse(text);
  const fields = tokens.flatMap((token) => ("field" in token ? [token.field] : []));
  const twins = fields.filter((field, i) => fields.indexOf(field) !== i);
  for (const twin of new Set(twins))
    problems.push(problem(`the field ${twin} stands there twice`, "give each its own name"));
  tokens.forEach((token, i) => {
    const next = tokens[i + 1];
    if (next && !("literal" in token) && !("literal" in next) && isOpen(token) && isOpen(next)) {
      problems.push(
        problem("two fields follow each other with nothing between", "put a character between them, or say :digits"),
      );
    }
  });
  if (fields.length === 0 && problems.length === 0) {
    problems.push(problem("there is no field in it", "write for example {tile}_{band}.tif"));
  }
  if (problems.length > 0) {
    throw new BadRequest(`The pattern ${quoted(text)} is not right`, { problems });
  }
  const is_path = text.includes("/");
  return {
    text,
    fields,
    match(name) {
      const subject = is_path ? name : name.slice(name.lastIndexOf("/") + 1);
      return subject.length > 1024 ? null : match(tokens, subject);
    },
  };
}

function isOpen(token: Token): boolean {
  return (
    "star" in token || ("field" in token && token.choices === null && (token.kind === "any" || token.kind === "path"))
  );
}

function problem(text: string, fix: string): Problem {
  return { path: "$.pattern", problem: text, fix };
}

function parse(text: string): { tokens: Token[]; problems: Problem[] } {
  const tokens: Token[] = [];
  const problems: Problem[] = [];
  if (text.length > longest)
    return { tokens, problems: [problem(`it has ${text.length} characters`, `use at most ${longest}`)] };
  let literal = "";
  const flush = () => {
    if (literal !== "") tokens.push({ literal });
    literal = "";
  };
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if ((char === "{" || char === "}") && text[i + 1] === char) {
      literal += char;
      i++;
    } else if (char === "*") {
      flush();
      if (!("star" in (tokens.at(-1) ?? {}))) tokens.push({ star: true });
    } else if (char === "{") {
      flush();
      const end = text.indexOf("}", i);
      const inside = text.slice(i + 1, end < 0 ? undefined : end);
      if (end < 0) return { tokens, problems: [...problems, problem("a { is never closed", "write }")] };
      const token = parseField(inside, problems);
      if (token) tokens.push(token);
      i = end;
    } else if (char === "}") {
      problems.push(problem("a } was never opened", "write }} for a brace"));
    } else {
      literal += char;
    }
  }
  flush();
  if (tokens.length > 60) problems.push(problem("it has too many parts", "use at most 30 fields"));
  return { tokens, problems };
}

function parseField(inside: string, problems: Problem[]): Token | null {
  const colon = inside.indexOf(":");
  const field = (colon < 0 ? inside : inside.slice(0, colon)).trim();
  const rest = colon < 0 ? "any" : inside.slice(colon + 1).trim();
  if (!/^[a-z][a-z0-9_]{0,39}$/.test(field)) {
    problems.push(problem(`${quoted(field)} is not a name for a field`, "use small letters, digits and _"));
    return null;
  }
  if (Object.hasOwn(kinds, rest)) return { field, kind: rest, choices: null };
  const choices = rest.split("|").filter((choice) => choice !== "");
  if (!rest.includes("|") || choices.length < 2) {
    problems.push(problem(`${quoted(rest)} is no kind of field`, `use ${Object.keys(kinds).join(", ")}, or a|b|c`));
    return null;
  }
  // The longest first, so that `1in10` does not win over `1in100`.
  return { field, kind: "any", choices: choices.sort((a, b) => b.length - a.length) };
}

/**
 * From the right: whether the tokens from this one on can take all of the rest. Then from the left, the shortest values that
 * leave a rest which can be taken. Tokens times characters, whatever the pattern.
 */
function match(tokens: readonly Token[], subject: string): Record<string, string> | null {
  const length = subject.length;
  const rests: Uint8Array[] = [];
  let after = new Uint8Array(length + 1);
  after[length] = 1;
  for (const token of tokens.toReversed()) {
    const rest = new Uint8Array(length + 1);
    for (let at = length; at >= 0; at--) rest[at] = canTake(token, subject, at, rest, after) ? 1 : 0;
    rests.unshift(after);
    after = rest;
  }
  if (!after[0]) return null;
  const values: Record<string, string> = {};
  let at = 0;
  tokens.forEach((token, i) => {
    const end = shortest(token, subject, at, rests[i]!);
    if ("field" in token) values[token.field] = subject.slice(at, end);
    at = end;
  });
  return values;
}

function fitsOf(token: Exclude<Token, { literal: string }>): (char: string) => boolean {
  return "star" in token ? kinds.any! : kinds[token.kind]!;
}

function canTake(token: Token, subject: string, at: number, rest: Uint8Array, after: Uint8Array): boolean {
  const fixed = fixedTexts(token);
  if (fixed) return fixed.some((text) => subject.startsWith(text, at) && after[at + text.length] === 1);
  if ("star" in token && after[at]) return true;
  const open = token as Exclude<Token, { literal: string }>;
  // One more character, and then either this token goes on or the next begins.
  return at < subject.length && fitsOf(open)(subject[at]!) && (after[at + 1] === 1 || rest[at + 1] === 1);
}

function shortest(token: Token, subject: string, at: number, after: Uint8Array): number {
  const fixed = fixedTexts(token);
  if (fixed) return at + fixed.find((text) => subject.startsWith(text, at) && after[at + text.length] === 1)!.length;
  let end = "star" in token ? at : at + 1;
  while (!after[end]) end++;
  return end;
}

function fixedTexts(token: Token): string[] | null {
  if ("literal" in token) return [token.literal];
  return "field" in token ? token.choices : null;
}
