// raster.group_bands: files into groups by what their names say. Files whose names differ only in the part that tells the bands
// apart are the bands of one stack. Reads names only; what the files hold is looked at when they are stacked.
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import { Permanent } from "../../../core/errors/errors.js";
import { formatZoneRef, parseZoneRef } from "../../../core/places/zones.js";
import { groupNames, type NameGroup } from "../../../geo/name_groups.js";
import { makeCollection } from "../../stac/make_collection.js";
import { refuseTakenIds } from "../../stac/taken_items.js";
import { collection_fields, name_pattern, overwrite_field, zone_prefix } from "../settings.js";
import type { Inventory } from "./inventory.js";

export interface BandGroup {
  item_id: string;
  /** In the order of the bands. */
  bands: { name: string; source: string }[];
  /** What the other names in braces stand for. */
  properties: Record<string, string | number>;
}

export interface BandGroups {
  groups: BandGroup[];
  group_count: number;
  band_names: string[];
  /** The first groups that lack a band, and how many there are. */
  incomplete: { item_id: string; missing: string[] }[];
  incomplete_count: number;
  /** Files whose names do not fit the pattern, or whose band nobody asked for. */
  unfitting: string[];
  unfitting_count: number;
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
    const ids = grouped.groups.map(({ item_id }) => item_id);
    await refuseTakenIds(ctx, given, ids);
    await makeCollection(ctx, given);
    return grouped;
  },
);

type Grouping = Pick<z.output<typeof parameters>, "prefix" | "pattern" | "band" | "band_order" | "incomplete">;

export function groupBands(sources: readonly string[], given: Grouping): BandGroups {
  const { zone, key } = parseZoneRef(given.prefix)!;
  const base = key.slice(0, key.lastIndexOf("/") + 1);
  const paths = sources.map((source) => parseZoneRef(source)!.key.slice(base.length));
  const { pattern, band: band_field, band_order } = given;
  const found = groupNames(paths, { pattern, band_field, band_order });
  if (found.groups.length === 0) {
    const names = found.unmatched.slice(0, 3).map((name) => JSON.stringify(name));
    const what = `no file below ${given.prefix} fits ${pattern}; there are ${names.join(", ")} …`;
    throw new Permanent(what, { code: "no_groups" });
  }
  refuseTwins(found.groups);
  const order = band_order ?? found.bands;
  const named = found.groups.map(({ key: item_id, fields, members }) => ({
    item_id,
    bands: members.map(({ name, band }) => ({ name: band, source: formatZoneRef({ zone, key: base + name }) })),
    properties: propertiesOf(fields),
    missing: order.filter((band) => !members.some((member) => member.band === band)),
  }));
  const incomplete = named.filter(({ missing }) => missing.length > 0);
  if (given.incomplete === "refuse") refuseGaps(incomplete, named.length);
  const groups = named
    .filter(({ missing }) => given.incomplete === "allow" || missing.length === 0)
    .map(({ missing: _, ...group }) => group);
  return {
    groups,
    group_count: groups.length,
    band_names: order,
    incomplete: incomplete.slice(0, most_named).map(({ item_id, missing }) => ({ item_id, missing })),
    incomplete_count: incomplete.length,
    unfitting: found.unmatched.slice(0, most_named),
    unfitting_count: found.unmatched.length,
  };
}

function refuseGaps(incomplete: readonly { item_id: string; missing: string[] }[], all: number): void {
  if (incomplete.length === 0) return;
  const gaps = incomplete.slice(0, most_named).map(({ item_id, missing }) => `${item_id} lacks ${missing.join(", ")}`);
  const more = incomplete.length > most_named ? `, and ${incomplete.length - most_named} more` : "";
  const what = `${incomplete.length} of ${all} groups lack bands: ${gaps.join("; ")}${more}`;
  throw new Permanent(`${what}. Add the files, or give incomplete=skip or incomplete=allow`, {
    code: "incomplete_groups",
  });
}

/** Only a pattern with a star can take two files for the same band. */
function refuseTwins(groups: readonly NameGroup[]): void {
  const twins = groups.flatMap(({ duplicates }) => duplicates);
  if (twins.length === 0) return;
  const names = twins.slice(0, most_named).map((name) => JSON.stringify(name));
  const what = `${twins.length} files are bands that another file is already: ${names.join(", ")}`;
  throw new Permanent(`${what}. Name in braces what tells them apart`, { code: "duplicate_bands" });
}

/** Years and levels are searched for as numbers; 007 is a name. */
function propertiesOf(fields: Readonly<Record<string, string>>): Record<string, string | number> {
  const value = (text: string) => (/^(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : text);
  return Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, value(text)]));
}
