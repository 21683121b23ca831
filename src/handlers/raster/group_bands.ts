// raster.group_bands: files into groups by what their names say. Files whose names differ only in the part that tells the bands
// apart are the bands of one stack. Reads names only; what the files hold is looked at when they are stacked.
import { z } from "zod";
import { defineHandler } from "../../core/declare.js";
import { Permanent } from "../../core/errors.js";
import { parseZoneRef } from "../../core/zones.js";
import { makeCollection } from "../stac/make_collection.js";
import { refuseTakenIds } from "../stac/taken_items.js";
import type { Inventory } from "./inventory.js";
import { nameSources } from "./item_ids.js";
import { compareNaturally, readName } from "./name_pattern.js";
import { collection_fields, name_pattern, overwrite_field, zone_prefix } from "./settings.js";

export interface BandGroup {
  item_id: string;
  /** In the order of the bands. */
  bands: { name: string; source: string }[];
  /** What the other names in braces stand for. */
  properties: Record<string, string>;
}

export interface BandGroups {
  groups: BandGroup[];
  group_count: number;
  band_names: string[];
  /** Left out because a band is missing. */
  incomplete: { item_id: string; missing: string[] }[];
  incomplete_count: number;
  /** Their names do not fit the pattern. */
  unfitting_count: number;
  unfitting: string[];
}

const most_named = 50;

const parameters = z.object({
  prefix: zone_prefix,
  pattern: name_pattern,
  band: z.string(),
  band_order: z.array(z.string()).optional(),
  incomplete: z.enum(["refuse", "skip", "allow"]).default("refuse"),
  ...collection_fields,
  ...overwrite_field,
});

export const rasterGroupBands = defineHandler(
  "raster.group_bands",
  { parameters },
  async (given, ctx): Promise<BandGroups> => {
    const { sources } = await ctx.previous.one<Inventory>();
    const grouped = groupBands(
      sources.map(({ source }) => source),
      given,
    );
    await refuseTakenIds(
      ctx,
      given,
      grouped.groups.map(({ item_id }) => item_id),
    );
    await makeCollection(ctx, given);
    return grouped;
  },
);

interface Grouping {
  prefix: string;
  pattern: string;
  band: string;
  band_order?: string[];
  incomplete: "refuse" | "skip" | "allow";
}

export function groupBands(sources: readonly string[], given: Grouping): BandGroups {
  const { pattern, band } = given;
  const base = parseZoneRef(given.prefix)!.key.lastIndexOf("/") + 1;
  const groups = new Map<string, Omit<BandGroup, "item_id"> & { path: string }>();
  const unfitting: string[] = [];
  const seen = new Set<string>();
  for (const source of sources) {
    const path = parseZoneRef(source)!.key.slice(base);
    const values = readName(pattern, path);
    if (values === null) {
      unfitting.push(path);
      continue;
    }
    const { [band]: name = "", ...properties } = values;
    seen.add(name);
    const which = JSON.stringify(properties);
    const group = groups.get(which) ?? { path: groupPath(pattern, band, values), bands: [], properties };
    groups.set(which, group);
    group.bands.push({ name, source });
  }
  if (groups.size === 0) {
    const seen_names = unfitting.slice(0, 3).map((name) => JSON.stringify(name));
    throw new Permanent(`no file below ${given.prefix} is called ${pattern}; there are ${seen_names.join(", ")} …`, {
      code: "no_groups",
    });
  }
  const order = given.band_order ?? [...seen].sort(compareNaturally);
  const complete: BandGroup[] = [];
  const incomplete: BandGroups["incomplete"] = [];
  // Two groups may come to the same id once what ids cannot hold is gone.
  const named = nameSources([...groups].map(([which, { path }]) => ({ source: which, path })));
  for (const { item_id, source: which } of named) {
    const { bands: found, properties } = groups.get(which)!;
    const bands = order.flatMap((name) => found.filter((one) => one.name === name));
    const missing = order.filter((name) => !bands.some((one) => one.name === name));
    if (missing.length > 0) incomplete.push({ item_id, missing });
    if (missing.length === 0 || (given.incomplete === "allow" && bands.length > 0)) {
      complete.push({ item_id, bands, properties });
    }
  }
  if (incomplete.length > 0 && given.incomplete === "refuse") {
    const gaps = incomplete
      .slice(0, most_named)
      .map(({ item_id, missing }) => `${item_id} lacks ${missing.join(", ")}`);
    const more = incomplete.length > most_named ? `, and ${incomplete.length - most_named} more` : "";
    throw new Permanent(
      `${incomplete.length} of ${groups.size} groups lack bands: ${gaps.join("; ")}${more}. Add the files, or give incomplete=skip or allow`,
      { code: "incomplete_groups" },
    );
  }
  return {
    groups: complete,
    group_count: complete.length,
    band_names: order,
    incomplete: incomplete.slice(0, most_named),
    incomplete_count: incomplete.length,
    unfitting_count: unfitting.length,
    unfitting: unfitting.slice(0, most_named),
  };
}

/** The file's name without the part that tells the bands apart, and without the separator beside it. */
function groupPath(pattern: string, band: string, values: Record<string, string>): string {
  const text = pattern.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => (name === band ? "\u0000" : values[name]!));
  return text.replace(/[-_.]\0(?=[-_./]|$)/, "").replace(/\0[-_.]?/, "");
}
