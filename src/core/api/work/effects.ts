// What a worker over HTTP may have written together with the finish of a task: declared, never SQL. A tenant's key can do with these what
// that tenant may do anyway, and nothing else. Pure.
import { z } from "zod";
import { zone_names } from "../../places/zones.js";
import { priority, record, task_type } from "../fields.js";

export const max_effects = 100;
/** The most `enqueue` effects of a task, all together. */
export const max_enqueued = 1000;

const whole = z.int().min(0);
export const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/, "is no SHA-256: 64 digits of 0-9 and a-f")
  .meta({ examples: ["2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"] });
const zone = z.enum(zone_names);
const key = z.string().min(1).max(1024);
export const zone_file = z.strictObject({ zone, key });
const collection = z.string().min(1).max(256);

const asset = {
  zone,
  key,
  bytes: whole,
  sha256,
  media_type: z.string().min(1).max(200),
};

export const effect = z.discriminatedUnion("effect", [
  z
    .strictObject({ effect: z.literal("publish"), ...asset })
    .describe("Others see the file that this attempt has uploaded; key as `files` gave it"),
  z.strictObject({ effect: z.literal("adopt"), ...asset }).describe("Records a file that was there already"),
  z
    .strictObject({ effect: z.literal("retract"), zone, key, remove_adopted: z.boolean().default(false) })
    .describe("The file is no longer visible; one that a worker published is removed"),
  z
    .strictObject({ effect: z.literal("put_items"), collection, items: z.array(record).min(1).max(1000) })
    .describe("STAC items, inserted or replaced by id"),
  z
    .strictObject({ effect: z.literal("delete_items"), collection, ids: z.array(z.string().min(1)).min(1).max(1000) })
    .describe("STAC items by id"),
  z
    .strictObject({ effect: z.literal("put_collection"), collection: record, replace: z.boolean().default(false) })
    .describe("A STAC collection; one that is there stays as it is, unless `replace`"),
  z
    .strictObject({
      effect: z.literal("enqueue"),
      task_type,
      tasks: z
        .array(z.strictObject({ parameters: record, key: z.string().min(1).max(200).optional() }))
        .min(1)
        .max(max_enqueued),
      priority: priority.optional(),
      delay_s: z.number().min(0).max(31_536_000).optional(),
    })
    .describe("Lone tasks; `key` makes a task one that is enqueued but once"),
]);

export type Effect = z.output<typeof effect>;
export type EffectKind = Effect["effect"];
export const effect_kinds = effect.options.map((option) => option.shape.effect.value) as EffectKind[];
