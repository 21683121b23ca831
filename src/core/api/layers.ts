// Vector layers over HTTP, for their keepers: what there is, what each was, which rows were not taken, how it is drawn. Features
// and tiles are at /ogc. Pure.
import { z } from "zod";
import { endpointsOf } from "./endpoint.js";
import { actor, cursor, job_id, limit, record, time } from "./fields.js";

const layer_id = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,127}$/, "is not a layer's name: a-z, 0-9, _ and -")
  .describe("The layer's name, which is its collection's id at /ogc");
const box = z.array(z.number()).length(4).nullable().describe("West, south, east, north in degrees");

const colour = z
  .string()
  .regex(/^#[0-9a-f]{6}$/, "is not a colour: # and six of 0-9 and a-f")
  .meta({ examples: ["#0b5cad"] });

export const layer_style = z
  .strictObject({
    kind: z
      .enum(["single", "categories", "steps"])
      .describe("One colour, a colour for each value, or a colour from each number on"),
    column: z.string().min(1).max(63).nullable().default(null).describe("By which column; null for one colour"),
    colour: colour.describe("The colour of all features, or of those that no class covers"),
    classes: z
      .array(z.strictObject({ value: z.union([z.string().max(200), z.number(), z.boolean()]), colour }))
      .max(50)
      .default([])
      .describe("categories: a value. steps: a number, ascending; what is below the first has the colour of all"),
    opacity: z.number().min(0).max(1).default(0.7),
    width: z.number().min(0.25).max(20).default(1.5).describe("The width of lines and the radius of points, in pixels"),
  })
  .superRefine(({ kind, column, classes }, context) => {
    const wrong = (path: string[], message: string) => context.addIssue({ code: "custom", path, message });
    if ((kind === "single") !== (column === null))
      wrong(
        ["column"],
        kind === "single"
          ? "is for categories and steps"
          : "is missing: it names the column that the classes are made by",
      );
    if (kind === "single" && classes.length > 0) wrong(["classes"], "are for categories and steps");
    const numbers = classes.map(({ value }) => value);
    if (
      kind === "steps" &&
      !numbers.every((value, at) => typeof value === "number" && (at === 0 || value > Number(numbers[at - 1])))
    )
      wrong(["classes"], "of steps are numbers, each greater than the one before");
    if (new Set(numbers.map((value) => `${typeof value} ${value}`)).size < numbers.length)
      wrong(["classes"], "name a value twice");
  })
  .meta({ id: "LayerStyle" });

export type LayerStyle = z.output<typeof layer_style>;

const layer_record = z
  .object({
    name: z.string(),
    title: z.string().nullable(),
    description: z.string().nullable(),
    version: z.int(),
    feature_count: z.int(),
    rejected_count: z.int().describe("Rows that the job of this version did not take"),
    mode: z.string().nullable().describe("What made this version: create, replace, append or upsert"),
    extent: box,
    geometry_type: z.string().nullable(),
    srid: z.int().nullable(),
    time_column: z.string().nullable(),
    column_count: z.int(),
    job_id: z.string().nullable(),
    item_id: z.string().nullable(),
    collection: z.string().nullable().describe("The collection of its STAC item"),
    release: record.nullable(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Layer" });

const whole_layer = layer_record
  .extend({
    key_column: z.string(),
    columns: z.array(
      z.object({
        name: z.string(),
        type: z.string(),
        pg_type: z.string(),
        source_name: z.string().optional(),
        title: z.string().optional(),
      }),
    ),
    source: record,
    style: record.nullable().describe("As it was set, or as a load brought it"),
  })
  .meta({ id: "WholeLayer" });

const names = z.array(z.string());
const version_record = z.object({
  version: z.int(),
  mode: z.string(),
  feature_count: z.int(),
  rejected_count: z.int(),
  extent: box,
  geometry_type: z.string().nullable(),
  srid: z.int().nullable(),
  column_count: z.int(),
  columns_added: names.describe("Since the version before"),
  columns_removed: names,
  columns_changed: names.describe("Columns whose type is another than before"),
  release: record.nullable(),
  job_id: z.string().nullable(),
  readable: z.boolean().describe("Its table is there: what pages in it can go on"),
  created_at: time,
  retired_at: time.nullable(),
});

const reject = z.object({
  job_id: z.string(),
  layer: z.string(),
  chunk: z.int(),
  row_number: z.int().describe("In its source layer, from 1"),
  source: z.string(),
  code: z.string(),
  reason: z.string(),
  properties: record.nullable(),
  created_at: time,
});

const endpoint = endpointsOf({
  tag: "layers",
  scope: "read",
  errors: [404],
  params: { layer_id, column_name: z.string().min(1).max(63).describe("A column of the layer") },
});

export const layers_api = {
  list: endpoint("GET /api/layers", {
    cli: "layers",
    sql: "geo.list_layers",
    summary: "List vector layers by name",
    query: z.strictObject({
      search: z.string().min(1).max(200).optional().describe("A part of the name or the title"),
      limit,
      cursor,
    }),
    reply: z.object({ layers: z.array(layer_record), next: z.string().nullable() }),
  }),
  get: endpoint("GET /api/layers/{layer_id}", {
    cli: "layers show {layer_id}",
    sql: "geo.get_layer",
    summary: "One layer, with its columns, its style, and where it came from",
    reply: whole_layer,
  }),
  versions: endpoint("GET /api/layers/{layer_id}/versions", {
    cli: "layers versions {layer_id}",
    sql: "geo.list_layer_versions",
    summary: "What a layer was, newest first, and how its columns changed",
    description: "Also of a layer that was unpublished.",
    query: z.strictObject({
      limit,
      before: z.coerce
        .number()
        .int()
        .min(1)
        .max(1e15)
        .optional()
        .describe("Only versions before this one; `next` of the page before"),
    }),
    reply: z.object({ versions: z.array(version_record), next: z.int().nullable() }),
  }),
  rejects: endpoint("GET /api/layers/{layer_id}/rejects", {
    cli: "layers rejects {layer_id}",
    sql: "geo.list_layer_rejects",
    long: true,
    summary: "Rows that did not become features of a layer, and why",
    description: "Also of loads that failed, where no layer of this name is there.",
    query: z.strictObject({
      job_id: job_id.optional().describe("Only those that this job met; its whole id"),
      code: z.string().min(1).max(63).optional().describe("Only those with this reason, such as null_geometry"),
      limit,
      cursor,
    }),
    reply: z.object({
      rejects: z.array(reject),
      next: z.string().nullable(),
      codes: z.record(z.string(), z.int()).describe("How often each reason is there, in the first 10,000"),
      counted_all: z.boolean(),
    }),
  }),
  column: endpoint("GET /api/layers/{layer_id}/columns/{column_name}", {
    sql: "geo.summarise_column",
    long: true,
    summary: "What a column of a layer holds: its span, tenths of its numbers, its commonest values",
    description: "Above 100,000 features only a part is read, and `sampled` says so.",
    reply: z.object({
      name: z.string(),
      type: z.string(),
      sampled: z.boolean(),
      row_count: z.int().describe("Features that were read"),
      null_count: z.int(),
      distinct_count: z.int().nullable(),
      least: z.union([z.number(), z.string()]).nullable(),
      most: z.union([z.number(), z.string()]).nullable(),
      tenths: z.array(z.number()).nullable().describe("For numbers: the least, nine between, and the greatest"),
      values: z.array(z.object({ value: z.string(), count: z.int() })).describe("The commonest, as text; 50 at most"),
    }),
  }),
  set_style: endpoint("PUT /api/layers/{layer_id}/style", {
    cli: "layers style {layer_id}",
    sql: "geo.set_layer_style",
    scope: "submit",
    summary: "Set how a layer is drawn, for everybody; null takes the style away",
    description: "It stays when the layer is replaced. A column that a later version lacks is not drawn by.",
    body: z.strictObject({ style: layer_style.nullable(), actor }),
    reply: whole_layer,
  }),
};
