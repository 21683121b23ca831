// A STAC 1.1.0 collection around its items: extent, summaries and the assets that items have. Items are summed up in pieces, so
// that a collection of a million needs no list of them. Pure.
import { unionBboxes } from "./bounds.js";
import type { Bounds } from "./raster.js";
import { type StacCollection, type StacItem, type StacLink, stac_version } from "./stac.js";
import { stacId } from "./stac_ids.js";
import { extensionsOf } from "./stac_item.js";

/** What is kept of items; summaries of parts are joined. All JSON. */
export interface ItemSummary {
  item_count: number;
  bbox: Bounds | null;
  start: string | null;
  end: string | null;
  proj_codes: (string | null)[];
  gsds: number[];
  raster_types: string[];
  /** Of asset `data`, without statistics; null when items differ. */
  bands: Record<string, unknown>[] | null;
  /** Asset name → media type, title, roles, as in the first item that has it. */
  assets: Record<string, { type?: string; title?: string; roles?: string[] }>;
}

/** More different values than this say nothing. */
const most_values = 50;

export function summarizeItems(items: Iterable<StacItem>): ItemSummary | null {
  let summary: ItemSummary | null = null;
  for (const item of items) summary = joinSummaries(summary, summaryOf(item));
  return summary;
}

export function joinSummaries(a: ItemSummary | null, b: ItemSummary | null): ItemSummary | null {
  if (!a || !b) return a ?? b;
  return {
    item_count: a.item_count + b.item_count,
    bbox: unionBboxes([a.bbox, b.bbox].filter((bbox) => bbox !== null)),
    start: earliest(a.start, b.start),
    end: latest(a.end, b.end),
    proj_codes: distinct([...a.proj_codes, ...b.proj_codes]),
    gsds: distinct([...a.gsds, ...b.gsds]).sort((x, y) => x - y),
    raster_types: distinct([...a.raster_types, ...b.raster_types]),
    bands: a.bands && b.bands && JSON.stringify(a.bands) === JSON.stringify(b.bands) ? a.bands : null,
    assets: { ...b.assets, ...a.assets },
  };
}

function summaryOf({ bbox, properties, assets }: StacItem): ItemSummary {
  const text = (name: string) => (typeof properties[name] === "string" ? (properties[name] as string) : null);
  const code = properties["proj:code"];
  const type = text("fanfold:raster_type");
  return {
    item_count: 1,
    bbox: bbox ? unionBboxes([bbox]) : null,
    start: text("start_datetime") ?? properties.datetime,
    end: text("end_datetime") ?? properties.datetime,
    proj_codes: typeof code === "string" || code === null ? [code] : [],
    gsds: typeof properties.gsd === "number" ? [properties.gsd] : [],
    raster_types: type === null ? [] : [type],
    bands: bandsOf(assets.data?.bands),
    assets: Object.fromEntries(
      Object.entries(assets).map(([name, { type, title, roles }]) => [
        name,
        JSON.parse(JSON.stringify({ type, title, roles })),
      ]),
    ),
  };
}

function bandsOf(bands: unknown): Record<string, unknown>[] | null {
  if (!Array.isArray(bands)) return null;
  return bands.map((band: Record<string, unknown>) => {
    const { statistics: _, ...shared } = band;
    return shared;
  });
}

export interface NewCollection {
  id: string;
  title?: string;
  description?: string;
  keywords?: string[];
  /** An SPDX identifier, or `other` with a link; default other. */
  license?: string;
  license_url?: string;
  providers?: { name: string; description?: string; roles?: string[]; url?: string }[];
  links?: StacLink[];
  summary: ItemSummary | null;
  /** Further fields; those above win. */
  extra?: Record<string, unknown>;
}

export function buildCollection(collection: NewCollection): StacCollection {
  const { summary } = collection;
  const license_link = collection.license_url ? [{ rel: "license", href: collection.license_url }] : [];
  const summaries = summariesOf(summary);
  const item_assets = itemAssets(summary);
  return {
    ...collection.extra,
    type: "Collection",
    stac_version,
    stac_extensions: extensionsOf([summaries, ...Object.values(item_assets)]),
    id: stacId(collection.id),
    ...(collection.title ? { title: collection.title } : {}),
    // Required, and not empty.
    description: collection.description || collection.title || collection.id,
    ...(collection.keywords?.length ? { keywords: collection.keywords } : {}),
    license: collection.license ?? "other",
    ...(collection.providers?.length ? { providers: collection.providers } : {}),
    extent: {
      spatial: { bbox: [summary?.bbox ?? [-180, -90, 180, 90]] },
      temporal: { interval: [[summary?.start ?? null, summary?.end ?? null]] },
    },
    ...(Object.keys(summaries).length > 0 ? { summaries } : {}),
    ...(Object.keys(item_assets).length > 0 ? { item_assets } : {}),
    links: [...(collection.links ?? []), ...license_link],
  };
}

/** What is wrong with a licence; null when STAC takes it. */
export function licenseProblem(license: string): string | null {
  if (/^[A-Za-z0-9.+-]{1,100}$/.test(license)) return null;
  return "is neither an SPDX identifier such as CC-BY-4.0 nor the word other";
}

function summariesOf(summary: ItemSummary | null): Record<string, unknown> {
  if (!summary) return {};
  const fields: [string, unknown[]][] = [
    ["proj:code", summary.proj_codes],
    ["gsd", summary.gsds],
    ["bands", summary.bands ?? []],
    ["fanfold:raster_type", summary.raster_types],
  ];
  return Object.fromEntries(fields.filter(([, values]) => values.length > 0 && values.length <= most_values));
}

function itemAssets(summary: ItemSummary | null): Record<string, Record<string, unknown>> {
  const assets = Object.entries(summary?.assets ?? {}).filter(([, asset]) => Object.keys(asset).length >= 2);
  return Object.fromEntries(
    assets.map(([name, asset]) => [
      name,
      name === "data" && summary?.bands ? { ...asset, bands: summary.bands } : asset,
    ]),
  );
}

function distinct<T>(values: T[]): T[] {
  return [...new Set(values)].slice(0, most_values + 1);
}

/** Moments of RFC 3339 in UTC compare as moments; others by what they mean. */
function earliest(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return Date.parse(a) <= Date.parse(b) ? a : b;
}

function latest(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return Date.parse(a) >= Date.parse(b) ? a : b;
}
