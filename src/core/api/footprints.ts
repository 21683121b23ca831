// Where the tasks of a stage are on the globe, over HTTP: few enough to be drawn one by one, or a grid that counts them. Pure.
import { z } from "zod";
import { footprint_letters, footprint_states } from "../shown/footprints.js";
import { stage_statuses } from "../shown/statuses.js";
import { endpointsOf } from "./endpoint.js";
import { job_id, stage } from "./fields.js";

/** More boxes than that come as a grid. */
export const most_boxes = 20_000;

const bbox = z
  .string()
  .max(200)
  .regex(/^\s*-?\d+(\.\d+)?(\s*,\s*-?\d+(\.\d+)?){3}\s*$/, "expected west,south,east,north in degrees")
  .meta({ examples: ["5.9,45.8,10.5,47.8"] });
const ordinals = z
  .string()
  .max(6000)
  .regex(/^\d{1,12}(-\d{1,12})?(,\d{1,12}(-\d{1,12})?)*$/, "expected ordinals and ranges of them, such as 0-99,120")
  .meta({ examples: ["0-99,120"] });
const box = z
  .array(z.number())
  .length(4)
  .describe("West, south, east, north in degrees; west > east crosses the antimeridian");
const steps = z.array(z.number()).describe("Each is the difference from the one before");
const etag = { ETag: "Changes when the answer does; send it as If-None-Match" };

const packed_boxes = z
  .object({ ordinal: steps, west: steps, south: steps, east: steps, north: steps })
  .describe("In columns; edges in degrees times `scale`");

const bins = z
  .object({
    grid: z.object({
      west: z.number(),
      south: z.number(),
      width: z.number().describe("The size of a bin, in degrees"),
      height: z.number(),
      columns: z.int(),
      rows: z.int(),
    }),
    column: z.array(z.int()),
    row: z.array(z.int()),
    counts: z.array(z.array(z.int())).describe(`Tasks in each bin, by state: ${footprint_states.join(", ")}`),
    selected: z.array(z.int()).describe("How many tasks of each bin `selected` names; empty when it names none"),
  })
  .describe("Only bins that hold something; a task is in the bin of the middle of its box");

export const footprints = z
  .object({
    job_id: z.string(),
    stage_id: z.int(),
    stage: z.string(),
    status: z.enum(stage_statuses),
    total: z.int().describe("Tasks of the stage; 0 until it is planned"),
    with_box: z.int().describe("Tasks that have a box, planned or in their result"),
    planned: z.int().describe("How many of these are planned"),
    unusable: z.int().describe("Boxes left out because they are none on the globe"),
    unread: z.int().describe("Results that have not been opened yet: ask again"),
    in_view: z.int().describe("Boxes that touch the view"),
    extent: box.nullable().describe("Bounds of all boxes"),
    counts: z.array(z.int()).describe(`Boxes by state: ${footprint_states.join(", ")}`),
    since: z.string().describe("Send it with the next call: boxes that are known are not sent again"),
    kind: z.enum(["boxes", "bins"]),
    scale: z.number(),
    from: z.int().describe("How many boxes the caller has already"),
    boxes: packed_boxes.nullable().describe("The others, in the order they came"),
    states: z
      .string()
      .describe(
        `The state of each box, from the first on: ${footprint_letters} for ${footprint_states.join(", ")}; with how often it follows`,
      ),
    retried: z
      .array(z.array(z.int()).length(2))
      .describe("[which box, attempt] of those beyond their first; at most 5,000"),
    bins: bins.nullable(),
    selected: z
      .object({ count: z.int(), extent: box.nullable() })
      .nullable()
      .describe("Boxes of the tasks that `selected` names"),
  })
  .meta({ id: "Footprints" });

const endpoint = endpointsOf({ tag: "tasks", scope: "read", params: { job_id } });

export const footprints_api = {
  footprints: endpoint("GET /api/jobs/{job_id}/footprints", {
    long: true,
    summary: "Where the tasks of a stage are on the globe, and how they stand",
    description:
      `The box that was planned for a task, else the \`bbox\` of its result. Up to ${most_boxes.toLocaleString("en")} come one by one; of ` +
      "more, a grid that counts them by status, unless `bbox` names a view that holds fewer.",
    query: z.strictObject({
      stage,
      bbox: bbox.optional().describe("The view: west,south,east,north; only asked for where there are many boxes"),
      since: z.string().max(200).optional().describe("As the answer before has it"),
      selected: ordinals
        .optional()
        .describe("Tasks to be shown as selected: ordinals and ranges, the last one included"),
    }),
    headers: z.object({ "if-none-match": z.string().optional() }),
    reply: footprints,
    other_answers: { 304: { description: "It is what If-None-Match names", headers: etag } },
    errors: [404],
  }),
  within: endpoint("GET /api/jobs/{job_id}/footprints/tasks", {
    long: true,
    summary: "Which tasks of a stage touch an area",
    query: z.strictObject({
      stage,
      bbox: bbox.describe("west,south,east,north; west > east crosses the antimeridian"),
    }),
    reply: z.object({
      stage_id: z.int(),
      count: z.int(),
      ranges: z.array(z.array(z.int()).length(2)).describe("Ordinals [first, behind the last), ascending"),
    }),
    errors: [404],
  }),
};
