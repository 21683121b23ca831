// The command lines that forms show, against the command line itself: whatever stands in a field, the program takes the line.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { expect, test } from "vitest";
import { formLine, submitLines } from "../../dashboard/src/form/form_lines.js";
import { fromPlain, type Value } from "../../dashboard/src/form/values.js";
import { newKey, rotation } from "../../dashboard/src/pages/keys/key_schemas.js";
import { new_tenant } from "../../dashboard/src/pages/limits/tenant_schema.js";
import { scheduleLine, scheduleSchema } from "../../dashboard/src/pages/schedules/schedule_schema.js";
import { options_schema } from "../../dashboard/src/pages/submit/options.js";
import {
  endpointSettings,
  replayed_span,
  secret_rotation,
} from "../../dashboard/src/pages/webhooks/webhook_schemas.js";
import { programWith } from "../../src/cli/program.js";
import { scopes } from "../../src/core/api/endpoint.js";
import { type VerbName, verb_words } from "../../src/core/shown/verb_words.js";

interface Form {
  verb: VerbName;
  schema: Schema;
  line(given: Readonly<Record<string, Value>>): string;
}
/** As much of JSON Schema as the forms are written in. */
interface Schema {
  type?: string;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema | undefined>>;
  minimum?: number;
  examples?: readonly unknown[];
}

const of = (verb: VerbName, schema: Schema, params: Readonly<Record<string, Value>> = {}): Form => ({
  verb,
  schema,
  line: (given) => formLine(verb, { ...params, ...given }),
});
const schedule = scheduleSchema(["hello_world"], null, true);
const forms: readonly Form[] = [
  of("keys.create", newKey(scopes, true)),
  of("keys.rotate", rotation, { key_id: "k" }),
  of("webhooks.create", endpointSettings(true)),
  of("webhooks.update", endpointSettings(false), { endpoint_id: "we_1" }),
  of("webhooks.rotate", secret_rotation, { endpoint_id: "we_1" }),
  of("webhooks.replay", replayed_span, { endpoint_id: "we_1" }),
  of("tenants.create", new_tenant),
  {
    verb: "schedules.put",
    schema: { ...schedule, properties: { ...schedule.properties, options: undefined } },
    line: ({ name, ...given }) => scheduleLine(typeof name === "string" ? name : "", given),
  },
  { verb: "schedules.put", schema: schedule.properties.options, line: (options) => scheduleLine("s", { options }) },
  { verb: "jobs.submit", schema: options_schema, line: (options) => submitLines("", "hello_world", {}, options).cli },
];

/** A value of every kind that the field takes. */
function samplesOf(schema: Schema): unknown[] {
  const { items = {}, properties = { "a name": {} }, minimum = 1, examples = ["a word"] } = schema;
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return alternatives.flatMap(samplesOf);
  if (schema.enum !== undefined) return [...schema.enum];
  switch (schema.type) {
    case "null":
      return [null];
    case "boolean":
      return [true, false];
    case "integer":
    case "number":
      return [minimum];
    case "array":
      return samplesOf(items).map((one) => [one]);
    case "object":
      return [Object.fromEntries(Object.entries(properties).map(([name, one = {}]) => [name, samplesOf(one)[0]]))];
    default:
      return [examples[0]];
  }
}

/** Its words and options, and what of them the command does not know. */
function readBy(program: Command, verb: VerbName, line: string) {
  const words = shellWords(line).slice(1);
  let command = program;
  while (true) {
    const next = command.commands.find((one) => one.name() === words[0]);
    if (next === undefined) break;
    command = next;
    words.shift();
  }
  const { operands, unknown } = command.exitOverride().parseOptions(words);
  const named = (verb_words[verb].cli ?? "").split(" ");
  const wanted = named.filter((word, place) => word.startsWith("{") && !named[place - 1]?.startsWith("--")).length;
  return { unknown, too_many: operands.slice(wanted), too_few: wanted - operands.length };
}

/** The samples need no other quoting than '…'. */
function shellWords(line: string): string[] {
  return Array.from(line.matchAll(/(?:'[^']*'|[^\s'])+/g), ([word]) => word.replaceAll("'", ""));
}

const fields = forms.flatMap((form) =>
  Object.entries(form.schema.properties ?? {}).flatMap(([field, schema]) =>
    schema === undefined ? [] : [{ form, verb: form.verb, field, schema }],
  ),
);

test.each(fields)("$verb with its field $field is a line that the program takes", ({ form, verb, field, schema }) => {
  const lines = samplesOf(schema).map((one) => form.line({ [field]: fromPlain(one) }));
  for (const line of lines) {
    const { program } = programWith({ cwd: process.cwd() } as never, {});
    expect({ line, ...readBy(program, verb, line) }).toEqual({ line, unknown: [], too_many: [], too_few: 0 });
  }
  expect(
    lines.some((line) => line !== form.line({})),
    "the line says nothing of the field",
  ).toBe(true);
});

test("every form of the dashboard is walked, but that of limits, whose line has pairs and no options", () => {
  const pages = fileURLToPath(new URL("../../dashboard/src/pages", import.meta.url));
  const shown = readdirSync(pages, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".tsx"))
    .flatMap((name) => readFileSync(join(pages, name), "utf8").split("<FormDialog").slice(1))
    .flatMap((form) => Array.from((/\sdoes=.*/.exec(form)?.[0] ?? "").matchAll(/"(\w+\.\w+)"/g), ([, verb]) => verb));
  const walked = fields.map(({ verb }) => verb as string);
  expect([...new Set(shown)].sort()).toEqual(
    [...new Set([...walked, "limits.change"])].filter((verb) => verb !== "jobs.submit").sort(),
  );
});
