// One verb for all jobs that fit a filter, page by page. Pure.
import { z } from "zod";
import { endpointsOf } from "./endpoint.js";
import { actor, cursor, dry_run, job_type, moment, reason, task_type, time } from "./fields.js";
import { job_query_fields } from "./job_query.js";

export const bulk_actions = ["cancel", "pause", "continue", "resume"] as const;
export type BulkAction = (typeof bulk_actions)[number];

const some = z.array(
  z.object({
    kind: z.string().describe("The code of the refusal"),
    message: z.string().describe("The refusal of one of them"),
    jobs: z.int(),
    job_id: z.string().describe("One of them"),
  }),
);

const endpoint = endpointsOf({ tag: "operations", scope: "operate" });

export const job_bulk_api = {
  bulk: endpoint("POST /api/jobs/bulk", {
    summary: "Cancel, pause, continue or resume all jobs that fit a filter",
    description:
      "A dry run counts what would be touched and gives the moment `before` which those jobs were created. A real run touches at most " +
      "200 jobs a call, each by its own verb and in its own transaction, newest first, and gives `next`: send it as `cursor` until it is " +
      "null. Jobs created after the first call are left alone. Sent twice it touches nothing twice.",
    body: z.strictObject({
      action: z.enum(bulk_actions),
      filter: z.strictObject(job_query_fields).default({}).describe("As GET /api/jobs takes it"),
      job_ids: z
        .array(
          z
            .string()
            .regex(/^[0-9a-f]{64}$/, "is not a whole job id")
            .meta({ examples: ["5d41402abc4b2a76b9719d911017c5925d41402abc4b2a76b9719d911017c592"] }),
        )
        .min(1)
        .max(1000)
        .optional()
        .describe("These and no others, in place of a filter"),
      before: moment
        .optional()
        .describe("`before` of the dry run: jobs created later are left alone. Required for a real run by a filter"),
      dry_run,
      reason,
      actor,
      cursor,
    }),
    reply: z.object({
      action: z.enum(bulk_actions),
      dry_run: z.boolean(),
      before: time,
      touched: z.int().describe("Jobs that were changed, or in a dry run would be"),
      at_least: z.boolean().describe("In a dry run: there may be more"),
      skipped: some.describe("Jobs that were not as the action needs them, by the reason"),
      failed: some.describe("Jobs of which something went wrong: try again"),
      next: z.string().nullable(),
    }),
    errors: [409],
    repeatable: true,
  }),
  redrive: endpoint("POST /api/tasks/redrive", {
    cli: "tasks redrive",
    summary: "Run failed tasks that fit a filter again, now or later",
    description:
      "Tasks that stand alone, and tasks of jobs that ended failed or as a partial success: each such job gets a new epoch, as by retry. A call looks " +
      "at 1,000 lone failures or 200 jobs, newest first, and gives `next`: send it as `cursor` with the same `before` until it is null. What " +
      "failed at `before` or later is left alone, so that nothing runs again twice. A dry run counts.",
    body: z.strictObject({
      filter: z
        .strictObject({
          task_type: task_type.optional(),
          job_type: job_type.optional().describe("Only tasks of jobs of this type"),
          signature: z.string().min(1).max(64).optional().describe("The error group, as errors and failures show it"),
          failed_after: moment.optional(),
          failed_before: moment.optional(),
        })
        .default({})
        .describe("At least one of them for a run that is not dry"),
      run_at: moment.optional().describe("Not before this time; at once when left out"),
      before: moment.optional().describe("`before` of the first call, with its `next`"),
      dry_run,
      reason,
      actor,
      cursor,
    }),
    reply: z.object({
      dry_run: z.boolean(),
      before: time,
      tasks: z.int().describe("Tasks that run again, or in a dry run would"),
      jobs: z.int().describe("Jobs of which some do"),
      skipped: some.describe("Jobs that were not as this needs them, by the reason"),
      failed: some.describe("Jobs of which something went wrong: try again"),
      next: z.string().nullable(),
    }),
    errors: [409],
  }),
};
