// A task looked at closely: its logs page by page, one of its values as stored, and what it came from and led to. Pure.
import { z } from "zod";
import { endpointsOf } from "./endpoint.js";
import { task_id, time } from "./fields.js";
import { task_status } from "./task_records.js";

export const log_levels = ["debug", "info", "warn", "error"] as const;
export const task_values = ["parameters", "metadata", "result", "next_stage_params", "deliverables"] as const;

const line_id = z
  .string()
  .regex(/^\d{1,18}$/, "is not a valid cursor: pass `older` or `newer` of the previous page unchanged")
  .meta({ examples: ["17"] })
  .optional();

const log_line = z
  .object({
    log_id: z.int(),
    at: time,
    attempt: z.int(),
    level: z.enum(log_levels),
    message: z.string(),
    data: z.unknown(),
  })
  .meta({ id: "LogLine" });

const link = z
  .object({
    stage_id: z.int(),
    stage: z.string(),
    number: z.int(),
    task_type: z.string(),
    stage_status: z.string(),
    how: z
      .enum(["task", "batch", "all", "plan", "unplanned"])
      .describe(
        "task: one by one, by index or parent; batch: a slice of the stage; all: everything the stage has; plan: a planner made tasks of it; unplanned: there are no tasks yet",
      ),
    tasks: z.int(),
    counts: z
      .object({
        completed: z.int(),
        failed: z.int(),
        skipped: z.int(),
        open: z.int().optional(),
        cancelled: z.int().optional(),
      })
      .nullable()
      .describe("null: they are too many to count"),
    first: z.array(
      z.object({
        task_id: z.string(),
        ordinal: z.int(),
        index: z.string(),
        status: task_status,
        attempt: z.int().nullable(),
        duration_ms: z.int().nullable(),
        finished_at: time.nullable(),
      }),
    ),
  })
  .meta({ id: "LineageLink" });

const endpoint = endpointsOf({ tag: "tasks", scope: "read", params: { task_id } });

export const task_details_api = {
  logs: endpoint("GET /api/tasks/{task_id}/logs", {
    long: true,
    summary: "What a task logged, page by page",
    description:
      "Oldest first, and without `after` or `before` the newest page. Pass `older` as `before` for what came earlier, and `newer` as `after`, again " +
      "and again, for what is logged next. A page looks at 20,000 lines at most: with a text that few lines have it may be short and have `more`.",
    query: z.strictObject({
      attempt: z.coerce.number().int().min(1).max(32_767).optional(),
      level: z.enum(log_levels).optional().describe("At least so grave"),
      q: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe("Lines with this text, in the message or its data; case does not matter"),
      after: line_id.describe("`newer` of the page before"),
      before: line_id.describe("`older` of the page before"),
      limit: z.coerce.number().int().min(1).max(1000).default(200).describe("Rows of a page"),
    }),
    reply: z.object({
      task_id: z.string(),
      lines: z.array(log_line),
      looked_at: z.int(),
      older: z.string().nullable(),
      newer: z.string(),
      more: z.boolean(),
    }),
  }),
  value: endpoint("GET /api/tasks/{task_id}/value", {
    summary: "One value of a task as it is stored, as a file",
    description:
      "JSON in which every number is written as it was stored. A result that was too large for the database comes from storage.",
    query: z.strictObject({ of: z.enum(task_values) }),
    reply: z.unknown().describe("The value"),
    errors: [404],
  }),
  lineage: endpoint("GET /api/tasks/{task_id}/lineage", {
    sql: "task_lineage",
    long: true,
    summary: "Whose results a task was given, and which tasks take its own",
    reply: z.object({
      task_id: z.string(),
      job_id: z.string().nullable(),
      stage: z.string(),
      parallelism: z.string(),
      up: z.array(link),
      down: z.array(link),
    }),
  }),
};
