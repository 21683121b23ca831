// What an execute request asks for: its inputs as parameters, its outputs and how they are sent, and who is told. Everything that is wrong is
// told at once.
import type { JsonSchema } from "../../../../core/declare/parameter_schema.js";
import { type Problem, quoted, suggestion } from "../../../../core/errors/problems.js";
import { unknownNames } from "../items_request.js";
import type { Process } from "./process.js";

export interface Execution {
  response: "raw" | "document";
  /** By value or by reference; null: all of them, by value. */
  outputs: Record<string, "value" | "reference"> | null;
}

export interface Subscriber {
  successUri: string;
  inProgressUri?: string;
  failedUri?: string;
}

export interface ExecuteRequest {
  inputs: Record<string, unknown>;
  /** Inputs that are given as an address to fetch them from. */
  references: Reference[];
  execution: Execution;
  subscriber: Subscriber | null;
}

export interface Reference {
  input: string;
  href: string;
  /** Whether a value that is fetched is text, because the input takes no other. */
  takes_text: boolean;
}

type Json = Record<string, unknown>;

export function readExecute(body: Json, process: Process, accept: string, problems: Problem[]): ExecuteRequest {
  const known = ["inputs", "outputs", "response", "subscriber"];
  const unknown: Problem[] = [];
  unknownNames(body as never, known, unknown);
  problems.push(...unknown.map((one) => ({ ...one, path: one.path.replace(/^query\./, "") })));
  const { inputs, references } = readInputs(body.inputs, process, problems);
  return {
    inputs,
    references,
    execution: readExecution(body, process, accept, problems),
    subscriber: readSubscriber(body.subscriber, problems),
  };
}

function readInputs(given: unknown, process: Process, problems: Problem[]) {
  const inputs: Json = {};
  const references: Reference[] = [];
  if (given === undefined) return { inputs, references };
  if (!isObject(given)) {
    problems.push({ path: "inputs", problem: "is not an object", fix: 'Send {"<input>": <value>, …}.' });
    return { inputs, references };
  }
  const root = process.inputs;
  const schemas = (root?.properties ?? {}) as Record<string, JsonSchema>;
  for (const [name, value] of Object.entries(given)) {
    const schema = Object.hasOwn(schemas, name) ? schemas[name]! : {};
    const reference = referenceOf(name, value, schema, problems);
    if (reference === null) inputs[name] = plain(value, schema, `inputs.${name}`, problems);
    else if (schema.format === "uri-reference") inputs[name] = reference.href;
    else references.push(reference);
  }
  return { inputs, references };
}

/** {"href": …}, unless the input is declared to have a field of that name. */
function referenceOf(input: string, value: unknown, schema: JsonSchema, problems: Problem[]): Reference | null {
  if (!isObject(value) || value.href === undefined || "value" in value || declares(schema, "href")) return null;
  const { href } = value;
  const is_address = typeof href === "string" && /^https?:\/\/[^\s/?#@\\]+/i.test(href) && href.length <= 2048;
  if (!is_address) {
    problems.push({
      path: `inputs.${input}.href`,
      problem: `${quoted(href)} is no http(s) address`,
      fix: "Give one, or the value itself.",
    });
  }
  return { input, href: String(href), takes_text: typesOf(schema).every((type) => type === "string") };
}

const qualified = new Set(["value", "mediaType", "encoding", "schema", "type", "format"]);

/**
 * The value itself, without what OGC wraps around it: {"value": …, "mediaType": …}, or {"value": …, "format": {"mediaType": …}} as drafts had it.
 * A list of one may come without its brackets: the standard writes an input that may occur several times so.
 */
function plain(value: unknown, schema: JsonSchema, path: string, problems: Problem[]): unknown {
  if (Array.isArray(value) && isObject(schema.items))
    return value.map((one, at) => plain(one, schema.items as JsonSchema, `${path}[${at}]`, problems));
  if (schema.type === "array" && isObject(schema.items) && isOne(value, schema.items))
    return [plain(value, schema.items, `${path}[0]`, problems)];
  if (!isObject(value) || !("value" in value) || declares(schema, "value")) return value;
  if (!Object.keys(value).every((name) => qualified.has(name))) return value;
  const types = typesOf(schema);
  if (types.includes("object") && !types.includes(typeOf(value.value))) return value;
  const format = isObject(value.format) ? value.format : {};
  const media_type = value.mediaType ?? value.type ?? format.mediaType;
  if (
    media_type !== undefined &&
    typeof schema.contentMediaType === "string" &&
    media_type !== schema.contentMediaType
  ) {
    problems.push({
      path: `${path}.mediaType`,
      problem: `${quoted(media_type)} is not taken`,
      fix: `Give ${schema.contentMediaType}.`,
    });
  }
  return plain(value.value, schema, path, problems);
}

/** One of the list's values by itself, and nothing that is wrapped. */
function isOne(value: unknown, items: JsonSchema): boolean {
  const types = typesOf(items).map((type) => (type === "integer" ? "number" : type));
  return types.includes(typeOf(value)) && !(isObject(value) && ("value" in value || "href" in value));
}

function declares(schema: JsonSchema, name: string): boolean {
  if (isObject(schema.properties) && name in schema.properties) return true;
  return [schema.anyOf, schema.oneOf, schema.allOf].some(
    (list) => Array.isArray(list) && list.some((one) => isObject(one) && declares(one, name)),
  );
}

/** Empty: any. */
function typesOf(schema: JsonSchema): string[] {
  if (schema.type !== undefined) return [schema.type].flat() as string[];
  const lists = [schema.anyOf, schema.oneOf, schema.allOf].filter(Array.isArray).flat();
  return lists.filter(isObject).flatMap(typesOf);
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function readExecution(body: Json, { outputs: known }: Process, accept: string, problems: Problem[]): Execution {
  const names = Object.keys(known);
  let outputs: Execution["outputs"] = null;
  if (body.outputs !== undefined && !isObject(body.outputs)) {
    problems.push({ path: "outputs", problem: "is not an object", fix: `Send {"${names[0]}": {}}, or leave it out.` });
  } else if (body.outputs !== undefined && Object.keys(body.outputs).length > 0) {
    outputs = {};
    for (const [name, wanted] of Object.entries(body.outputs))
      outputs[name] = readOutput(name, wanted, names, problems);
  }
  const { response } = body;
  if (response !== undefined && response !== "raw" && response !== "document") {
    problems.push({
      path: "response",
      problem: `${quoted(response)} is neither raw nor document`,
      fix: "Give one of the two, or leave it out.",
    });
  }
  // Several values in their own forms are a message of several parts, which a caller who names JSON alone could not read.
  const wants_json = /\bjson\b/.test(accept) && !/multipart/.test(accept);
  const several = Object.keys(outputs ?? known).length > 1;
  const usual = wants_json && several ? "document" : "raw";
  return { response: response === "raw" || response === "document" ? response : usual, outputs };
}

function readOutput(name: string, wanted: unknown, names: string[], problems: Problem[]): "value" | "reference" {
  const path = `outputs.${name.slice(0, 60)}`;
  if (!names.includes(name))
    problems.push({ path, problem: "is no output of this process", fix: suggestion(name, names) });
  const { transmissionMode: mode = "value" } = (isObject(wanted) ? wanted : {}) as { transmissionMode?: unknown };
  if (!isObject(wanted))
    problems.push({ path, problem: "is not an object", fix: 'Send {"transmissionMode": "value"}, or {}.' });
  if (mode !== "value" && mode !== "reference") {
    problems.push({
      path: `${path}.transmissionMode`,
      problem: `${quoted(mode)} is neither value nor reference`,
      fix: "Give one of the two, or leave it out.",
    });
  }
  return mode === "reference" ? "reference" : "value";
}

const addresses = ["successUri", "inProgressUri", "failedUri"] as const;

function readSubscriber(given: unknown, problems: Problem[]): Subscriber | null {
  if (given === undefined) return null;
  if (!isObject(given)) {
    problems.push({ path: "subscriber", problem: "is not an object", fix: 'Send {"successUri": "https://…"}.' });
    return null;
  }
  for (const name of Object.keys(given)) {
    if (addresses.includes(name as never)) continue;
    problems.push({
      path: `subscriber.${name.slice(0, 60)}`,
      problem: "is not known",
      fix: suggestion(name, addresses),
    });
  }
  if (given.successUri === undefined)
    problems.push({ path: "subscriber.successUri", problem: "is missing", fix: "Say where the results are sent to." });
  for (const name of addresses) {
    const address = given[name];
    if (address === undefined) continue;
    if (
      typeof address === "string" &&
      address.length <= 2048 &&
      /^https?:\/\/[^\s/?#@\\]+([/?#][\x21-\x5b\x5d-\x7e]*)?$/i.test(address)
    )
      continue;
    problems.push({
      path: `subscriber.${name}`,
      problem: `${quoted(address)} is no http(s) address without user name or blanks`,
      fix: "Give one, or leave it out.",
    });
  }
  return given as unknown as Subscriber;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
