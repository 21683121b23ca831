// A request as it is filled in: what is sent, the same as command lines, which recipe it would be, and where the server's problems belong. Pure.
import type { Problem } from "../../../../src/core/errors/problems.js";
import { cliLine, curlLine, plainText, shellWord } from "../../api/commands.js";
import { isRecord, readNumber, type Value, writeValue } from "../../form/values.js";
import type { Recipe } from "./records.js";

export interface Asked {
  dataset_id: string;
  resource_id: string;
  version_id: string;
  /** Empty: found from the files. */
  data_type: string;
  /** Places, one below the other. */
  places: string;
  /** Names of files that are brought along. */
  brought: readonly string[];
  parameters: Value;
  client_id: string;
  mode: "reuse" | "resume" | "force";
  priority: string;
}

export const nothing_asked: Asked = {
  dataset_id: "",
  resource_id: "",
  version_id: "",
  data_type: "",
  places: "",
  brought: [],
  parameters: {},
  client_id: "",
  mode: "reuse",
  priority: "",
};

/** Where a file that is brought along lies: as `fanfold requests submit` puts it. */
export function keyOf({ dataset_id, resource_id, version_id }: Asked, name: string): string {
  const part = (text: string) => text.trim().replaceAll(/[^A-Za-z0-9._-]+/g, "-");
  return ["requests", ...[dataset_id, resource_id, version_id].map(part), name].join("/");
}

export function filesOf(asked: Asked): string[] {
  const named = asked.places
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return [...asked.brought.map((name) => `bronze:${keyOf(asked, name)}`), ...named];
}

/** What is not given is not sent; numbers of parameters keep all their digits. */
export function bodyText(asked: Asked): string {
  const { dataset_id, resource_id, version_id, data_type, parameters, client_id, mode, priority } = asked;
  const files = filesOf(asked);
  const body: Record<string, Value> = {
    dataset_id: dataset_id.trim(),
    resource_id: resource_id.trim(),
    version_id: version_id.trim(),
    ...(data_type === "" ? {} : { data_type }),
    ...(files.length === 0 ? {} : { files }),
    ...(isEmpty(parameters) ? {} : { parameters }),
    ...(client_id.trim() === "" ? {} : { client_id: client_id.trim() }),
    ...(mode === "reuse" ? {} : { mode }),
    ...(priority.trim() === "" ? {} : { priority: readNumber(priority) }),
  };
  return writeValue(body);
}

export function askLines(base: string, asked: Asked): { cli: string; curl: string } {
  const named = filesOf({ ...asked, brought: [] });
  const line = cliLine(["requests", "submit", ...asked.brought.map((name) => `./${name}`), ...named], {
    dataset: asked.dataset_id.trim(),
    resource: asked.resource_id.trim(),
    "version-id": asked.version_id.trim(),
    "data-type": asked.data_type,
    ...(isEmpty(asked.parameters) ? {} : { parameters: plainText(writeValue(asked.parameters)) }),
    client: asked.client_id.trim(),
    priority: asked.priority.trim(),
    force: asked.mode === "force",
    resume: asked.mode === "resume",
  });
  return {
    cli: line,
    curl: curlLine(base, { method: "POST", path: "/api/platform/submit", text: bodyText(asked) }),
  };
}

/** How a file is brought with curl alone, for those who have no command line of ours: what the answer names is sent where it says. */
export function bringLines(base: string, asked: Asked, name: string, bytes: number): string[] {
  const key = keyOf(asked, name);
  const begin = curlLine(base, { method: "POST", path: "/api/files", body: { key, bytes, overwrite: true } });
  const part = `curl -sS -T ${shellWord(`./${name}`)} ${shellWord(`${base}/api/files/<upload_id>/parts/1`)} -H "Authorization: Bearer $FANFOLD_KEY"`;
  const complete = curlLine(base, { method: "POST", path: "/api/files/<upload_id>/complete" });
  return [begin, part, complete];
}

function isEmpty(value: Value): boolean {
  return value === undefined || (isRecord(value) && Object.keys(value).length === 0);
}

/** The recipe that takes these files, as the server finds it: by how all their names end, and by their number. null: none. */
export function recipeFor(files: readonly string[], recipes: readonly Recipe[]): Recipe | null {
  if (files.length === 0) return null;
  const fitting = recipes.filter(({ accepts }) => {
    const extensions = kindsOf(accepts);
    const [least, most] = [numberOf(accepts?.min_files, 1), mostOf(accepts)];
    return (
      files.length >= least &&
      files.length <= most &&
      files.every((file) =>
        extensions.some((end) => typeof end === "string" && nameOf(file).endsWith(end.toLowerCase())),
      )
    );
  });
  // The one that takes the fewest files, and then the fewest kinds of them.
  const [first] = fitting.sort(
    (a, b) =>
      mostOf(a.accepts) - mostOf(b.accepts) ||
      kindsOf(a.accepts).length - kindsOf(b.accepts).length ||
      (a.data_type < b.data_type ? -1 : 1),
  );
  return first ?? null;
}

function kindsOf(accepts: Recipe["accepts"]): unknown[] {
  return Array.isArray(accepts?.extensions) ? (accepts.extensions as unknown[]) : [];
}

function mostOf(accepts: Recipe["accepts"]): number {
  return numberOf(accepts?.max_files, 10_000);
}

function nameOf(file: string): string {
  return (file.split(/[?#]/)[0] ?? "").toLowerCase();
}

function numberOf(value: unknown, usual: number): number {
  return typeof value === "number" ? value : usual;
}

export interface PlacedProblems {
  parameters: Problem[];
  /** By the name of the field. */
  fields: ReadonlyMap<string, string>;
  others: Problem[];
}

/** The server names places in the parameters as $.a or body.parameters.a, and the rest of the request as body.a. */
export function placed(problems: readonly Problem[], names: readonly string[]): PlacedProblems {
  const parameters: Problem[] = [];
  const fields = new Map<string, string>();
  const others: Problem[] = [];
  for (const problem of problems) {
    const of_body = /^body\.([A-Za-z_]\w*)(.*)$/.exec(problem.path);
    if (/^\$(\.(?!jobs\.)|\[|$)/.test(problem.path)) parameters.push(problem);
    else if (of_body?.[1] === "parameters") parameters.push({ ...problem, path: `$${of_body[2] ?? ""}` });
    else if (of_body?.[1] !== undefined && names.includes(of_body[1]))
      fields.set(of_body[1], [problem.problem, problem.fix].filter((text) => text !== "").join(" "));
    else others.push(problem);
  }
  return { parameters, fields, others };
}
