// Values made from JSON Schemas, with a seeded random: such as fit, and such as no caller should send.
// biome-ignore lint/suspicious/noExplicitAny: a schema is looked into
export type Schema = any;

export class Values {
  constructor(
    private readonly random: () => number,
    private readonly document: Schema,
  ) {}

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.random() * list.length)]!;
  }

  chance(of: number): boolean {
    return this.random() < of;
  }

  resolve(schema: Schema): Schema {
    if (typeof schema?.$ref !== "string") return schema ?? {};
    const steps = schema.$ref.replace("#/", "").split("/");
    return this.resolve(steps.reduce((at: Schema, step: string) => at[step], this.document));
  }

  /** A value that fits. `whole` gives every optional field, else each by chance. */
  valid(given: Schema, whole = false, depth = 0): unknown {
    const schema = this.resolve(given);
    if (Array.isArray(schema.examples) && schema.examples.length > 0) return this.pick(schema.examples);
    if (schema.const !== undefined) return schema.const;
    if (Array.isArray(schema.enum)) return this.pick(schema.enum);
    const several = schema.anyOf ?? schema.oneOf;
    if (Array.isArray(several)) return this.valid(this.pick(several), whole, depth);
    const type = Array.isArray(schema.type) ? this.pick(schema.type) : schema.type;
    switch (type) {
      case "object":
        return this.#object(schema, whole, depth);
      case "array": {
        const least = schema.minItems ?? 0;
        const count = Math.min(schema.maxItems ?? 3, Math.max(least, depth > 4 ? 0 : this.pick([1, 1, 2])));
        return Array.from({ length: count }, () => this.valid(schema.items, whole, depth + 1));
      }
      case "string":
        return this.#text(schema);
      case "integer":
      case "number":
        return this.#number(schema, type);
      case "boolean":
        return this.chance(0.5);
      case "null":
        return null;
      default:
        return depth > 4 ? 1 : this.pick<unknown>([{ n: 1 }, "text", 3, [1, 2], true]);
    }
  }

  #object(schema: Schema, whole: boolean, depth: number): Record<string, unknown> {
    const made: Record<string, unknown> = {};
    const required = new Set<string>(schema.required ?? []);
    for (const [name, part] of Object.entries<Schema>(schema.properties ?? {})) {
      if (required.has(name) || whole || this.chance(0.4)) made[name] = this.valid(part, whole, depth + 1);
    }
    const others = schema.additionalProperties;
    if (typeof others === "object" && schema.properties === undefined && depth < 4) {
      made.key = this.valid(others, whole, depth + 1);
    }
    return made;
  }

  #text(schema: Schema): string {
    if (schema.format === "date-time") return this.pick(["2030-01-31T08:00:00Z", "2001-02-03T04:05:06.789+02:00"]);
    if (schema.format === "uuid") return "0b8f7a3e-5f0c-4d0e-9b6b-2f6f3a1c9d11";
    if (schema.format === "uri") return "https://example.com/hook";
    if (schema.format === "email") return "ada@example.com";
    const least = schema.minLength ?? 0;
    const most = schema.maxLength ?? 40;
    const candidates = [
      "a",
      "abc",
      "name_1",
      "t.say",
      "1",
      "12",
      "1-1",
      "abcd",
      "0123abcd",
      "default",
      "acme-2",
      "live",
      "*/5 * * * *",
      "a:b",
      "x".repeat(Math.max(1, least)),
      "y".repeat(Math.min(most, 300)),
      "äöü 😀 text",
      "0".repeat(64),
      "a".repeat(12),
      "https://example.com/",
      "UTC",
      "secret://name",
      `we_${"a".repeat(16)}`,
      `msg_${"a".repeat(24)}`,
      "0b8f7a3e-5f0c-4d0e-9b6b-2f6f3a1c9d11",
      "team:hydro",
    ].filter((text) => text.length >= least && [...text].length <= most);
    const pattern = schema.pattern === undefined ? null : new RegExp(schema.pattern, "u");
    const fitting = pattern === null ? candidates : candidates.filter((text) => pattern.test(text));
    if (fitting.length > 0) return this.pick(fitting);
    throw new Error(
      `no text is known that fits ${JSON.stringify(schema)}: give the field an example with .meta({ examples: [...] })`,
    );
  }

  #number(schema: Schema, type: string): number {
    const low =
      schema.minimum ??
      (schema.exclusiveMinimum === undefined ? -10 : schema.exclusiveMinimum + (type === "integer" ? 1 : 0.5));
    const high = schema.maximum ?? (schema.exclusiveMaximum === undefined ? low + 100 : schema.exclusiveMaximum - 1);
    const middle = Math.floor(Math.min(high, low + 5));
    return this.pick([low, high, middle, middle].filter((value) => Math.abs(value) < 1e15)) ?? low;
  }

  /** Where in a value there are numbers, each with what its schema allows at the edges; beyond 2^53 there is nothing to say. */
  numbers(
    given: Schema,
    value: unknown,
    path: readonly (string | number)[] = [],
  ): { path: typeof path; edges: number[] }[] {
    const schema = this.resolve(given);
    const several: Schema[] = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [];
    const own = several.flatMap((one) => this.numbers(one, value, path));
    if (typeof value === "number")
      return /integer|number/.test(String(schema.type)) ? [...own, { path, edges: edges(schema) }] : own;
    if (Array.isArray(value))
      return [...own, ...value.slice(0, 1).flatMap((one) => this.numbers(schema.items, one, [...path, 0]))];
    if (typeof value !== "object" || value === null) return own;
    const fields = Object.entries(value).filter(([name]) => schema.properties?.[name] !== undefined);
    return [...own, ...fields.flatMap(([name, one]) => this.numbers(schema.properties[name], one, [...path, name]))];
  }

  /** What nobody should send for it: at the edges, of the wrong kind, or meant to harm. */
  hostile(given: Schema): unknown {
    const schema = this.resolve(given);
    const edges: unknown[] = [];
    for (const name of ["minimum", "exclusiveMinimum", "minLength", "minItems"]) {
      if (typeof schema[name] === "number") edges.push(schema[name] - 1);
    }
    if (typeof schema.maximum === "number") edges.push(schema.maximum + 1, schema.maximum + 0.5);
    if (typeof schema.maxLength === "number") edges.push("m".repeat(Math.min(schema.maxLength + 1, 70_000)));
    if (typeof schema.maxItems === "number" && schema.maxItems <= 2000)
      edges.push(Array.from({ length: schema.maxItems + 1 }, () => ({})));
    return this.pick([...edges, ...edges, ...hostile_values]);
  }
}

/** At the ends of what it says, and one beyond what smallint, integer and a counter of seconds hold, where that is allowed. */
export function edges({ type, minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema): number[] {
  const low =
    minimum ??
    (exclusiveMinimum === undefined ? -Number.MAX_VALUE : exclusiveMinimum + (type === "integer" ? 1 : 1e-9));
  const high = maximum ?? (exclusiveMaximum === undefined ? Number.MAX_VALUE : exclusiveMaximum - 1);
  const all = [low, high, -32_769, 32_768, -(2 ** 31) - 1, 2 ** 31, 2 ** 53 - 1, 1e300];
  return [...new Set(all)].filter(
    (one) => one >= low && one <= high && (type !== "integer" || Number.isSafeInteger(one)),
  );
}

export const hostile_values: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  -0,
  1e308,
  5e-324,
  2 ** 53 + 2,
  -(2 ** 53) - 2,
  2147483648,
  99999,
  32768,
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\udfff x",
  "\u202e",
  "😀".repeat(40),
  "x".repeat(5000),
  "ﬀ",
  "\n",
  "\r\n\r\n",
  "__proto__",
  "constructor",
  "toString",
  "null",
  "undefined",
  "NaN",
  "Infinity",
  "-infinity",
  "1e400",
  "0x10",
  "true",
  "'; drop table app.jobs; --",
  "%",
  "%%%s%n",
  "_",
  "\\",
  '"',
  "$1",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: an attack on whoever evaluates it
  "${7*7}",
  "{{7*7}}",
  "<script>alert(1)</script>",
  "../../etc/passwd",
  "..%2f..%2f",
  "file:///etc/passwd",
  "http://169.254.169.254/",
  "9".repeat(40),
  "1-1",
  "0-0",
  "-1",
  "0000-01-01T00:00:00Z",
  "9999-12-31T23:59:59Z",
  "2030-02-31T00:00:00Z",
  "+275760-09-13T00:00:00Z",
  "infinity",
  "2030-01-01T00:00:00+23:59",
  "f".repeat(64),
  "0".repeat(64),
  "abcd",
  "99999999999999999-99999999999999999",
  "999999999999999999",
  "1".repeat(18),
  [],
  [[]],
  [null],
  {},
  { a: { b: { c: {} } } },
  { constructor: { prototype: {} } },
  { length: 5 },
  { toString: 1 },
  { "": "" },
];

/** Bodies that are not even what they say they are. */
export const hostile_bodies: readonly { body: string | Buffer; type?: string }[] = [
  { body: "" },
  { body: " " },
  { body: "null" },
  { body: "[]" },
  { body: '"text"' },
  { body: "1e400" },
  { body: "{" },
  { body: '{"a":1,}' },
  { body: '{"reason":"a","reason":"b"}' },
  { body: '{"__proto__":{"admin":true}}' },
  { body: '{"constructor":{"prototype":{"x":1}}}' },
  { body: '{"reason":"\\u0000"}' },
  { body: '{"reason":"\\ud800"}' },
  { body: '{"limit":9007199254740993}' },
  { body: `${"[".repeat(5000)}${"]".repeat(5000)}` },
  { body: `{"parameters":${'{"a":'.repeat(150)}1${"}".repeat(150)}}` },
  { body: "\ufeff{}" },
  { body: Buffer.from('{"reason":"\xff\xfe"}', "latin1") },
  { body: Buffer.from("{}", "utf16le") },
  { body: "{}", type: "text/plain" },
  { body: "a=1", type: "application/x-www-form-urlencoded" },
  { body: "<a/>", type: "application/xml" },
  { body: "{}", type: "application/json; charset=utf-16" },
  { body: "{}", type: "nonsense" },
];
