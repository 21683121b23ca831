// Which files are meant, and what their names say. Two small languages that whoever submits a job may write: globs (`**/*.tif`) and
// patterns with names in braces (`{kind}_{year}.tif`). Both are matched in time that grows with the text and never explodes, which
// regular expressions cannot promise. Pure.

/** Whether a path fits: `*` any characters but /, `**` any characters, a `**` and its slash also none at all, `?` one but /. */
export function fitsGlob(glob: string, path: string): boolean {
  const tokens = globTokens(glob);
  // Every place in the glob that the text read so far may have led to: as many as there are tokens at most.
  let places = closed(tokens, new Set([0]));
  for (const character of path) {
    const next = new Set<number>();
    for (const place of places) {
      const token = tokens[place];
      if (token === undefined) continue;
      if (token.kind === "any") next.add(place);
      else if (token.kind === "part" && character !== "/") next.add(place);
      else if (token.kind === "one" && character !== "/") next.add(place + 1);
      else if (token.kind === "text" && token.text === character) next.add(place + 1);
    }
    places = closed(tokens, next);
    if (places.size === 0) return false;
  }
  return places.has(tokens.length);
}

type GlobToken = { kind: "any" | "part" | "one" } | { kind: "text"; text: string } | { kind: "maybe"; skip: number };

function globTokens(glob: string): GlobToken[] {
  const tokens: GlobToken[] = [];
  const characters = [...glob];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at]!;
    const at_start = at === 0 || characters[at - 1] === "/";
    if (character === "*" && characters[at + 1] === "*") {
      at += 1;
      if (at_start && characters[at + 1] === "/") {
        // `**/` is any folders, or none: both the run and its slash may be left out.
        tokens.push({ kind: "maybe", skip: 3 }, { kind: "any" }, { kind: "text", text: "/" });
        at += 1;
      } else tokens.push({ kind: "any" });
    } else if (character === "*") tokens.push({ kind: "part" });
    else if (character === "?") tokens.push({ kind: "one" });
    else tokens.push({ kind: "text", text: character });
  }
  return tokens;
}

/** With the places that can be reached without reading anything. */
function closed(tokens: GlobToken[], places: Set<number>): Set<number> {
  // A set is walked in order of insertion, with what is added on the way.
  for (const place of places) {
    const token = tokens[place];
    if (token?.kind === "any" || token?.kind === "part") places.add(place + 1);
    if (token?.kind === "maybe") places.add(place + 1).add(place + token.skip);
  }
  return places;
}

type PatternPart = { text: string } | { name: string };

const name_rule = /^[a-z][a-z0-9_]{0,62}$/;

/** null when it can be used. */
export function patternProblem(pattern: string): string | null {
  const names: string[] = [];
  const pieces = pattern.split(/[{}]/);
  // Text, name, text, name, …, text: braces come in pairs, and in this order.
  if (pieces.length % 2 === 0 || !/^[^{}]*(\{[^{}]*\}[^{}]*)*$/.test(pattern)) {
    return "has a brace without its partner: write {name}";
  }
  for (const [position, piece] of pieces.entries()) {
    if (position % 2 === 0) {
      if (piece === "" && position > 0 && position < pieces.length - 1)
        return "has two names in braces side by side: put text between";
      continue;
    }
    if (!name_rule.test(piece)) return `{${piece}} is no name: a small letter, then small letters, digits and _`;
    if (names.includes(piece)) return `has {${piece}} twice`;
    names.push(piece);
  }
  return names.length === 0 ? "has no name in braces: write e.g. {tile}_{return_period}.tif" : null;
}

export function patternNames(pattern: string): string[] {
  return partsOf(pattern).flatMap((part) => ("name" in part ? [part.name] : []));
}

/** What the names in braces stand for in this path; null when it does not fit. Each takes as little as it can, at least one
 * character and no slash; the last one takes what is left. */
export function readName(pattern: string, path: string): Record<string, string> | null {
  const values: Record<string, string> = {};
  const parts = partsOf(pattern);
  let at = 0;
  for (const [position, part] of parts.entries()) {
    if ("text" in part) {
      if (!path.startsWith(part.text, at)) return null;
      at += part.text.length;
      continue;
    }
    const after = parts[position + 1];
    const is_last = position >= parts.length - 2;
    let end = path.length;
    if (after !== undefined && "text" in after) {
      end = is_last ? path.length - after.text.length : path.indexOf(after.text, at + 1);
      if (end < at || !path.startsWith(after.text, end)) return null;
    }
    const value = path.slice(at, end);
    if (value === "" || value.includes("/")) return null;
    values[part.name] = value;
    at = end;
  }
  return at === path.length ? values : null;
}

function partsOf(pattern: string): PatternPart[] {
  return pattern
    .split(/[{}]/)
    .map((piece, position) => (position % 2 === 0 ? { text: piece } : { name: piece }))
    .filter((part) => !("text" in part && part.text === ""));
}

/** As a person sorts: 5, 10, 100, and not 10, 100, 5. The same wherever it runs. */
export function compareNaturally(a: string, b: string): number {
  const parts = (text: string): string[] => text.match(/\d+|\D+/g) ?? [];
  const [own, other] = [parts(a), parts(b)];
  for (let at = 0; at < Math.min(own.length, other.length); at++) {
    const [left, right] = [own[at]!, other[at]!];
    const by_number = /^\d/.test(left) && /^\d/.test(right) ? compareDigits(left, right) : 0;
    if (by_number !== 0) return by_number;
    if (left !== right) return left < right ? -1 : 1;
  }
  return own.length - other.length;
}

/** Digits of any length: shorter is less, once leading zeros are gone. */
function compareDigits(a: string, b: string): number {
  const [left, right] = [a.replace(/^0+/, ""), b.replace(/^0+/, "")];
  if (left.length !== right.length) return left.length - right.length;
  return left === right ? 0 : left < right ? -1 : 1;
}
