// Text from jobs, errors and file names, made safe to print. Pure.
// A label may hold escape sequences that recolour a terminal, move its cursor, or (bidirectional marks) make a line
// read other than it is; all of that is shown instead of obeyed.

const hostile =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const short_names: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** One line, no control characters, at most `limit` characters. */
export function printable(text: unknown, limit = 2000): string {
  const line = String(text).replace(hostile, (c) => {
    const code = c.charCodeAt(0);
    return short_names[c] ?? (code < 0x100 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`);
  });
  return truncate(line, limit);
}

/** JSON text that says the same, in which nothing is left that a terminal would obey or a reader not see. */
export function printableJson(document: unknown): string {
  return (JSON.stringify(document) ?? "null").replace(hostile, (c) => `\\u${hex(c.charCodeAt(0), 4)}`);
}

export function truncate(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const characters = [...text];
  if (characters.length <= limit) return text;
  return limit < 1 ? "" : `${characters.slice(0, limit - 1).join("")}…`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0");
}
