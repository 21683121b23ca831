// Whose answer an answer is. Statements that share a connection are answered in the order they were sent, and nothing in an
// answer says which statement it belongs to: where something in between loses bytes, one caller would be given the answer of
// another. So a verb's statement asks for a number back that only it was given.

const verb = /^\s*select\s+(?:set_config\([^;]*?, true\), )?\w+\.\w+\(.*\)(?:::\w+)?\s+as reply\s*$/s;
const tagged = new Map<string, string>();
const verbs = new Map<string, boolean>();

/**
 * `select app.claim(…) as reply`: one row with one column that is looked at, perhaps behind a setting of its own transaction. Any other
 * statement goes alone.
 */
export function isVerb(text: string): boolean {
  let known = verbs.get(text);
  if (known === undefined) {
    known = verb.test(text);
    verbs.set(text, known);
  }
  return known;
}

/** The verb's statement with its number as one more parameter. */
export function taggedText(text: string, parameters: number): string {
  let known = tagged.get(text);
  if (known === undefined) {
    known = `${text}, $${parameters + 1}::text as tag`;
    tagged.set(text, known);
  }
  return known;
}

/** The rows without the number; null when they belong to another statement. */
export function ownReply(rows: readonly Record<string, unknown>[], tag: string): { reply: unknown }[] | null {
  const [row] = rows;
  return rows.length === 1 && row?.tag === tag ? [{ reply: row.reply }] : null;
}
