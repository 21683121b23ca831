// What can be asked of jobs: the same fields for the list, the counts and whatever is done to all that fit. Pure.
import { z } from "zod";
import { filter_limits } from "../shown/job_filter.js";
import { readLabels } from "../shown/job_filter_query.js";
import { splitWords } from "../shown/job_filter_text.js";
import { job_statuses } from "../shown/statuses.js";
import { flag, moment, several } from "./fields.js";

const whole = z.coerce.number().int().min(-32768).max(32767);

export const job_query_fields = {
  q: z
    .string()
    .max(1000)
    .meta({ examples: ["tile", '"north sea" hydro'] })
    .transform(splitWords)
    .refine((words) => words.length <= filter_limits.words, `has more than ${filter_limits.words} words`)
    .optional()
    .describe(
      "Words, with spaces between them and quotes to keep some together: each begins the id, or stands in the type, a label, the " +
        "correlation id, the group or the error. Looked for in the newest jobs first, page by page",
    ),
  status: several(job_statuses).optional().describe("One or several, with commas between them"),
  type: z
    .string()
    .min(1)
    .max(1300)
    .regex(/^[^,]{1,63}(,[^,]{1,63}){0,19}$/, "expected one to twenty types, with commas between them")
    .meta({ examples: ["hello_world", "hello_world,file_digest"] })
    .transform((text) => [...new Set(text.split(","))])
    .optional()
    .describe("One or several, with commas between them"),
  label: z
    .string()
    .max(4000)
    .meta({ examples: ["team:hydro", "team:hydro,year:2030", "team"] })
    .transform((text, context) => {
      const read = readLabels(text);
      if (read !== null && Object.keys(read.labels).length + read.label_keys.length <= filter_limits.labels)
        return read;
      context.addIssue({
        code: "custom",
        message: `expected key:value, or key, at most ${filter_limits.labels} with commas between them`,
      });
      return z.NEVER;
    })
    .optional()
    .describe(
      "key:value, or key alone; all of several, with commas between them. A comma, colon or backslash of their own has a backslash before it",
    ),
  id: z
    .string()
    .regex(/^[0-9a-f]{4,64}$/, "is not the beginning of an id: at least 4 characters of 0-9 and a-f")
    .optional()
    .describe("The beginning of the id, at least 4 characters"),
  error: z.string().min(2).max(200).optional().describe("Text in the error of jobs that did not end well"),
  correlation_id: z.string().min(1).max(200).optional(),
  group_id: z.string().min(1).max(200).optional(),
  created_after: moment.optional(),
  created_before: moment.optional(),
  finished_after: moment.optional(),
  finished_before: moment.optional(),
  priority_from: whole.optional(),
  priority_to: whole.optional(),
  paused: flag.optional().describe("It is paused, or not"),
  waiting: flag.optional().describe("It waits for other jobs, or not"),
  approval: flag.optional().describe("true: a stage of it waits for a person"),
  retrying: flag.optional().describe("true: it is under way, and something of it is tried again or waits to be"),
};

const job_query = z.strictObject(job_query_fields);
export type JobFilterQuery = z.output<typeof job_query>;
