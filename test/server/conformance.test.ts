// Drives every route of the OpenAPI document, as the running server serves it, with calls made from the document: valid, invalid,
// for another tenant's things and without the right to. No answer is a 500, none tells of the other tenant, and none is one the
// document does not know. A failure names its seed: FANFOLD_TEST_SEED repeats the run.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { scopes } from "../../src/core/api/endpoint.js";
import { withoutPostgis } from "../catalog_packages.js";
import { random } from "../core/random_values.js";
import { fetched, type Got, misfit, type Operation, operationsOf, type RawBody } from "./api_document.js";
import {
  consumed_ids,
  hard_to_reach,
  ids,
  makers,
  must_succeed,
  prepared,
  shared_ids,
  World,
  world_parts,
  world_types,
} from "./conformance_world.js";
import { edges, hostile_bodies, hostile_values, type Schema, Values } from "./schema_values.js";
import { openService, type TestService } from "./service.js";

const seed = Number(process.env.FANFOLD_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
const AT_ONCE = 6;
/** Thousands of calls: on a machine that does other things beside it they take minutes. */
vi.setConfig({ testTimeout: 240_000 });
interface Sent {
  path?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: unknown;
  /** Sent as it is. */
  raw?: RawBody;
  key?: string | null;
}

let service: TestService;
let mine: World;
let theirs: World;
let document: Schema;
let operations: Operation[];
let values: Values;
/** Strings of the other tenant's that no answer may hold. */
let secrets: string[];
const succeeded = new Set<string>();
const failures: { id: string; told: string }[] = [];
let calls = 0;

beforeAll(async () => {
  // Without PostGIS there is no catalogue: its calls are refused then, as the document says.
  service = await openService(world_parts, {}, { variant: (await withoutPostgis()) === null ? "stac" : "app" });
  await service.worker({ types: world_types, slots: 4 });
  mine = new World(service, "acme", "acme_mark");
  theirs = new World(service, "globex", "zzsecretzz");
  for (const { tenant } of [mine, theirs]) await service.key(tenant);
  document = (await service.call("GET", "/api/openapi.json", { key: null })).body;
  operations = operationsOf(document);
  values = new Values(random(seed), document);
  const open = await theirs.job("never", false);
  secrets = ["globex", theirs.marker, open, await theirs.job("mixed"), await theirs.blueprint()];
});
afterAll(() => service.close());

/** One call, its answer held against the document. */
async function drive(
  operation: Operation,
  kind: string,
  sent: Sent,
  expected?: readonly number[],
): Promise<Got | null> {
  const key =
    sent.key === undefined ? await service.key(mine.tenant, scopes, { operator: operation.operator }) : sent.key;
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(wellFormed(sent.path?.[name] ?? "")),
  );
  const query = Object.entries(sent.query ?? {}).map(
    ([name, value]) => `${name}=${encodeURIComponent(wellFormed(value))}`,
  );
  const url = `${service.url}${path}${query.length === 0 ? "" : `?${query.join("&")}`}`;
  const raw = sent.raw ?? (sent.body === undefined ? undefined : { body: JSON.stringify(sent.body) });
  const asked = `${kind} ${operation.method} ${url.slice(service.url.length).slice(0, 300)} ${String(raw?.body ?? "").slice(0, 300)}`;
  const wrong = (what: string) => failures.push({ id: operation.id, told: `${asked}\n    ${what}` });
  calls += 1;
  try {
    const got = await fetched(url, operation.method, key, sent.headers ?? {}, raw);
    if (expected !== undefined && !expected.includes(got.status))
      wrong(`answered ${got.status}, not ${expected.join(" or ")}: ${got.text.slice(0, 300)}`);
    if (got.status >= 500) wrong(`answered ${got.status}: ${got.text.slice(0, 300)}`);
    const undocumented = misfit(document, operation, got);
    if (undocumented !== null) wrong(undocumented);
    const given = decodeURIComponent(url) + String(raw?.body ?? "");
    for (const secret of operation.operator ? [] : secrets) {
      if (got.text.includes(secret) && !given.includes(secret))
        wrong(`tells "${secret}" of another tenant: ${got.text.slice(0, 300)}`);
    }
    if (
      !operation.operator &&
      got.media !== "text/html" &&
      /node_modules|\bat \S+ \(|select app\.|fanfold_owner/.test(got.text)
    )
      wrong(`tells of our insides: ${got.text.slice(0, 300)}`);
    if (got.status < 300) succeeded.add(operation.id);
    return got;
  } catch (error) {
    wrong(`did not answer: ${error}`);
    return null;
  }
}

/** fetch would replace it, and encodeURIComponent throws. */
function wellFormed(text: string): string {
  return text.toWellFormed();
}

async function idFor(name: string, world: World): Promise<string> {
  const make = ids[name];
  if (make === undefined) {
    throw new Error(
      `no id is known for the path parameter {${name}}: add a line to \`ids\` in test/server/conformance_world.ts`,
    );
  }
  return make(world);
}

async function pathIds({ id, parameters }: Operation, world: World): Promise<Record<string, string>> {
  const named = parameters.filter((one) => one.in === "path");
  const found = async (name: string) => consumed_ids[id]?.[name]?.(world) ?? idFor(name, world);
  return Object.fromEntries(await Promise.all(named.map(async ({ name }) => [name, await found(name)])));
}

/** A call that waits would wait for its time. */
const waits = (name: string) => /^(wait|timeout|hold)/.test(name);

function withoutWaiting(body: unknown): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !waits(name)));
}

function validQuery({ parameters }: Operation, whole: boolean): Record<string, string> {
  const named = parameters.filter(
    (one) => one.in === "query" && !waits(one.name) && (one.required || whole || values.chance(0.4)),
  );
  return Object.fromEntries(named.map(({ name, schema }) => [name, String(values.valid(schema))]));
}

async function validCall(operation: Operation, world: World, whole: boolean): Promise<Sent> {
  return {
    path: await pathIds(operation, world),
    query: validQuery(operation, whole),
    ...(operation.body === null || (!operation.body.required && !whole)
      ? {}
      : { body: withoutWaiting(values.valid(operation.body.schema, whole)) }),
  };
}

/** Many calls, some at once; in one order for one seed. */
async function each<T>(list: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const queue = [...list];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) await work(next);
    }),
  );
}

/** Everything that went wrong so far; of one operation only the first. */
function settle(what: string): void {
  const all = failures.splice(0);
  const told = all.filter(({ id }, at) => all.findIndex((other) => other.id === id) === at).map((one) => one.told);
  const summary = `${all.length} of ${calls} calls, ${what}; repeat with FANFOLD_TEST_SEED=${seed}`;
  expect(told.length === 0 ? "" : `${summary}\n${told.slice(0, 20).join("\n")}`).toBe("");
}

test("without a key, with a wrong one and without the scope every guarded call is refused, and tells nothing", async () => {
  const guarded = operations.filter(({ scope }) => scope !== null);
  expect(guarded.length).toBeGreaterThan(20);
  const key = await service.key(mine.tenant);
  await each(guarded, async (operation) => {
    const path = await pathIds(operation, mine);
    await drive(operation, "without a key", { path, key: null }, [401]);
    await drive(operation, "with a wrong key", { path, key: `${key.slice(0, -6)}AAAAAA` }, [401, 429]);
    const others = scopes.filter((scope) => scope !== operation.scope);
    await drive(
      operation,
      "without the scope",
      { path, key: await service.key(mine.tenant, others, { operator: operation.operator }) },
      [403],
    );
    if (operation.operator) await drive(operation, "by a tenant", { path, key }, [403]);
  });
  settle("without the right");
});

test("calls made from the document are answered as it says", async () => {
  await each(operations, async (operation) => {
    const ready = prepared[operation.id];
    if (ready !== undefined) {
      const given = await ready(mine);
      const path = { ...(given.path === undefined ? await pathIds(operation, mine) : {}), ...given.path };
      await drive(operation, "prepared", { ...given, path });
    }
    const least = operation.body?.required ? { body: withoutWaiting(values.valid(operation.body.schema)) } : {};
    await drive(operation, "least", { path: await pathIds(operation, mine), ...least });
    for (const whole of [true, false]) await drive(operation, "valid", await validCall(operation, mine, whole));
  });
  settle("valid");
  const missed = operations.filter(({ id }) => !succeeded.has(id) && !hard_to_reach.has(id));
  const insisted = missed.filter(({ tag }) => must_succeed.has(tag)).map(({ id }) => id);
  expect(insisted, "never seen to succeed: add a call to `prepared` in test/server/conformance_world.ts").toEqual([]);
  const told = missed.map(({ id }) => id).join(", ");
  if (told !== "") process.stderr.write(`conformance: not seen to succeed: ${told}\n`);
});

test("what belongs to another tenant does not exist, and stays as it is", async () => {
  const owned = operations.filter(
    ({ id, parameters, operator }) =>
      !operator && !makers.has(id) && parameters.some((one) => one.in === "path" && !shared_ids.has(one.name)),
  );
  expect(owned.length).toBeGreaterThan(10);
  const job_id = secrets[2]!;
  const task_id = await theirs.taskOf(job_id);
  const known: Record<string, string> = { job_id, task_id };
  for (const { name } of owned.flatMap(({ parameters }) => parameters)) {
    if (name in ids && !shared_ids.has(name)) known[name] ??= await idFor(name, theirs);
  }
  const before = await footprint();
  await each(owned, async (operation) => {
    for (const whole of [false, true]) {
      const call = await validCall(operation, mine, whole);
      const foreign = operation.parameters.filter((one) => one.in === "path" && !shared_ids.has(one.name));
      for (const { name } of foreign) call.path![name] = known[name]!;
      if (prepared[operation.id] !== undefined) call.body = (await prepared[operation.id]!(mine)).body ?? call.body;
      // A worker that is not the caller's is told what one that was given up is told.
      await drive(operation, "foreign", call, operation.tag === "work" ? [400, 404, 409] : [400, 404]);
    }
  });
  settle("for another tenant's things");
  expect(await footprint()).toEqual(before);
});

/** What the other tenant has, down to the events. */
async function footprint(): Promise<unknown> {
  const [row] = await service.db.sql`
    select (select json_agg(json_build_array(job_id, status, epoch, paused_at) order by job_id) from app.jobs where tenant_id = 'globex') as jobs,
      (select count(*) from app.events where tenant_id = 'globex' and kind not like 'key.%') as events,
      (select json_agg(json_build_array(stage_id, lo, hi, priority, run_at) order by stage_id, lo) from app.ready where tenant_id = 'globex') as ready,
      (select count(*) from app.saved_blueprints where tenant_id = 'globex' and removed_at is null) as blueprints,
      (select count(*) from app.paused_types where tenant_id = 'globex') as paused`;
  return row;
}

test("hostile values in paths, queries and bodies are refused or taken, as the document says", async () => {
  const attacks = operations.flatMap((operation) => Array.from({ length: 10 }, (_, round) => ({ operation, round })));
  const texts = hostile_values.map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  await each(attacks, async ({ operation, round }) => {
    const call: Sent = { path: {}, query: {} };
    for (const { name, in: place, schema } of operation.parameters) {
      if (place === "path")
        call.path![name] = round % 3 === 0 ? pathText(values.pick(texts)) : (cheap.get(name) ?? "abcd");
      else if (place === "query" && !waits(name) && values.chance(0.5)) {
        call.query![name] = values.chance(0.6) ? queryText(values.hostile(schema)) : String(values.valid(schema));
      } else if (place === "header" && values.chance(0.3)) {
        call.headers = { ...call.headers, [name]: values.pick(["", "x", "0".repeat(3000), "00-zz", "\u00e4\u00ff"]) };
      }
    }
    if (round % 7 === 6) call.query![values.pick(["__proto__", "constructor", "limt", "a[b]"])] = "1";
    if (operation.method !== "GET") attackBody(operation, call, round);
    await drive(operation, "hostile", call);
  });
  settle("hostile");
});

/** Not the ids of real rows: what is refused anyway needs none. */
const cheap = new Map([
  ["job_type", "greet"],
  ["task_type", "t.never"],
  ["task_id", "1-1"],
  ["stage", "1"],
]);

/** A path without anything in it, or with dots, would be another path. */
function pathText(text: string): string {
  return text === "" || /^\.+$/.test(text) ? "%" : text.slice(0, 2000);
}

function queryText(value: unknown): string {
  return (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).slice(0, 3000);
}

function attackBody(operation: Operation, call: Sent, round: number): void {
  if (operation.body === null || round % 4 === 0) {
    call.raw = values.pick(hostile_bodies);
    return;
  }
  const schema = values.resolve(operation.body.schema);
  const body = values.valid(operation.body.schema, round % 2 === 0);
  if (typeof body !== "object" || body === null || round % 4 === 1) {
    call.body = values.hostile(schema);
    return;
  }
  const fields = Object.entries<Schema>(schema.properties ?? {});
  const hurt = body as Record<string, unknown>;
  if (fields.length > 0) {
    const [name, part] = values.pick(fields);
    if (round % 5 === 0) delete hurt[name];
    else hurt[name] = values.hostile(part);
  }
  if (round % 6 === 0) hurt[values.pick(["unknown", "constructor", "toString", ""])] = values.pick(hostile_values);
  call.body = withoutWaiting(hurt);
}

test("numbers at the edges of what the document allows, and beyond what a column holds, break no call", async () => {
  const attacks = operations.flatMap((operation) => {
    const body = operation.body === null ? undefined : withoutWaiting(values.valid(operation.body.schema, true));
    const in_body = body === undefined ? [] : values.numbers(operation.body!.schema, body);
    const in_query = operation.parameters.filter(
      (one) => one.in === "query" && !waits(one.name) && /integer|number/.test(values.resolve(one.schema).type),
    );
    const query = Object.fromEntries(
      operation.parameters
        .filter((one) => one.in === "query" && one.required)
        .map(({ name, schema }) => [name, String(values.valid(schema))]),
    );
    return [
      ...in_body.flatMap(({ path, edges }) =>
        edges.map((edge) => ({ operation, call: { query, body: withEdge(body, path, edge) } })),
      ),
      // Alone, where what else it may hold would be refused first.
      ...numberFields(operation).flatMap(([name, part]) =>
        values
          .numbers(part, 1)
          .flatMap(({ edges }) =>
            edges.map((edge) => ({ operation, call: { query, body: { ...required(operation), [name]: edge } } })),
          ),
      ),
      ...in_query.flatMap(({ name, schema }) =>
        edges(values.resolve(schema)).map((edge) => ({
          operation,
          call: { query: { ...query, [name]: String(edge) }, body },
        })),
      ),
    ];
  });
  expect(attacks.length).toBeGreaterThan(100);
  const known = new Map<string, Promise<Record<string, string>>>();
  await each(attacks, async ({ operation, call }) => {
    if (!known.has(operation.id)) known.set(operation.id, pathIds(operation, mine));
    await drive(operation, "edge", { ...call, path: await known.get(operation.id)! });
  });
  settle("at the edges");
});

function numberFields({ body }: Operation): [name: string, schema: Schema][] {
  return Object.entries<Schema>(values.resolve(body?.schema).properties ?? {}).filter(([name]) => !waits(name));
}

function required({ body }: Operation): object {
  const schema = values.resolve(body?.schema);
  const names: string[] = schema.required ?? [];
  return Object.fromEntries(names.map((name) => [name, values.valid(schema.properties[name])]));
}

function withEdge(body: unknown, [first, ...rest]: readonly (string | number)[], edge: number): unknown {
  if (first === undefined) return edge;
  const copy = Array.isArray(body) ? [...body] : { ...(body as object) };
  (copy as Record<string | number, unknown>)[first] = withEdge(
    (body as Record<string | number, unknown>)[first],
    rest,
    edge,
  );
  return copy;
}

test("a body larger than its call takes is refused", async () => {
  const taking = operations.filter(({ body }) => body !== null);
  await each(taking, async (operation) => {
    const raw = { body: `{"reason":"${"x".repeat(operation.body!.limit)}"}` };
    await drive(
      operation,
      "too large",
      {
        path: Object.fromEntries(
          operation.parameters.filter((one) => one.in === "path").map(({ name }) => [name, cheap.get(name) ?? "abcd"]),
        ),
        raw,
      },
      [413],
    );
  });
  settle("too large");
  process.stderr.write(`conformance: ${calls} calls over ${operations.length} routes, seed ${seed}\n`);
});
