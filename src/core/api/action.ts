// A next step as data; src/core/shown/action.ts words it. Pure.
import { z } from "zod";

export const action = z
  .object({
    verb: z.string().describe("What to do, e.g. resume, tasks.retry or groups.seal"),
    job_id: z.string().optional(),
    stage: z.string().optional(),
    task_id: z.string().optional(),
    task_type: z.string().optional(),
    signature: z.string().optional(),
    group_id: z.string().optional(),
    name: z.string().optional(),
    endpoint_id: z.string().optional(),
    run_at: z.string().optional(),
    reason: z.string().optional(),
    memory: z.number().optional(),
    request_id: z.string().optional(),
  })
  .meta({ id: "Action", description: "A next step as data: a verb, and what it is about" });
