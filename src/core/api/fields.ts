// Fields that several endpoints share. Pure.
import { z } from "zod";

/** A whole id, or the beginning of one that is unambiguous. */
export const job_id = z
  .string()
  .regex(/^[0-9a-f]{4,64}$/)
  .describe("The job's id, or at least its first 4 characters where that is unambiguous");
export const task_id = z
  .string()
  .regex(/^\d{1,18}-\d{1,18}$/)
  .describe("The task's id: stage and ordinal");
export const job_type = z.string().min(1).max(63);
export const task_type = z.string().min(1).max(63);
export const time = z.string().describe("A time, ISO 8601");
/** From the query, where everything is text. */
export const limit = z.coerce.number().int().min(1).max(1000).default(50).describe("Rows of a page");
export const cursor = z.string().max(200).optional().describe("`next` of the page before, unchanged");
export const flag = z.enum(["true", "false"]).transform((text) => text === "true");
/** Who asks, when that is a person behind the key. */
export const actor = z
  .string()
  .min(1)
  .max(120)
  .optional()
  .describe("Who asks, for the record: added to the key's name");
export const reason = z.string().max(1000).optional().describe("Why, for the record");
export const dry_run = z.boolean().default(false).describe("Count what it would touch, and change nothing");
/** Whatever JSON there is. */
export const json = z.unknown();
export const record = z.record(z.string(), z.unknown());
