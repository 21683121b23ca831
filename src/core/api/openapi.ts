// The contract as an OpenAPI 3.1 document. What the server checks is what the document says: both are made of the same schemas. Pure.
import { z } from "zod";
import { type Endpoint, errorStatuses } from "./endpoint.js";
import { problem_schema } from "./problem.js";

type Json = Record<string, unknown>;

const status_words: Record<number, string> = {
  400: "The request is not right: `problems` says what is, where, and what to do",
  401: "No key, or one that is not valid",
  403: "The key may not do this",
  404: "There is no such thing, or it is not the caller's",
  409: "It cannot be done now, or contradicts what there is",
  410: "It is gone",
  412: "It is not what If-Match names any more",
  413: "The body is too large",
  414: "A part of the path is too long",
  415: "The body is not of a media type this call takes",
  416: "There are no such bytes in the file",
  422: "A limit of the tenant's forbids this very call",
  429: "A limit of the tenant's forbids this now; Retry-After says when to come back",
  431: "The headers are larger than 16 KB",
  500: "Our fault; `request_id` finds it in the log",
  503: "The service cannot do this right now; try again",
};

const tags: Record<string, string> = {
  jobs: "Submit jobs, see what became of them, wait for them, find them again",
  operations: "What an operator does: cancel, pause, resume, retry, approve, and ask why",
  views: "Filters of the jobs list that people keep",
  tasks: "The tasks of jobs, and tasks that stand alone",
  blueprints: "The job types there are, in code and as data",
  schedules: "Jobs that are submitted by the clock",
  groups: "Jobs that are waited for together",
  platform: "Requests: one dataset in, several jobs, one answer out; datasets, their releases, and who approved them",
  webhooks: "Who hears how jobs end, and what was sent",
  files: "Bring files into the zone bronze",
  stac: "The STAC catalogue of what jobs made: search it, open it, change it",
  layers: "Vector layers for their keepers: versions, rejects, style",
  ogc: "Vector layers as OGC API Features and Tiles",
  stream: "What happens, as it happens",
  work: "For workers without access to the database",
  keys: "Who may call, and what for",
  limits: "How much a tenant may ask for",
  tenants: "For operators",
  health: "Is it alive, is it ready",
  documents: "This description",
};

const usual_description =
  "Every call but health and this document needs an API key: `Authorization: Bearer ff_…`. The tenant is the key's; what " +
  "belongs to another tenant does not exist. Errors are problem details (RFC 9457) with a stable `code`. Lists are read " +
  "page by page: pass `next` as `cursor` until it is null.";

export interface ApiFacts {
  version: string;
  title?: string;
  description?: string;
  /** 3.0 for programs that do not read 3.1 yet. */
  openapi?: "3.1" | "3.0";
}

export function openApi(endpoints: readonly Endpoint[], facts: ApiFacts): Json {
  const { version, title = "Fanfold", description = usual_description, openapi = "3.1" } = facts;
  const is_old = openapi === "3.0";
  const parts = new Components(is_old);
  const problem = parts.of(problem_schema.meta({ id: "ProblemDetails" }), "output");
  const paths: Record<string, Json> = {};
  for (const one of endpoints) {
    paths[one.path] = { ...paths[one.path], [one.method.toLowerCase()]: operation(one, parts, problem) };
  }
  const order = Object.keys(tags);
  const place = (tag: string) => (order.includes(tag) ? order.indexOf(tag) : order.indexOf("health") - 0.5);
  const used = [...new Set(endpoints.map(({ tag }) => tag))].sort((a, b) => place(a) - place(b));
  return {
    openapi: is_old ? "3.0.3" : "3.1.1",
    info: {
      title,
      version,
      ...(is_old ? {} : { summary: "Wide data jobs on Postgres: fan out, fold in, lose nothing" }),
      description,
      license: { name: "Apache-2.0", ...(is_old ? {} : { identifier: "Apache-2.0" }) },
    },
    ...(is_old ? {} : { jsonSchemaDialect: "https://json-schema.org/draft/2020-12/schema" }),
    servers: [{ url: "/" }],
    tags: used.map((name) => ({ name, ...(tags[name] === undefined ? {} : { description: tags[name] }) })),
    paths,
    components: {
      schemas: parts.schemas,
      securitySchemes: {
        key: {
          type: "http",
          scheme: "bearer",
          description: "An API key (`ff_<env>_<id>_<secret>`). Each call names the scope that the key must have.",
        },
      },
    },
  };
}

/** One name per operation, for programs made from the document: jobs.submit_batch is post /api/jobs/submit/{job_type}/batch. */
function operationId({ method, path }: Endpoint): string {
  const words = path
    .replace(/^\/api\//, "")
    .replaceAll(/[{}]/g, "")
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "");
  return [method.toLowerCase(), ...words].join("_");
}

function operation(one: Endpoint, parts: Components, problem: Json): Json {
  const scope =
    one.scope === null
      ? "It needs no key."
      : `Needs the scope \`${one.scope}\`${one.operator ? " and an operator's key" : ""}.`;
  return {
    operationId: operationId(one),
    tags: [one.tag],
    summary: one.summary,
    description: one.description === undefined ? scope : `${one.description}\n\n${scope}`,
    ...(one.scope === null ? { security: [] } : { security: [{ key: [] }], "x-scope": one.scope }),
    ...(one.operator ? { "x-operator": true } : {}),
    "x-repeatable": one.repeatable,
    parameters: [
      ...parameters(one.params, "path", parts),
      ...parameters(one.query, "query", parts),
      ...(one.headers === null ? [] : parameters(one.headers, "header", parts)),
    ],
    ...(one.body === null
      ? {}
      : {
          requestBody: {
            required: !one.body.safeParse(undefined).success,
            description: `At most ${bytes(one.body_limit)}`,
            "x-limit-bytes": one.body_limit,
            content: Object.fromEntries(bodyTypes(one).map((type) => [type, { schema: parts.of(one.body!, "input") }])),
          },
        }),
    responses: {
      [one.status]: answer(parts, one.summary, one.reply, one.media_type),
      ...Object.fromEntries(
        Object.entries(one.other_answers).map(([status, other]) => [
          status,
          answer(parts, other.description, other.schema, other.media_type ?? one.media_type, other.headers),
        ]),
      ),
      ...Object.fromEntries(errorStatuses(one).map((status) => [status, refusal(status, one.error_type, problem)])),
    },
  };
}

/** A body of bytes is nothing else. */
function bodyTypes({ body_types }: Endpoint): readonly string[] {
  return body_types.includes("application/octet-stream") ? body_types : ["application/json", ...body_types];
}

function refusal(status: number, error_type: string, problem: Json): Json {
  const waits = status === 429 || status === 503;
  return {
    description: status_words[status] ?? "It was refused",
    ...(waits ? { headers: headers({ "Retry-After": "Seconds after which to ask again" }) } : {}),
    content: { [error_type]: { schema: problem } },
  };
}

function answer(
  parts: Components,
  description: string,
  schema: z.ZodType | undefined,
  media_type: string,
  described: Record<string, string> = {},
): Json {
  const has_body = schema !== undefined && !(schema instanceof z.ZodUndefined) && !(schema instanceof z.ZodVoid);
  return {
    description,
    ...(Object.keys(described).length === 0 ? {} : { headers: headers(described) }),
    ...(has_body ? { content: { [media_type.split(";")[0]!]: { schema: parts.of(schema, "output") } } } : {}),
  };
}

function headers(described: Record<string, string>): Json {
  return Object.fromEntries(
    Object.entries(described).map(([name, description]) => [name, { description, schema: { type: "string" } }]),
  );
}

function parameters(shape: z.ZodObject, place: "path" | "query" | "header", parts: Components): Json[] {
  const { properties = {}, required = [] } = parts.of(shape, "input") as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name: place === "header" ? headerName(name) : name,
    in: place,
    required: place === "path" || required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
  }));
}

function headerName(name: string): string {
  return name === "traceparent" ? name : name.replaceAll(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}

function bytes(limit: number): string {
  return limit >= 1024 * 1024 ? `${limit / 1024 / 1024} MB` : `${Math.ceil(limit / 1024)} KB`;
}

/** Schemas with an id are written once, and referred to. */
class Components {
  readonly schemas: Record<string, Json> = {};

  constructor(private readonly is_old: boolean) {}

  of(schema: z.ZodType, io: "input" | "output"): Json {
    const made = z.toJSONSchema(schema, {
      io,
      unrepresentable: "any",
      target: this.is_old ? "openapi-3.0" : "draft-2020-12",
      override: io === "output" ? openEnded : undefined,
    });
    const plain = JSON.parse(JSON.stringify(made)) as Json & Record<"$defs" | "definitions", Record<string, Json>>;
    const read = this.is_old ? (withExample(plain) as typeof plain) : plain;
    const { $schema: _, $defs, definitions, id: own, ...whole } = read;
    for (const [name, part] of Object.entries($defs ?? definitions ?? {})) this.#keep(name, part);
    const kept = referring(whole) as Json;
    if (typeof own !== "string") return kept;
    this.#keep(own, whole);
    return { $ref: `#/components/schemas/${own}` };
  }

  #keep(name: string, part: Json): void {
    const { id: _, ...kept } = referring(part) as Json;
    this.schemas[name] ??= kept;
  }
}

/** A reply may have more fields tomorrow: a reader passes over those it does not know. */
function openEnded({ jsonSchema }: { jsonSchema: Json }): void {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
}

/** OpenAPI 3.0 knows one example, and no names for properties. */
function withExample(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withExample);
  if (typeof value !== "object" || value === null) return value;
  const { examples, propertyNames: _, ...others } = value as { examples?: unknown; propertyNames?: unknown };
  const inner = Object.fromEntries(Object.entries(others).map(([key, one]) => [key, withExample(one)]));
  return Array.isArray(examples) && examples.length > 0 ? { ...inner, example: examples[0] } : inner;
}

function referring(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(referring);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === "$ref" && typeof inner === "string"
        ? inner.replace(/^#\/(\$defs|definitions)\//, "#/components/schemas/")
        : referring(inner),
    ]),
  );
}
