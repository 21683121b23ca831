// What the form of a schedule asks for, as a schema, and its command line. Pure.
import { deadline_moments } from "../../../../src/core/declare/deadline.js";
import { formLine } from "../../form/form_lines.js";
import { isRecord, type Value } from "../../form/values.js";
import { retry_schema } from "../submit/options.js";

const missed_words =
  "What becomes of times that were missed because no server was running: one: a single job for all of them; skip: none; all: one job for each.";

/** The parameters are those of the chosen job type; a text that is exactly {{tick_at}} becomes the time. */
export function scheduleSchema(types: readonly string[], parameters: Record<string, unknown> | null, is_new: boolean) {
  const { $defs, $schema: _, ...own } = (parameters ?? {}) as { $defs?: unknown; $schema?: unknown };
  return {
    ...($defs === undefined ? {} : { $defs }),
    type: "object",
    additionalProperties: false,
    required: [...(is_new ? ["name"] : []), "cron", "job_type"],
    properties: {
      ...(is_new
        ? {
            name: {
              type: "string",
              pattern: "^[a-z0-9][a-z0-9_.\\-]*$",
              maxLength: 63,
              examples: ["morning"],
              description: "Small letters, digits and _ . -",
            },
          }
        : {}),
      cron: {
        type: "string",
        maxLength: 200,
        examples: ["30 6 * * 1-5"],
        description: "Minute, hour, day of month, month, day of week; a sixth field in front is seconds",
      },
      time_zone: {
        type: "string",
        maxLength: 64,
        default: "UTC",
        examples: ["Europe/Zurich"],
        description: "Summer time is followed",
      },
      job_type: types.length > 0 ? { enum: types } : { type: "string" },
      missed: { enum: ["one", "skip", "all"], default: "one", description: missed_words },
      description: { anyOf: [{ type: "string", maxLength: 500 }, { type: "null" }], description: "What it is for" },
      parameters: {
        ...own,
        ...(parameters === null ? { type: "object" } : {}),
        default: {},
        description: "Of its jobs. A text that is exactly {{tick_at}} becomes the time, ISO 8601.",
      },
      options: {
        type: "object",
        additionalProperties: false,
        description: "Of its jobs; the labels schedule and tick_at are added",
        properties: {
          priority: { type: "integer", minimum: -32768, maximum: 32767 },
          deadline_s: { anyOf: [{ type: "number", exclusiveMinimum: 0 }, { type: "null" }] },
          labels: { type: "object", additionalProperties: { type: "string" } },
          deadline_from: { enum: [...deadline_moments], default: "start" },
          correlation_id: { type: "string", maxLength: 200 },
          group_id: { type: "string", maxLength: 100 },
          retry: retry_schema,
        },
      },
    },
  };
}

/** The command line has the options of its jobs beside its own. */
export function scheduleLine(name: string, { options, ...own }: Readonly<Record<string, Value>>): string {
  return formLine("schedules.put", { name, ...own, ...(isRecord(options) ? options : {}) });
}
