// The API as one page to read: no scripts, nothing loaded from anywhere, light or dark as the reader's system is. Every call and
// every error code has an anchor, which problem details link to.
import { type Endpoint, errorStatuses } from "../../core/api/endpoint.js";
import { error_table } from "../../core/errors/errors.js";
import { docs_style } from "./docs_style.js";

/** Stands in the page where the service's own address goes: the page is made once, and read under many. */
export const own_address = "{own-address}";

type Json = Record<string, unknown>;
interface Operation {
  operationId: string;
  parameters: { name: string; in: string; required: boolean; description?: string; schema: Json }[];
  requestBody?: { required: boolean; description: string; content: Record<string, { schema: Json }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: Json }> }>;
}

const error_words: Record<string, string> = {
  not_found: "There is no such thing. What belongs to another tenant is answered in the same way.",
  bad_request: "The call is not as the contract says. <code>problems</code> lists everything that is wrong with it.",
  conflict:
    "It contradicts what there is: an idempotency key with another body, a job that goes on already, a name that is taken.",
  too_large: "More bytes than this call takes. Put the data into storage and pass a reference.",
  forbidden: "The key is valid, and not allowed to do this. <code>hint</code> names the scope it needs.",
  not_allowed_now: "Not in the state it is in: an ended job is not cancelled, a running one not retried.",
  stale_worker: "The worker was given up, or does not hold the task any more. It must register anew.",
  over_limit: "A limit of the tenant's, for now. Come back after <code>Retry-After</code> seconds.",
  beyond_limit: "A limit of the tenant's that this very call breaks: waiting will not help, a smaller call will.",
  unauthenticated: "No API key, or one that is not valid, revoked or expired.",
  unavailable:
    "The service or its database cannot do this right now. Try again after <code>Retry-After</code> seconds.",
  bad_value:
    "The body is not JSON, or something in it cannot be stored as it is: NUL, half a surrogate pair, a number no double can hold.",
  bad_parameters:
    "The parameters do not fit the job type. <code>problems</code> lists everything that is wrong with them.",
  bad_declaration: "The blueprint cannot be used. <code>problems</code> lists everything that is wrong with it.",
  bad_media_type: "The body is not JSON. Send <code>Content-Type: application/json</code>.",
  internal: "A fault of the service. Give its operator the <code>request_id</code>: it is in the log.",
};
const other_statuses: Record<string, number> = { bad_media_type: 415, internal: 500 };

export function docsPage(endpoints: readonly Endpoint[], document: Json): string {
  const paths = document.paths as Record<string, Record<string, Operation>>;
  const { title, version, summary } = document.info as Record<string, string>;
  const described = endpoints.map((endpoint) => ({
    endpoint,
    operation: paths[endpoint.path]![endpoint.method.toLowerCase()]!,
  }));
  const tags = (document.tags as { name: string; description?: string }[]).map((tag) => ({
    ...tag,
    calls: described.filter(({ endpoint }) => endpoint.tag === tag.name),
  }));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${text(title!)} API</title>
<style>${docs_style}</style>
</head>
<body>
<a class="skip" href="#start">Skip to the calls</a>
<nav aria-label="Calls" tabindex="0">
<p class="brand"><a href="#start">${text(title!)} <span>API ${text(version!)}</span></a></p>
${tags.map(({ name, calls }) => navigation(name, calls)).join("\n")}
<h2><a href="#errors">errors</a></h2>
</nav>
<main id="start">
<header><h1>${text(title!)} API</h1><p class="lead">${text(summary!)}</p></header>
${introduction}
${tags.map(({ name, description, calls }) => section(name, description, calls, document)).join("\n")}
${errorList()}
</main>
</body>
</html>
`;
}

const introduction = `<section class="intro">
<h2 id="calling">Calling it</h2>
<pre><code>curl -H "Authorization: Bearer $FANFOLD_KEY" \\
     -H "Content-Type: application/json" \\
     -d '{"parameters": {"n": 3}}' \\
     ${own_address}/api/jobs/submit/hello_world</code></pre>
<ul>
<li><b>Keys.</b> The tenant is the key's. What belongs to another tenant does not exist: it is 404, never 403. A key has scopes;
each call below names the one it needs.</li>
<li><b>Errors</b> are problem details (RFC 9457): a stable <code>code</code>, a <code>detail</code> in words, a <code>hint</code>,
and in <code>problems</code> everything that is wrong, each with where and what to do. <a href="#errors">All codes</a>.</li>
<li><b>Pages.</b> Pass <code>next</code> as <code>cursor</code> until it is null. A page may be short and have a <code>next</code>.</li>
<li><b>Waiting.</b> <code>?wait=true</code> holds a status call until the job has ended, at most 25 seconds;
<code>202</code> with <code>Retry-After</code> means: ask again.</li>
<li><b>Trying again.</b> Calls marked <em>repeatable</em> do no more when they are sent twice.</li>
<li><b>For programs</b> there is <a href="/api/openapi.json">the OpenAPI 3.1 document</a> this page is made of.</li>
</ul>
</section>`;

type Call = { endpoint: Endpoint; operation: Operation };

function navigation(name: string, calls: readonly Call[]): string {
  const items = calls.map(
    ({ endpoint: { method, path, summary }, operation }) =>
      `<li><a href="#${operation.operationId}" title="${text(summary)}"><span class="m ${method}">${method}</span> ${shortPath(path)}</a></li>`,
  );
  return `<h2><a href="#tag-${text(name)}">${text(name)}</a></h2>\n<ul>${items.join("\n")}</ul>`;
}

function shortPath(path: string): string {
  return text(path.replace(/^\/api/, "")).replaceAll("/", "/<wbr>");
}

function section(name: string, description: string | undefined, calls: readonly Call[], document: Json): string {
  return `<section><h2 id="tag-${text(name)}">${text(name)}</h2>${description === undefined ? "" : `<p>${prose(description)}</p>`}
${calls.map((call) => article(call, document)).join("\n")}
</section>`;
}

function article({ endpoint, operation }: Call, document: Json): string {
  const { method, path, summary, description, scope, operator, repeatable } = endpoint;
  const body = operation.requestBody;
  // The first there is: JSON, or bytes.
  const schema = Object.values(body?.content ?? {})[0]?.schema;
  const example = (schema?.examples as unknown[] | undefined)?.[0];
  const facts = [
    scope === null ? "no key needed" : `scope <b>${scope}</b>${operator ? ", operator" : ""}`,
    ...(repeatable ? ["repeatable"] : []),
  ];
  return `<article id="${operation.operationId}">
<h3><a href="#${operation.operationId}"><span class="m ${method}">${method}</span> <code>${text(path).replaceAll("/", "/<wbr>")}</code></a></h3>
<p class="summary">${text(summary)} <small>${facts.join(" · ")}</small></p>
${
  description === undefined
    ? ""
    : description
        .split("\n\n")
        .map((part) => `<p>${prose(part)}</p>`)
        .join("")
}
${parameterTable(operation)}
${body === undefined ? "" : `<h4>Body <small>${body.required ? "required" : "optional"} · ${text(body.description.replace(/^A/, "a"))}</small></h4>${fields(schema!, document)}`}
${example === undefined ? "" : `<pre><code>${text(JSON.stringify(example, null, 2))}</code></pre>`}
<h4>Answers</h4>
${answers(endpoint, operation, document)}
</article>`;
}

function parameterTable({ parameters }: Operation): string {
  if (parameters.length === 0) return "";
  const rows = parameters.map(
    ({ name, in: place, required, description, schema }) =>
      `<tr><td><code>${text(name)}</code></td><td>${place}${required ? " · <b>required</b>" : ""}</td><td>${text(typeOf(schema))}</td><td>${prose(description ?? "")}${extras(schema)}</td></tr>`,
  );
  return `<div class="scroll"><table><tbody>${rows.join("")}</tbody></table></div>`;
}

function extras(schema: Json): string {
  const parts = [
    ...(schema.default === undefined ? [] : [`default <code>${text(JSON.stringify(schema.default))}</code>`]),
    ...(Array.isArray(schema.examples) ? [`e.g. <code>${text(plainOrJson(schema.examples[0]))}</code>`] : []),
  ];
  return parts.length === 0 ? "" : ` <small>${parts.join(", ")}</small>`;
}

/** A text as it is written in an address; anything else as JSON. */
function plainOrJson(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function answers(endpoint: Endpoint, { responses }: Operation, document: Json): string {
  const errors = new Set(errorStatuses(endpoint));
  const good = Object.entries(responses).filter(([status]) => !errors.has(Number(status)));
  const told = good.map(([status, { description, content }]) => {
    const [media, held] = Object.entries(content ?? {})[0] ?? [];
    const shape =
      media === "application/json"
        ? fields(held!.schema, document)
        : media === undefined
          ? ""
          : `<p><code>${media}</code></p>`;
    return `<details><summary><b class="s">${status}</b> ${prose(description)}</summary>${shape}</details>`;
  });
  const refused = [...errors].map((status) => `<b class="s bad">${status}</b>`).join(" ");
  return `${told.join("")}<p class="refused">Refused with ${refused}: <a href="#errors">problem details</a></p>`;
}

/** The fields of an object, one row each; what is deeper opens on a click. */
function fields(schema: Json, document: Json, depth = 0): string {
  const { shape, name } = resolved(schema, document);
  const alternatives = (shape.anyOf ?? shape.oneOf) as Json[] | undefined;
  if (alternatives !== undefined) {
    const parts = alternatives.filter((one) => one.type !== "null");
    return parts.map((one) => fields(one, document, depth)).join("<p>or</p>");
  }
  if (shape.type === "array") return `<p>A list, each:</p>${fields(shape.items as Json, document, depth)}`;
  const properties = Object.entries((shape.properties ?? {}) as Record<string, Json>);
  if (properties.length === 0) return `<p class="type">${text(typeOf(shape))}</p>`;
  const required = new Set(shape.required as string[] | undefined);
  const rows = properties.map(([field, part]) => {
    const own = resolved(part, document);
    const inner = innerObject(own.shape, document);
    const below =
      inner === null || depth >= 3
        ? ""
        : `<details><summary>${text(inner.name ?? "fields")}</summary>${fields(inner.schema, document, depth + 1)}</details>`;
    return `<tr><td><code>${text(field)}</code>${required.has(field) ? "" : "<small> optional</small>"}</td><td>${text(typeOf(part, document))}</td><td>${prose(String(part.description ?? own.shape.description ?? ""))}${extras(part)}${below}</td></tr>`;
  });
  const label = name === null || depth > 0 ? "" : `<p class="type">${text(name)}</p>`;
  return `${label}<div class="scroll"><table><tbody>${rows.join("")}</tbody></table></div>`;
}

function innerObject(shape: Json, document: Json): { schema: Json; name: string | null } | null {
  const candidates = [shape, shape.items, shape.additionalProperties, ...((shape.anyOf as Json[] | undefined) ?? [])];
  for (const candidate of candidates) {
    if (typeof candidate !== "object" || candidate === null) continue;
    const found = resolved(candidate as Json, document);
    if (found.shape.properties !== undefined) return { schema: found.shape, name: found.name };
    const items = found.shape.items;
    if (candidate !== shape && typeof items === "object" && items !== null) {
      const deeper = resolved(items as Json, document);
      if (deeper.shape.properties !== undefined) return { schema: deeper.shape, name: deeper.name };
    }
  }
  return null;
}

function resolved(schema: Json, document: Json): { shape: Json; name: string | null } {
  if (typeof schema.$ref !== "string") return { shape: schema, name: null };
  const name = schema.$ref.split("/").at(-1)!;
  const { schemas } = document.components as { schemas: Record<string, Json> };
  return { shape: schemas[name] ?? {}, name };
}

function typeOf(schema: Json, document?: Json): string {
  if (typeof schema.$ref === "string") return schema.$ref.split("/").at(-1)!;
  if (Array.isArray(schema.enum)) return schema.enum.join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const several = (schema.anyOf ?? schema.oneOf) as Json[] | undefined;
  if (several !== undefined) return several.map((one) => typeOf(one, document)).join(" | ");
  if (schema.type === "array") return `${typeOf(schema.items as Json, document)}[]`;
  const type = Array.isArray(schema.type)
    ? schema.type.join(" | ")
    : ((schema.type as string | undefined) ?? "any JSON");
  const { minimum, maximum, minLength, maxLength } = schema as Record<string, number | undefined>;
  const ends = [minimum, maximum].every(
    (end) => end !== undefined && Number.isSafeInteger(end) && Math.abs(end) < 2 ** 53 - 1,
  );
  if (ends) return `${type} ${minimum}…${maximum}`;
  if (maxLength !== undefined) return `${type}, ${minLength ?? 0}…${maxLength} characters`;
  return type;
}

function errorList(): string {
  const codes = Object.keys(error_words).map((code) => {
    const status = other_statuses[code] ?? error_table[code as keyof typeof error_table].http_status;
    return `<dt id="${code}"><a href="#${code}"><code>${code}</code></a> <b class="s bad">${status}</b></dt><dd>${error_words[code]}</dd>`;
  });
  return `<section><h2 id="errors">errors</h2><p>Media type <code>application/problem+json</code>:
<code>type</code> links here, <code>code</code> is stable, <code>request_id</code> finds the call in the log.</p><dl>${codes.join("\n")}</dl></section>`;
}

/** Text with `code` in it. */
function prose(words: string): string {
  return text(words).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

function text(words: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return words.replaceAll(/[&<>"']/g, (character) => entities[character]!);
}
