// Handlers that exist twice, once in the worker's process and once in their own: whatever they do must come to the same.
import { z } from "zod";
import { defineHandler } from "../../src/core/declare/declare.js";
import { ContractViolation, Permanent, StorageError, Throttled, Transient } from "../../src/core/errors/errors.js";
import type { Loose, TaskContext } from "../../src/core/task/context.js";

const here = { isolation: "process", module: import.meta.url, database: true } as const;

class Point {
  constructor(
    readonly x: number,
    readonly y: number,
  ) {}
}

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

const circle: Record<string, unknown> = { name: "circle" };
circle.self = circle;

type Body = (ctx: TaskContext, parameters: Loose) => unknown;

function throwing(make: () => unknown): Body {
  return async () => {
    throw make();
  };
}

const returns: Record<string, unknown> = {
  nothing: undefined,
  null: null,
  number: 1.5,
  text: "tile ü 𝄞",
  flat: { a: 1, b: "x", c: null, d: true },
  nested: { tiles: [{ x: 1 }, { y: [2, 3] }], at: new Date(0), gone: undefined },
  instance: new Point(1, 2),
  handed_over: { tiles: 3, next_stage_params: { zone: "silver" } },
  envelope: { success: true, result: [1], next_stage_params: { zone: "gold" } },
  fails: { success: false, error: "said so" },
  fails_for_good: { success: false, retry: false, error: new Error("for good") },
  nan: { a: [1, Number.NaN] },
  nul: { a: { b: "x\0" } },
  surrogate: ["\ud83d"],
  bigint: { n: 5n },
  map: { f: new Map() },
  function: { f: () => 1 },
  symbol: { [Symbol("s")]: 1 },
  circle,
  too_deep: deep(101),
  proto: JSON.parse('{"__proto__": 1}'),
  getter: {
    get x() {
      throw new Error("a getter");
    },
  },
  hand_over_too_large: { next_stage_params: { text: "x".repeat(300_000) } },
  hand_over_no_object: { next_stage_params: [1] },
  spilled: { text: "x".repeat(1_100_000), number: 7 },
};

const throws: Record<string, () => unknown> = {
  error: () => new Error("plain"),
  type_error: () => new TypeError("of a kind"),
  transient: () => new Transient("again", { code: "busy" }),
  throttled: () => new Throttled(3600, "slow down", { code: "quota" }),
  permanent: () => new Permanent("never", { code: "bad_tile" }),
  contract: () => new ContractViolation("no fit", { problems: [{ path: "$.a", problem: "is odd", fix: "even it" }] }),
  storage: () => new StorageError("missing", "no file"),
  http: () => Object.assign(new Error("not found"), { status: 404 }),
  http_wait: () => Object.assign(new Error("wait"), { status: 429, headers: { "retry-after": "1800" } }),
  wrapped: () => new Error("outside", { cause: new Permanent("inside", { code: "inner" }) }),
  text: () => "a text",
  null: () => null,
  undefined: () => undefined,
  record: () => ({ code: 7, message: "not an error" }),
  aborted: () => new DOMException("aborted", "AbortError"),
  nul_in_message: () => new Error("a\0b \ud83d"),
  long: () => new Error("x".repeat(100_000)),
};

export const bodies: Record<string, Body> = {
  ...Object.fromEntries(Object.entries(returns).map(([name, value]) => [`returns_${name}`, () => value])),
  ...Object.fromEntries(Object.entries(throws).map(([name, make]) => [`throws_${name}`, throwing(make)])),
  throws_at_once: () => {
    throw new Permanent("at once");
  },
  throws_nothing_at_once: () => {
    throw undefined;
  },
  // biome-ignore lint/suspicious/noThenProperty: a promise of somebody else's making
  thenable: () => ({ then: (resolve: (value: unknown) => void) => resolve("kept") }),
  hands_over: (ctx) => {
    ctx.next_stage_params({ zone: "bronze" });
    return { tiles: 1 };
  },
  who: ({ task_type: _, task_id: __, ordinal: ___, index: ____, effect_key, ...ctx }) => [
    effect_key.length,
    ctx.tenant_id,
    ctx.stage,
    ctx.attempt,
    ctx.job,
    ctx.metadata,
  ],
  settings: ({ raster, outbound }) => ({ raster, outbound: { ...outbound } }),
  changes_parameters: (_, parameters) => {
    parameters.body = "changed";
    return parameters;
  },
  db: (ctx) => ctx.db((session) => session.sql`select ${7}::int as n, ${"a"}::text as t, now() > '2000-01-01' as b`),
  db_types: (ctx) =>
    ctx.db(async (session) => {
      const [row] = await session.sql<{ at: unknown; bytes: Buffer; big: unknown }>`
        select '2024-01-02T03:04:05Z'::timestamptz as at, '\\x0102'::bytea as bytes, 9007199254740993::bigint as big`;
      const { at, bytes, big } = row!;
      return [typeof at, String(at), Buffer.from(bytes).toString("hex"), typeof big, String(big)];
    }),
  db_tenant: (ctx) => ctx.db((session) => session.sql`select current_setting('fanfold.tenant') as tenant`),
  db_error: (ctx) => ctx.db((session) => session.sql`select * from public.nowhere`),
  db_unique: (ctx) => ctx.db((session) => session.sql`insert into public.once values (1), (1)`),
  db_error_fields: (ctx) =>
    ctx
      .db((session) => session.sql`insert into public.once values (1), (1)`)
      .catch(({ name, code, constraint, table, detail }) => ({ name, code, constraint, table, detail })),
  db_bad_value: (ctx) => ctx.db((session) => session.sql`select ${(() => 1) as never}::text`),
  db_nul: (ctx) => ctx.db((session) => session.sql`select ${"\0"}::text`),
  db_swallowed: (ctx) =>
    ctx.db(async (session) => {
      await session.sql`select 1 / 0`.catch(() => {});
    }),
  db_twice: (ctx) => ctx.db(() => ctx.db(async () => {})),
  db_two_in_a_row: async (ctx) => {
    const one = await ctx.db((session) => session.sql`select 1 as n`);
    return [one, await ctx.db((session) => session.sql`select 2 as n`)];
  },
  db_read_inside: (ctx) => ctx.db(() => ctx.predecessor()),
  db_late_statement: async (ctx) => {
    let late: Parameters<Parameters<TaskContext["db"]>[0]>[0] | undefined;
    await ctx.db(async (session) => {
      late = session;
    });
    return late!.sql`select 1`;
  },
  no_previous: (ctx) => ctx.previous.all(),
  no_predecessor: (ctx) => ctx.predecessor(),
  storage: async (ctx) => {
    const ref = await ctx.storage.put("twins/file", "content");
    return [ref, (await ctx.storage.get(ref)).toString()];
  },
  storage_missing: (ctx) =>
    ctx.storage.get({ store: "file", key: "tenant-default/twins/none", bytes: 1, sha256: "00" }),
};

const run = (parameters: Loose, ctx: TaskContext) => bodies[parameters.body]!(ctx, parameters);

export const inside = defineHandler("twin.inside", {}, run);
export const outside = defineHandler("twin.outside", here, run);

const schema = z.object({ n: z.int(), at: z.iso.datetime().transform((text) => new Date(text)) });
const strict = ({ n, at }: z.output<typeof schema>) => ({ n, is_date: at instanceof Date });
export const strict_inside = defineHandler("strict.inside", { parameters: schema }, strict);
export const strict_outside = defineHandler("strict.outside", { ...here, parameters: schema }, strict);

const patient = z.object({ n: z.int().refine(async (n) => n > 0, "must be more than nothing") });
export const patient_inside = defineHandler("patient.inside", { parameters: patient }, ({ n }) => n);
export const patient_outside = defineHandler("patient.outside", { ...here, parameters: patient }, ({ n }) => n);

async function makeTile(_: Loose, ctx: TaskContext) {
  ctx.next_stage_params({ from: ctx.index });
  return ctx.ordinal === 1 ? { text: "x".repeat(1_100_000) } : { n: ctx.ordinal };
}

async function readTile(_: Loose, ctx: TaskContext) {
  const before = await ctx.predecessor();
  return { of: before?.index, status: before?.status, given: before?.next_stage_params, size: sizeOf(before?.result) };
}

async function foldTiles(_: Loose, ctx: TaskContext) {
  const { previous } = ctx;
  const seen: unknown[] = [];
  for await (const { index, ordinal, result } of previous) seen.push([index, ordinal, result]);
  const pages: number[] = [];
  for await (const page of previous.results()) pages.push(page.length);
  const one = await previous.one().catch((error: Error) => [error.name, error.message]);
  const odd = await Promise.resolve()
    .then(() => previous("nowhere").all())
    .catch((error: Error) => [error.name, error.message]);
  const tiles = (await previous("tiles").all()).map(sizeOf);
  return { seen, pages, one, odd, tiles, count: previous.count, job: ctx.job?.job_type.replace(/_.*/, "") };
}

const sizeOf = (value: unknown) => JSON.stringify(value)?.length;

export const stages = [makeTile, readTile, foldTiles].flatMap((body) => [
  defineHandler(`${body.name.toLowerCase()}.inside`, {}, body),
  defineHandler(`${body.name.toLowerCase()}.outside`, here, body),
]);

export default { handlers: stages };
