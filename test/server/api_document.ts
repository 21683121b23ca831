// An OpenAPI document as the conformance test uses it: its operations, one call over the wire, and whether an answer is in it.
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Schema } from "./schema_values.js";

const LONGEST_MS = 15_000;
const STREAM_MS = 250;

export interface Operation {
  method: string;
  path: string;
  id: string;
  tag: string;
  scope: string | null;
  operator: boolean;
  parameters: { name: string; in: string; required: boolean; schema: Schema }[];
  body: { schema: Schema; required: boolean; limit: number } | null;
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

export interface Got {
  status: number;
  media: string;
  text: string;
}

export interface RawBody {
  body: string | Buffer;
  type?: string;
}

export function operationsOf(document: Schema): Operation[] {
  return Object.entries<Schema>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Schema>(methods).map(([method, one]) => read(path, method, one)),
  );
}

function read(path: string, method: string, one: Schema): Operation {
  const content = one.requestBody?.content?.["application/json"];
  return {
    method: method.toUpperCase(),
    path,
    id: one.operationId,
    tag: one.tags[0],
    parameters: one.parameters,
    scope: one["x-scope"] ?? null,
    operator: one["x-operator"] === true,
    body:
      content === undefined
        ? null
        : { schema: content.schema, required: one.requestBody.required, limit: one.requestBody["x-limit-bytes"] },
    responses: one.responses,
  };
}

export async function fetched(
  url: string,
  method: string,
  key: string | null,
  headers: Record<string, string>,
  raw: RawBody | undefined,
): Promise<Got> {
  const gone = new AbortController();
  const timer = setTimeout(() => gone.abort(new Error(`no answer within ${LONGEST_MS} ms`)), LONGEST_MS);
  try {
    const answer = await fetch(url, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(raw === undefined ? {} : { "content-type": raw.type ?? "application/json" }),
        ...headers,
      },
      ...(raw === undefined ? {} : { body: raw.body as string }),
      redirect: "manual",
      signal: gone.signal,
    });
    const media = (answer.headers.get("content-type") ?? "").split(";")[0]!;
    // A stream has no end: what it says at first is enough.
    if (media === "text/event-stream") return { status: answer.status, media, text: await beginning(answer) };
    return { status: answer.status, media, text: await answer.text() };
  } finally {
    clearTimeout(timer);
  }
}

async function beginning(answer: Response): Promise<string> {
  const reader = answer.body!.getReader();
  const decoder = new TextDecoder();
  let text = "";
  const stop = setTimeout(() => void reader.cancel(), STREAM_MS);
  for (let done = false; !done; ) {
    const piece = await reader.read();
    done = piece.done;
    if (piece.value !== undefined) text += decoder.decode(piece.value, { stream: true });
  }
  clearTimeout(stop);
  return text;
}

/** What the document does not know about the answer; null when all of it is there. */
export function misfit(document: Schema, { responses }: Operation, { status, media, text }: Got): string | null {
  const described = responses[String(status)];
  if (described === undefined) return `answered ${status}, which is not in the document: ${text.slice(0, 300)}`;
  const content = described.content ?? {};
  if (Object.keys(content).length === 0)
    return text === "" ? null : `answered ${status} with a body that is not in the document`;
  if (content[media] === undefined) return `answered ${status} as ${media}, not ${Object.keys(content).join(", ")}`;
  if (!media.endsWith("json")) return null;
  const fits = compiled(document, content[media].schema);
  return fits(JSON.parse(text))
    ? null
    : `answered ${status} with what does not fit: ${JSON.stringify(fits.errors?.slice(0, 3))} in ${text.slice(0, 300)}`;
}

const ajv = new Ajv2020({ strict: false, validateFormats: false, inlineRefs: false });
const compilations = new Map<string, ValidateFunction>();

/** Replies are held to their fields: one that is not in the document is an undocumented answer. */
function compiled(document: Schema, schema: Schema): ValidateFunction {
  if (ajv.getSchema("doc:/") === undefined) ajv.addSchema({ $id: "doc:/", components: closed(document.components) });
  const text = JSON.stringify(closed(schema)).replaceAll('"#/', '"doc:/#/');
  let made = compilations.get(text);
  if (made === undefined) {
    made = ajv.compile(JSON.parse(text));
    compilations.set(text, made);
  }
  return made;
}

function closed(schema: Schema): Schema {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, inner]) => [key, closed(inner)]));
  const is_object = schema.type === "object" && typeof schema.properties === "object";
  return is_object && schema.additionalProperties === undefined ? { ...copy, additionalProperties: false } : copy;
}
