// What a person writes to find items, as a search the catalogue understands. Pure.

/** `part of an id`, or `name=value`, `name>=value` on a property; several with spaces between, all of which must fit. CQL2 text. */
export function filterOf(text: string): { filter: string | undefined; problem: string | null } {
  // A quote that is not closed yet goes to the end: somebody is writing.
  const words = text.match(/(?:[^\s"]|"[^"]*(?:"|$))+/g) ?? [];
  const parts: string[] = [];
  for (const word of words) {
    const found = /^([A-Za-z][\w:.-]*)(>=|<=|<>|=|<|>)(.+)$/.exec(word);
    if (found === null) {
      if (unquoted(word) !== "") parts.push(`id LIKE '%${likeText(unquoted(word))}%'`);
      continue;
    }
    const [, name, operator, value] = found as unknown as [string, string, string, string];
    const plain = unquoted(value);
    if (plain === "") return { filter: undefined, problem: `${name} is compared with nothing` };
    const is_number = /^-?\d+(\.\d+)?$/.test(plain) && value === plain;
    const right = is_number ? plain : `'${plain.replaceAll("'", "''")}'`;
    parts.push(`"${name}" ${operator} ${right}`);
  }
  return { filter: parts.length === 0 ? undefined : parts.join(" AND "), problem: null };
}

function unquoted(word: string): string {
  return word.replaceAll('"', "");
}

/** % and _ stand for anything in a pattern: they are looked for as they are. */
function likeText(text: string): string {
  return text.replaceAll("'", "''").replaceAll(/[\\%_]/g, (mark) => `\\${mark}`);
}

/** Two days as a span for the catalogue, open at a side that is left out; undefined when both are. */
export function datetimeOf(from: string, until: string): string | undefined {
  if (from === "" && until === "") return undefined;
  return `${from === "" ? ".." : `${from}T00:00:00Z`}/${until === "" ? ".." : `${until}T23:59:59.999Z`}`;
}

/** west,south,east,north of an address; null when it is none. */
export function boxOf(text: string): [number, number, number, number] | null {
  const numbers = text.split(",").map(Number);
  return text !== "" && numbers.length === 4 && numbers.every(Number.isFinite)
    ? (numbers as [number, number, number, number])
    : null;
}
