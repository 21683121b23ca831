// A stage as a whole over HTTP: all its tasks as cells of a few bytes, and what is done about a selection of them. Pure.
import { z } from "zod";
import { endpointsOf } from "./endpoint.js";
import { job_id, stage, told, verb } from "./fields.js";
import { repaired } from "./operation_records.js";

const range = z
  .array(z.int().min(0).max(Number.MAX_SAFE_INTEGER))
  .length(2)
  .refine(([lo, hi]) => lo! < hi!, "a range is [from, to): the second number is the larger one")
  .meta({ examples: [[0, 100]] });
/** The cells of a stage are 20,000 at most: every second one chosen is as many ranges as there can be. */
const ranges = z
  .array(range)
  .min(1)
  .max(10_000)
  .describe("Ordinals of tasks: [from, to) each, the last not among them");

const selected = {
  stage: z.string(),
  stage_id: z.int(),
  selected: z.int().describe("Tasks that the ranges name"),
  touched: z.record(z.string(), z.int()).describe("How many of each status it does something about"),
  left: z
    .array(z.object({ reason: z.string(), tasks: z.int(), text: z.string() }))
    .describe("How many stay as they are, and why"),
};

export const retried_tasks = repaired.extend(selected).meta({ id: "RetriedTasks" });
export const skipped_tasks = z
  .object({ job_id: z.string(), tasks: z.int().describe("How many tasks are skipped"), ...selected, ...told })
  .meta({ id: "SkippedTasks" });

const endpoint = endpointsOf({ tag: "tasks", scope: "operate", params: { job_id, stage } });

export const cells_api = {
  read: endpoint("GET /api/jobs/{job_id}/stages/{stage}/cells", {
    long: true,
    summary: "All tasks of a stage as cells of four bytes, for a heat map",
    description:
      "The length of a header (32 bits, little-endian), the header as JSON, then four columns with one byte per cell: status " +
      "(its place in `statuses` of the header, from best to worst), duration (0: none; else 2 ^ ((class - 1) / " +
      "`steps_per_doubling`) ms), highest attempt, worker (0: none; a place in `workers` counted from 1; 255: several). One cell " +
      "per task up to 20,000; above that a cell stands for `tasks_per_cell` tasks and shows the worst of them. At most 150 KB. " +
      "With If-None-Match it is sent again only when something has changed; `fanfold/client` reads it with `cells`.",
    scope: "read",
    headers: z.object({ "if-none-match": z.string().optional() }),
    reply: z.unknown().describe("Header and columns"),
    media_type: "application/octet-stream",
    other_answers: { 304: { description: "As the ETag says" } },
  }),
  retry: endpoint("POST /api/jobs/{job_id}/stages/{stage}/tasks/retry", {
    cli: "retry {job_id} --stage {stage} --tasks {ranges}",
    sql: { name: "retry_tasks", named: { status: "statuses" } },
    summary: "Run a selection of a stage's tasks again, and what follows them",
    description:
      "For an ended job: those of the ranges that failed, were skipped or never ran. All of them or none; `left` says what stays " +
      "as it is, and why.",
    body: verb.extend({
      ranges,
      status: z
        .array(z.enum(["failed", "skipped", "cancelled"]))
        .min(1)
        .max(3)
        .optional()
        .describe("Only those that stand there"),
    }),
    reply: retried_tasks,
    errors: [409],
  }),
  skip: endpoint("POST /api/jobs/{job_id}/stages/{stage}/tasks/skip", {
    cli: "skip {job_id} --stage {stage} --tasks {ranges}",
    sql: { name: "skip_tasks", named: { status: "statuses" } },
    summary: "Skip a selection of a stage's tasks: they count as done without a result",
    description:
      "Those of the ranges that wait, failed or never ran; with the status `processing`, those that run too. All of them or none; " +
      "`left` says what stays as it is, and why.",
    body: verb.extend({
      ranges,
      status: z
        .array(z.enum(["queued", "processing", "failed", "cancelled"]))
        .min(1)
        .max(4)
        .optional()
        .describe("Only those that stand there"),
      reason: z.string().trim().min(1).max(1000).describe("Why, for the record"),
    }),
    reply: skipped_tasks,
    errors: [409],
    repeatable: true,
  }),
};
