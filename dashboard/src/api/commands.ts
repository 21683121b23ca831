// What a button does, as a command line and as curl: for readers who want it in a script. Whatever stands in an id, a name or a reason
// stays one word of the shell, and what a terminal would obey instead of show is written as an escape. Pure.

import { type VerbName, verb_words } from "../../../src/core/shown/verb_words.js";

export interface Commands {
  /** null: the command line has no such command. */
  cli: string | null;
  curl: string;
}

/** What a terminal acts on when it is pasted, or what turns text around: everything but a line feed, which quotes hold. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const obeyed = /[\u0001-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;
const plain = /^[A-Za-z0-9_@%+:,./][A-Za-z0-9_@%+=:,./-]*$/;

/** One word of a POSIX shell. A shell has no way to hold NUL. */
export function shellWord(text: string): string {
  const whole = text.replaceAll("\0", "").toWellFormed();
  if (plain.test(whole)) return whole;
  if (!obeyed.test(whole)) return quoted(whole);
  // printf gives back the bytes; the substitution would eat line feeds at the end, so they stand outside.
  const end = /\n*$/.exec(whole)?.[0] ?? "";
  const body = whole.slice(0, whole.length - end.length);
  const escaped = Array.from(body, (letter) =>
    obeyed.test(letter) ? octal(letter) : letter === "\\" ? "\\\\" : letter,
  );
  return `"$(printf %b ${quoted(escaped.join(""))})"${end === "" ? "" : quoted(end)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function octal(letter: string): string {
  return Array.from(new TextEncoder().encode(letter), (byte) => `\\0${byte.toString(8).padStart(3, "0")}`).join("");
}

/** JSON in which nothing stands that a terminal obeys; the escapes mean the same. */
export function plainJson(value: unknown): string {
  return plainText(JSON.stringify(value));
}

/** The same of JSON that is written already, whose numbers have more digits than a number here can hold. */
export function plainText(json: string): string {
  const written = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return json.replace(new RegExp(obeyed, "g"), written);
}

/** `fanfold …`: words as they are, and options that have a value. Those without one are left out. */
export function cliLine(
  words: readonly string[],
  options: Readonly<Record<string, string | boolean | undefined>> = {},
): string {
  const given = Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined || value === false || value === "") return [];
    if (value === true) return [`--${name}`];
    // A value that looks like an option is taken for one, unless it hangs on its own.
    return value.startsWith("-") ? [`--${name}=${shellWord(value)}`] : [`--${name}`, shellWord(value)];
  });
  return ["fanfold", ...words.map(shellWord), ...given].join(" ");
}

export interface CurlRequest {
  method: string;
  /** With {names} in braces, as the API is declared. */
  path: string;
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: unknown;
  /** The body as JSON text, instead of `body`. */
  text?: string;
}

/** `base`: the address of the page without what follows it, such as https://host/fanfold. The key is the caller's, from its environment. */
export function curlLine(base: string, { method, path, params = {}, query = {}, body, text }: CurlRequest): string {
  const filled = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent((params[name] ?? "").toWellFormed()),
  );
  const asked = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  );
  const url = `${base.replace(/\/$/, "")}${filled}${asked.length === 0 ? "" : `?${asked.join("&")}`}`;
  const parts = ["curl", "-sS"];
  if (method !== "GET") parts.push("-X", method);
  parts.push(quoted(url), "-H", '"Authorization: Bearer $FANFOLD_KEY"');
  const sent = text === undefined ? (body === undefined ? null : plainJson(body)) : plainText(text);
  if (sent !== null) parts.push("-H", "'Content-Type: application/json'", "-d", quoted(sent));
  return parts.join(" ");
}

export type Fields = Readonly<Record<string, unknown>>;
const named = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
const without = (fields: Fields, names: readonly string[]) =>
  Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => !names.includes(name) && !absent.has(value as string)),
  );
const absent = new Set<unknown>([undefined, ""]);

/** The call of a verb: fields that its path does not name are its body, or its query where it takes none. */
export function verbRequest(name: VerbName, fields: Fields) {
  const { method, path, takes_body } = verb_words[name];
  const params = Object.fromEntries(named(path).map((field) => [field, String(fields[field])]));
  const rest = without(fields, named(path));
  return { method, path, params, ...(takes_body ? { body: rest } : { query: rest as CurlRequest["query"] }) };
}

/** A verb as its words say it: fields that its command does not name are options. `shown`: those that the command line writes in another way. */
export function verbCommands(base: string, name: VerbName, fields: Fields, shown: Fields = {}): Commands {
  const { cli } = verb_words[name];
  return {
    cli: cli === null ? null : verbLine(cli, { ...fields, ...shown }),
    curl: curlLine(base, verbRequest(name, fields)),
  };
}

/** The words of a verb, filled with its fields; those that they do not name are options. */
export function verbLine(cli: string, fields: Fields): string {
  const value = (field: string) => (field === "job_id" ? String(fields[field]).slice(0, 12) : String(fields[field]));
  const options: Record<string, string | boolean> = {};
  const words: string[] = [];
  for (const [place, word] of cli.split(" ").entries()) {
    const [field] = named(word);
    const [, option] = /^--(.+)$/.exec(cli.split(" ")[place - 1] ?? "") ?? [];
    if (option !== undefined && field !== undefined) options[option] = value(field);
    else if (!word.startsWith("--")) words.push(field === undefined ? word : value(field));
  }
  for (const [field, given] of Object.entries(without(fields, named(cli))))
    options[field.replaceAll("_", "-")] = typeof given === "boolean" ? given : String(given);
  return cliLine(words, options);
}

/** What an action is for at all: the filter of somebody who means every job. */
const every_job = {
  cancel: "status:queued,processing",
  pause: "status:queued,processing",
  continue: "is:paused",
  resume: "status:failed,partial_success,cancelled",
} as const;

/** One verb for all jobs that fit a filter; of jobs that were picked by hand there is no command line. */
export function bulkCommands(
  base: string,
  action: keyof typeof every_job,
  target: { text: string; filter: unknown } | { job_ids: readonly string[] },
  { reason, before }: { reason?: string | undefined; before?: string | undefined } = {},
): Commands {
  const of_filter = "text" in target;
  const body = {
    action,
    ...(of_filter ? { filter: target.filter, before } : { job_ids: target.job_ids }),
    ...without({ reason }, []),
  };
  return {
    cli: of_filter
      ? cliLine([action], { filter: target.text.trim() === "" ? every_job[action] : target.text, reason })
      : null,
    curl: curlLine(base, { method: "POST", path: "/api/jobs/bulk", body }),
  };
}
