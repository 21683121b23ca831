// The one shape of errors over HTTP: RFC 9457, with all problems at once. Pure.
import { z } from "zod";

export const problem_media_type = "application/problem+json";

export const problem_schema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  /** Which of our errors it is; stable, unlike the words. */
  code: z.string(),
  request_id: z.string(),
  /** What is wrong, for clients of the STAC API: the detail and the problems in one text. Only below /stac. */
  description: z.string().optional(),
  /** What to do. */
  hint: z.string().optional(),
  problems: z.array(z.object({ path: z.string(), problem: z.string(), fix: z.string() })).optional(),
  retry_after_s: z.number().optional(),
});
export type ProblemDetails = z.output<typeof problem_schema>;
