// The same for the terminal, for whoever would rather type. Pure.

/** Whatever it holds, one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export function curl(method: string, url: string, body?: unknown): string {
  const parts = [
    "curl",
    ...(method === "GET" ? [] : ["-X", method]),
    shellWord(url),
    '-H "authorization: Bearer $FANFOLD_KEY"',
  ];
  if (body !== undefined) parts.push("-H 'content-type: application/json'", "-d", shellWord(JSON.stringify(body)));
  return parts.join(" ");
}

/** With the reason, where one was given. */
export function cli(words: readonly string[], reason: string | undefined): string {
  return ["fanfold", ...words, ...(reason === undefined ? [] : ["--reason", reason])].map(shellWord).join(" ");
}
