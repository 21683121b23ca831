// Which files are meant, by a glob that the submitter of a job may write: `**/*.tif`. Matched in time that grows with the text and
// never explodes, which a regular expression cannot promise. Pure.

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
