// What is sent, as text: the body, and the same as a command line and as curl; and where the server's problems belong. Pure.
import type { Problem } from "../../../../src/core/errors/problems.js";
import { cliLine, curlLine, plainText, shellWord } from "../../api/commands.js";
import { isRecord, type Value, writeValue } from "../../form/values.js";

/** Options beside the parameters; what is not given is not sent. */
export function bodyText(parameters: Value, options: Value, dry_run: boolean): string {
  const given = isRecord(options) ? Object.entries(options).filter(([, value]) => value !== undefined) : [];
  return writeValue(
    Object.fromEntries([["parameters", parameters ?? {}], ...given, ...(dry_run ? [["dry_run", true]] : [])]),
  );
}

export function submitLines(
  base: string,
  job_type: string,
  parameters: Value,
  options: Value,
  dry_run = false,
): { cli: string; curl: string } {
  const text = bodyText(parameters, options, dry_run);
  const curl = curlLine(base, { method: "POST", path: "/api/jobs/submit/{job_type}", params: { job_type }, text });
  const given = isRecord(options) ? options : {};
  const word = (name: string) => (given[name] === undefined || given[name] === null ? undefined : textOf(given[name]));
  const line = cliLine(["submit", job_type], {
    ...(isEmpty(parameters) ? {} : { parameters: plainText(writeValue(parameters)) }),
    mode: word("mode"),
    priority: word("priority"),
    deadline: word("deadline_s"),
    "no-deadline": given.deadline_s === null,
    "deadline-from": word("deadline_from"),
    at: word("run_at"),
    "correlation-id": word("correlation_id"),
    group: word("group_id"),
    "on-dependency-failure": word("on_dependency_failure"),
    require: word("require"),
    retry: retryText(given.retry),
    "dry-run": dry_run,
  });
  const labels = isRecord(given.labels) ? Object.entries(given.labels) : [];
  const depends_on = Array.isArray(given.depends_on) ? given.depends_on : [];
  const webhooks = Array.isArray(given.webhooks) ? given.webhooks : [];
  const repeated = [
    ...labels.map(([name, value]) => `--label ${shellWord(`${name}=${textOf(value)}`)}`),
    ...depends_on.map((job_id) => `--depends-on ${shellWord(textOf(job_id))}`),
    ...webhooks.map((webhook) => `--webhook ${shellWord(plainText(receiverText(webhook)))}`),
  ];
  return { cli: [line, ...repeated].join(" "), curl };
}

/** As the command line has it: attempts=5,within_s=900. */
export function retryText(retry: Value): string | undefined {
  if (!isRecord(retry)) return undefined;
  const said = Object.entries(retry).filter(([, value]) => value !== undefined && value !== null);
  return said.length === 0 ? undefined : said.map(([key, value]) => `${key}=${textOf(value)}`).join(",");
}

function isEmpty(value: Value): boolean {
  return value === undefined || (isRecord(value) && Object.keys(value).length === 0);
}

/** An endpoint that hears of everything is its id alone. */
function receiverText(webhook: Value): string {
  if (!isRecord(webhook) || typeof webhook.endpoint !== "string" || webhook.events !== undefined)
    return textOf(webhook);
  return webhook.endpoint;
}

function textOf(value: Value): string {
  return typeof value === "string" ? value : writeValue(value);
}

export interface Placed {
  parameters: Problem[];
  options: Problem[];
  /** Problems of neither: they stand above both. */
  others: Problem[];
}

/** The server names places in the parameters as $.a, in the request as body.a, and in what it made of it as $.jobs[0].a. */
export function placed(problems: readonly Problem[], option_names: readonly string[]): Placed {
  const found: Placed = { parameters: [], options: [], others: [] };
  for (const problem of problems) {
    const within = /^(?:body|\$\.jobs\[0\])(?=[.[]|$)/.exec(problem.path);
    const path = within === null ? problem.path : `$${problem.path.slice(within[0].length)}`;
    const first = /^\$\.([A-Za-z_]\w*)/.exec(path)?.[1];
    if (within !== null && first === "parameters") {
      found.parameters.push({ ...problem, path: `$${path.slice("$.parameters".length)}` });
    } else if (within !== null && first !== undefined && option_names.includes(first)) {
      found.options.push({ ...problem, path });
    } else if (within === null && path.startsWith("$")) found.parameters.push({ ...problem, path });
    else found.others.push(problem);
  }
  return found;
}
