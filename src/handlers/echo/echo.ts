// echo.give: gives back its inputs after a pause. Its result says what it is field by field, so that each is an output of the process.
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { defineHandler } from "../../core/declare/declare.js";

export const longest_pause_s = 20;

const base64 = z
  .string()
  .max(200_000)
  .regex(/^[A-Za-z0-9+/]*={0,2}$/, "is not base64")
  .meta({ contentMediaType: "application/octet-stream", contentEncoding: "base64" });

const bbox = z.object({
  bbox: z.array(z.number()).min(4).max(6),
  crs: z.string().max(300).default("http://www.opengis.net/def/crs/OGC/1.3/CRS84").meta({ format: "uri" }),
});

/**
 * The first is a text: test suites look at the first input, and at the output of the same name. The first object is one of any fields: they send
 * it fields of their own.
 */
export const echo_fields = {
  text: z.string().max(100_000).optional().describe("A text"),
  number: z.number().optional().describe("A number"),
  flag: z.boolean().optional().describe("true or false"),
  list: z.array(z.string().max(10_000)).max(1000).optional().describe("A list of texts"),
  measure: z
    .union([z.number(), z.string().max(100)])
    .optional()
    .describe("A number, or a text that says it"),
  object: z.record(z.string().max(200), z.unknown()).optional().describe("An object of any fields"),
  box: bbox.optional().describe("A bounding box"),
  bytes: base64.optional().describe("Bytes, as base64"),
};

export const echoGive = defineHandler(
  "echo.give",
  {
    parameters: z.object({ ...echo_fields, pause: z.number().optional() }),
    result: z.object(echo_fields),
    timeout_s: 30,
  },
  async ({ pause = 0, ...given }, ctx) => {
    await sleep(pause * 1000, undefined, { signal: ctx.signal });
    return given;
  },
);
