// What the parts of the OGC API's OpenAPI document are made with. Pure.
import { problem_media_type } from "../../../core/api/problem.js";
import { html } from "./links.js";

export type Json = Record<string, unknown>;

export const query = (name: string, description: string, schema: Json): Json => ({
  name,
  in: "query",
  description,
  required: false,
  style: "form",
  explode: false,
  schema,
});
export const inPath = (name: string, description: string, schema: Json = { type: "string" }): Json => ({
  name,
  in: "path",
  description,
  required: true,
  style: "simple",
  explode: false,
  schema,
});

export const text = { type: "string" };

export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
export const content = (types: Record<string, Json>) =>
  Object.fromEntries(Object.entries(types).map(([type, schema]) => [type, { schema }]));
export const page_text = { [html]: { type: "string" } };

export interface Operation {
  id: string;
  tag: string;
  summary: string;
  parameters: Json[];
  answers: Record<string, Json>;
  statuses?: Record<string, Json>;
}

export function get({ id, tag, summary, parameters, answers, statuses = {} }: Operation): Json {
  const has_path = parameters.some((one) => one.in === "path");
  const problem = (description: string) => ({
    description,
    content: content({ [problem_media_type]: ref("exception") }),
  });
  return {
    get: {
      operationId: id,
      tags: [tag],
      summary,
      parameters,
      responses: {
        "200": { description: summary, content: content(answers) },
        "304": { description: "It is what If-None-Match names" },
        ...statuses,
        "400": problem("Something of the request is not right: all that is wrong, with what to do"),
        "401": problem("There is no key, or it is not valid"),
        ...(has_path ? { "404": problem("There is no such thing") } : {}),
        "500": problem("Our fault"),
        "503": problem("Not now; try again"),
      },
    },
  };
}

/** 3.0 knows no empty list of what is required, and strict readers refuse a whole document for one. */
export const object = (required: string[], properties: Record<string, Json>): Json => ({
  type: "object",
  ...(required.length === 0 ? {} : { required }),
  properties,
});
