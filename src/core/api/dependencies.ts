// Submit options of jobs that depend on others or belong to a group, for every endpoint that submits: spread them. Pure.
import { z } from "zod";

/** A whole id: what a job depends on must not be ambiguous tomorrow. */
const whole_job_id = z
  .string()
  .regex(/^[0-9a-f]{64}$/, "not a whole job id")
  .meta({ examples: ["0".repeat(64)] });

export const group_id = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$/, "letters, digits and . _ : - in at most 100 characters")
  .describe("The group's id, a word of yours");

export const dependency_options = {
  depends_on: z
    .array(whole_job_id)
    .max(1000)
    .optional()
    .describe("Jobs that must have ended well before anything of this one starts"),
  on_dependency_failure: z
    .enum(["cancel", "run"])
    .optional()
    .describe("When one of them does not end well: cancel this one (usual), or run it all the same"),
  require: z
    .enum(["success", "completed"])
    .optional()
    .describe("success (usual): a partial success is enough; completed: it is not"),
  group_id: group_id.optional().describe("The group the job belongs to; it opens when it is first named"),
};

/** A job that another depends on, as its status shows it. */
export const dependency_record = z
  .object({
    job_id: z.string(),
    job_type: z.string().nullable(),
    status: z.string().nullable(),
    needs: z.enum(["success", "completed", "end"]),
    satisfied_at: z.string().nullable(),
  })
  .meta({ id: "Dependency" });
