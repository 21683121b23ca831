// stack_bands: files that each hold one band of the same place become one COG with all of them, as for flood depths by return
// period: 15,392 files of 8 return periods are 1,924 stacks.
//
//   inventory → group → stack ×N → register (by hundreds) → publish
//
// What goes wrong, and what then happens:
//   no file fits the pattern                   the job fails at group, and shows names that did not fit
//   a group lacks a band                       incomplete=refuse: the job fails at group and names every gap; skip: the group is left
//                                              out and told; allow: it is stacked with the bands there are
//   the files of a group differ in size,       its task fails, up to half of the groups: partial_success, and the others are registered; resume
//                                              repeats those only. --stage-option stack.failure_budget.percent=90 allows more
//   place or type, or one is broken
//   the catalogue cannot be written            partial_success: the COGs are there and usable; resume registers them
import { z } from "zod";
import { defineJob } from "../core/declare/declare.js";
import { compileNamePattern } from "../geo/name_pattern.js";
import type { BandGroups } from "../handlers/raster/handlers/group_bands.js";
import {
  cog_fields,
  collection_fields,
  crossChecks,
  name_pattern,
  overwrite_field,
  source_fields,
  time_fields,
  zone_prefix,
} from "../handlers/raster/settings.js";
import { any_share, catalog_stages } from "./catalog_stages.js";

const { bands: _bands, band_names: _band_names, ...stack_source_fields } = source_fields;

/** Names in braces become properties of the items. */
const own_properties = [
  "datetime",
  "start_datetime",
  "end_datetime",
  "created",
  "updated",
  "title",
  "description",
  "gsd",
];

export const stackBands = defineJob({
  type: "stack_bands",
  description: "Single-band files, grouped by their names, into multi-band COGs and STAC items",
  parameters: z
    .object({
      prefix: zone_prefix.describe("where the files are, such as bronze:fathom/civ/"),
      pattern: name_pattern.describe(
        "how the files are called below the prefix, such as {kind}_{year}_{return_period}_{tile}.tif; each name in braces takes as little as it can and no /, or only :digits, :letters, :word or one of a|b",
      ),
      band: z
        .string()
        .min(1)
        .max(63)
        .describe("the name in braces that distinguishes the bands of a group; the others name the group"),
      band_order: z
        .array(z.string().min(1).max(200))
        .min(1)
        .max(100)
        .optional()
        .describe(
          "values of `band` that a group must have, in the order of the bands; default: all there are, in natural order",
        ),
      incomplete: z
        .enum(["refuse", "skip", "allow"])
        .default("refuse")
        .describe("when a group lacks a band: refuse the job, leave the group out, or stack what there is"),
      ...collection_fields,
      ...time_fields,
      ...stack_source_fields,
      ...cog_fields,
      ...overwrite_field,
    })
    .superRefine(crossChecks)
    .superRefine(({ pattern, band }, refinement) => {
      const refuse = (path: string, message: string) => refinement.addIssue({ code: "custom", path: [path], message });
      const { fields } = compileNamePattern(pattern);
      if (!fields.includes(band)) refuse("band", `is no name in braces of the pattern: ${fields.join(", ")}`);
      const taken = fields.filter((field) => own_properties.includes(field));
      if (taken.length > 0) refuse("pattern", `${taken.join(", ")} is a name that STAC uses itself: call it otherwise`);
    }),
  stages: [
    { name: "inventory", task: "raster.inventory", description: "The files are known" },
    { name: "group", task: "raster.group_bands", description: "The files are grouped, and the collection is there" },
    {
      name: "stack",
      task: "raster.stack",
      description: "COGs in the silver zone",
      parallelism: "fan_out",
      max_parallel: 100,
      failure_budget: { percent: 50 },
      overrides: any_share,
      tasks: async function* ({ parameters, previous }) {
        const { groups } = await previous.one<BandGroups>();
        const { prefix: _prefix, pattern: _pattern, band: _band, band_order: _order, ...settings } = parameters;
        for (const group of groups) yield { index: group.item_id, parameters: { ...settings, ...group } };
      },
    },
    ...catalog_stages,
  ],
});
