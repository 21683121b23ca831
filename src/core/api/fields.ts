// Fields that several endpoints share. Pure.
import { z } from "zod";
import { composed_rule, isComposed, shown_lines_pattern, shown_name_pattern, shown_rule } from "../declare/names.js";
import { retry_limits } from "../declare/retry.js";

/** A whole id, or the beginning of one that is unambiguous. */
export const job_id = z
  .string()
  .regex(/^[0-9a-f]{4,64}$/, "is not a job's id: at least 4 characters of 0-9 and a-f, as submit returned it")
  .describe("The job's id, or at least its first 4 characters where that is unambiguous");
export const task_id = z
  .string()
  .max(300)
  .regex(
    /^(\d{1,18}-\d{1,18}|[0-9a-f]{4,64}\/[^/]{1,63}\/.{1,200})$/,
    "is not a task's id: two numbers, such as 12-0, or <job>/<stage>/<index>",
  )
  .describe(
    "The task's id, such as 12-0; or <job>/<stage>/<index> with %2F between them, such as 3f2a9c%2Fgreeting%2Fgreeting-0",
  );
/** The last task of a page, where the next page begins. */
export const task_cursor = z.string().regex(/^\d{1,18}-\d{1,18}$/, "is not `next` of the page before");
export const job_type = z.string().min(1).max(63);
export const task_type = z.string().min(1).max(63);
export const time = z.string().describe("A time, ISO 8601");
/** From the query, where everything is text. */
export const limit = z.coerce.number().int().min(1).max(1000).default(50).describe("Rows of a page");
export const cursor = z.string().max(200).optional().describe("`next` of the page before, unchanged");
export const flag = z.enum(["true", "false"]).transform((text) => text === "true");

/** One line that people type and read, in any script: nothing in it that cannot be seen, letters composed (NFC). */
const shown = z.string().regex(shown_name_pattern, shown_rule).refine(isComposed, composed_rule);
export const shownName = (most: number) => shown.trim().min(1).max(most);
/** A description that people type and read; it may have lines. */
export const shownLines = (most: number) => z.string().max(most).regex(shown_lines_pattern, shown_rule);

/** Who asks, when that is a person behind the key. */
export const actor = shownName(120).optional().describe("Who asks, for the record: added to the key's name");
export const reason = z.string().max(1000).optional().describe("Why, for the record");
export const dry_run = z.boolean().default(false).describe("Count what it would touch, and change nothing");
/** Whatever JSON there is. */
export const json = z.unknown();
export const record = z.record(z.string(), z.unknown());

/** A moment that Postgres, JavaScript and Python can all hold; given with its offset, kept in UTC. */
export const moment = z.iso
  .datetime({ offset: true })
  .refine(
    (text) => /^\d{4}-/.test(utc(text)) && !utc(text).startsWith("0000"),
    "is not a moment of the years 1 to 9999",
  )
  .transform(utc);

function utc(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString();
}

/** How failed tasks are tried again. */
export const retry = z
  .strictObject({
    attempts: z
      .int()
      .min(retry_limits.attempts.least)
      .max(retry_limits.attempts.most)
      .optional()
      .describe("Attempts at most; without within_s this number alone decides"),
    base_s: wait("base_s").describe("The first wait; each is twice the one before. 1 when left out"),
    cap_s: wait("cap_s").describe("The longest wait; 60 when left out"),
    within_s: wait("within_s").describe(
      "Seconds from the first failure in which it is tried again, waits included; when left out, the kind of failure decides",
    ),
  })
  .describe("How failed tasks are tried again; what is left out is decided by the stage, the handler, and what failed");

/** Settings of single stages of a job, by name. */
export const stage_options = z
  .record(
    z.string().min(1).max(63),
    z.strictObject({
      failure_budget: z
        .union([
          z.strictObject({ count: z.int().min(0).max(1_000_000_000) }),
          z.strictObject({ percent: z.number().min(0).max(100) }),
        ])
        .optional()
        .describe("How many of its tasks may fail"),
      max_parallel: z.int().min(1).max(1_000_000).optional().describe("How many of its tasks run at once"),
      max_attempts: z.int().min(1).max(10_000).optional().describe("The same as retry.attempts"),
      retry: retry.optional(),
    }),
  )
  .describe("Settings of single stages, as far as the blueprint allows")
  .meta({ examples: [{ tiles: { max_parallel: 8, failure_budget: { percent: 5 } } }] });

function wait(key: "base_s" | "cap_s" | "within_s") {
  return z.number().min(retry_limits[key].least).max(retry_limits[key].most).optional();
}

export const priority = z.int().min(-32768).max(32767).describe("Higher runs first; 0 is usual");
export const stage = z.string().min(1).max(63).describe("A stage, by name or number");
export const labels = z.record(shown.min(1).max(100), shown.max(1000)).meta({ examples: [{ team: "hydro" }] });

/** What every verb of an operator takes; the body may be left out. */
export const verb = z.strictObject({ reason, actor, dry_run });
/** What every such verb tells, besides what it is about. */
export const told = { dry_run: z.boolean(), changed: z.boolean() };

/** Several words of a closed list, with commas between them. */
export function several<const Word extends string>(words: readonly [Word, ...Word[]]) {
  const one = words.join("|");
  return z
    .string()
    .regex(
      new RegExp(`^(${one})(,(${one}))*$`),
      `expected one or more of ${words.join(", ")}, with commas between them`,
    )
    .meta({ examples: [words[0], words.slice(0, 2).join(",")] })
    .transform((text) => [...new Set(text.split(","))] as Word[]);
}
