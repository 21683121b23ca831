// What a button does, as a command line and as curl: for whoever wants it in a script. Whatever stands in an id, a name or a reason
// stays one word of the shell, and what a terminal would obey instead of show is written as an escape. Pure.

export interface Commands {
  /** null: the command line has no such command. */
  cli: string | null;
  curl: string;
}

export interface VerbGiven {
  reason?: string | undefined;
  dry_run?: boolean | undefined;
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
    value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  );
  const url = `${base.replace(/\/$/, "")}${filled}${asked.length === 0 ? "" : `?${asked.join("&")}`}`;
  const parts = ["curl", "-sS"];
  if (method !== "GET") parts.push("-X", method);
  parts.push(quoted(url), "-H", '"Authorization: Bearer $FANFOLD_KEY"');
  const sent = text === undefined ? (body === undefined ? null : plainJson(body)) : plainText(text);
  if (sent !== null) parts.push("-H", "'Content-Type: application/json'", "-d", quoted(sent));
  return parts.join(" ");
}

export type JobVerb = "resume" | "cancel" | "pause" | "continue" | "approve" | "reject";
const short = (job_id: string) => job_id.slice(0, 12);
const verbBody = ({ reason, dry_run }: VerbGiven) => ({
  ...(reason === undefined || reason === "" ? {} : { reason }),
  ...(dry_run === true ? { dry_run } : {}),
});
const verbFlags = ({ reason, dry_run }: VerbGiven) => ({ reason, "dry-run": dry_run });

/** The verbs of an operator; `stage` is for approve and reject. */
export function jobVerbCommands(
  base: string,
  verb: JobVerb,
  { job_id, stage }: { job_id: string; stage?: string | undefined },
  given: VerbGiven = {},
): Commands {
  const at = stage === undefined ? {} : { stage };
  return {
    cli: cliLine([verb, short(job_id)], { ...at, ...verbFlags(given) }),
    curl: curlLine(base, {
      method: "POST",
      path: `/api/jobs/{job_id}/${verb}`,
      params: { job_id },
      body: { ...at, ...verbBody(given) },
    }),
  };
}

export function retryStageCommands(
  base: string,
  { job_id, stage }: { job_id: string; stage: string },
  given: VerbGiven = {},
): Commands {
  return {
    cli: cliLine(["retry", short(job_id)], { stage, ...verbFlags(given) }),
    curl: curlLine(base, {
      method: "POST",
      path: "/api/jobs/retry-stage/{job_id}/{stage}",
      params: { job_id, stage },
      body: verbBody(given),
    }),
  };
}

export function retryGroupCommands(
  base: string,
  { job_id, signature }: { job_id: string; signature: string },
  given: VerbGiven = {},
): Commands {
  return {
    cli: cliLine(["retry", short(job_id)], { group: signature, ...verbFlags(given) }),
    curl: curlLine(base, {
      method: "POST",
      path: "/api/jobs/{job_id}/retry-group",
      params: { job_id },
      body: { signature, ...verbBody(given) },
    }),
  };
}

export function taskVerbCommands(
  base: string,
  verb: "retry" | "skip" | "cancel",
  task_id: string,
  given: VerbGiven = {},
): Commands {
  const words = { retry: ["retry"], skip: ["skip", task_id], cancel: ["tasks", "cancel", task_id] }[verb];
  return {
    cli: cliLine(words, { ...(verb === "retry" ? { task: task_id } : {}), ...verbFlags(given) }),
    curl: curlLine(base, {
      method: "POST",
      path: `/api/tasks/{task_id}/${verb}`,
      params: { task_id },
      body: verbBody(given),
    }),
  };
}

export function typeVerbCommands(
  base: string,
  verb: "pause" | "continue",
  task_type: string,
  given: VerbGiven = {},
): Commands {
  return {
    cli: cliLine([verb], { type: task_type, ...verbFlags(given) }),
    curl: curlLine(base, {
      method: "POST",
      path: `/api/task-types/{task_type}/${verb}`,
      params: { task_type },
      body: verbBody(given),
    }),
  };
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
    ...verbBody({ reason }),
  };
  return {
    cli: of_filter
      ? cliLine([action], { filter: target.text.trim() === "" ? every_job[action] : target.text, reason })
      : null,
    curl: curlLine(base, { method: "POST", path: "/api/jobs/bulk", body }),
  };
}

export interface SubmitGiven {
  parameters: Record<string, unknown>;
  mode?: "reuse" | "resume" | "force" | undefined;
  priority?: number | undefined;
  labels?: Record<string, string> | undefined;
}

export function submitCommands(
  base: string,
  job_type: string,
  { parameters, mode, priority, labels = {} }: SubmitGiven,
): Commands {
  const named = Object.entries(labels).map(([key, value]) => `--label ${shellWord(`${key}=${value}`)}`);
  const line = cliLine(["submit", job_type], {
    parameters: plainJson(parameters),
    mode,
    priority: priority === undefined || priority === 0 ? undefined : String(priority),
  });
  const body = {
    parameters,
    ...(mode === undefined ? {} : { mode }),
    ...(priority === undefined || priority === 0 ? {} : { priority }),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
  };
  return {
    cli: [line, ...named].join(" "),
    curl: curlLine(base, { method: "POST", path: "/api/jobs/submit/{job_type}", params: { job_type }, body }),
  };
}

/** A question: the page that shows the answer shows it too. */
export function askCommands(
  base: string,
  command: readonly string[],
  path: string,
  params: Record<string, string>,
): Commands {
  return { cli: cliLine(command), curl: curlLine(base, { method: "GET", path, params }) };
}
