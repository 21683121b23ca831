// A STAC 1.1.0 item from what is known about a raster: projection, bands with statistics, files with checksums, and which job
// made it from what. An extension is declared only if one of its fields is there. Pure.

import type { Footprint } from "./footprint.js";
import { boundsOf } from "./georeference.js";
import type { BandInfo, BandStatistics, CrsInfo, GeoTransform, RasterType } from "./raster.js";
import { type StacAsset, type StacItem, type StacLink, stac_version } from "./stac.js";
import type { ItemDates } from "./stac_dates.js";
import { multihash, publicSource, stacId } from "./stac_ids.js";

export const cog_media_type = "image/tiff; application=geotiff; profile=cloud-optimized";

export interface FileFacts {
  href: string;
  bytes: number;
  sha256: string;
  media_type?: string;
  title?: string;
}

export interface RasterFacts {
  width: number;
  height: number;
  transform: GeoTransform;
  crs: CrsInfo;
  bands: readonly BandInfo[];
  statistics?: readonly (BandStatistics | null)[];
  raster_type?: RasterType;
}

export interface Provenance {
  job_id: string;
  task_id: string;
  /** What the user gave; credentials in it are not published. */
  source: string;
  source_sha256: string;
  engine: { name: string; version: string };
  /** The parameters of the job, as far as they shaped this item. */
  parameters: Record<string, unknown>;
  /** In words, for processing:lineage. */
  lineage?: string;
}

export interface NewItem {
  id: string;
  collection: string;
  title?: string;
  description?: string;
  dates: ItemDates;
  /** null: not known; the item then has no geometry and no bbox. */
  footprint: Footprint | null;
  raster: RasterFacts;
  data: FileFacts;
  thumbnail?: FileFacts;
  metadata?: FileFacts;
  provenance?: Provenance;
  /** Moments of the catalogue, given by the caller. */
  created?: string;
  updated?: string;
  /** Further properties; those above win. */
  properties?: Record<string, unknown>;
  links?: StacLink[];
}

export function buildItem(item: NewItem): StacItem {
  const { raster, dates, footprint } = item;
  const gsd = gsdOf(raster);
  const properties: StacItem["properties"] = {
    ...item.properties,
    datetime: dates.datetime,
    ...defined({
      start_datetime: dates.start_datetime,
      end_datetime: dates.end_datetime,
      title: item.title,
      description: item.description,
      created: item.created,
      updated: item.updated,
      gsd,
    }),
    ...projection(raster),
    ...provenanceFields(item),
  };
  const assets: Record<string, StacAsset> = { data: dataAsset(item) };
  if (item.thumbnail) assets.thumbnail = fileAsset(item.thumbnail, "image/png", ["thumbnail"], "Quicklook");
  if (item.metadata) assets.metadata = fileAsset(item.metadata, "application/json", ["metadata"], "Metadata");
  const built: StacItem = {
    type: "Feature",
    stac_version,
    stac_extensions: [],
    id: stacId(item.id),
    collection: item.collection,
    geometry: footprint?.geometry ?? null,
    ...(footprint ? { bbox: footprint.bbox } : {}),
    properties,
    links: item.links ?? [],
    assets,
  };
  built.stac_extensions = extensionsOf([properties, ...Object.values(assets)]);
  return built;
}

const extensions: Record<string, string> = {
  "proj:": "https://stac-extensions.github.io/projection/v2.0.0/schema.json",
  "raster:": "https://stac-extensions.github.io/raster/v2.0.0/schema.json",
  "file:": "https://stac-extensions.github.io/file/v2.1.0/schema.json",
  "processing:": "https://stac-extensions.github.io/processing/v1.2.0/schema.json",
};

/** The extensions of all fields in these records and in their bands. */
export function extensionsOf(records: readonly Record<string, unknown>[]): string[] {
  const fields = records.flatMap((record) => {
    const bands = Array.isArray(record.bands) ? (record.bands as Record<string, unknown>[]) : [];
    return [...Object.keys(record), ...bands.flatMap((band) => Object.keys(band))];
  });
  return Object.entries(extensions)
    .filter(([prefix]) => fields.some((field) => field.startsWith(prefix)))
    .map(([, url]) => url);
}

function projection({ crs, width, height, transform }: RasterFacts): Record<string, unknown> {
  const [x0, dx, rx, y0, ry, dy] = transform;
  return {
    "proj:code": crs.code,
    // Only where there is no code: it is long, and two definitions can contradict each other.
    ...(crs.code === null && crs.wkt !== "" ? { "proj:wkt2": crs.wkt } : {}),
    "proj:shape": [height, width],
    "proj:transform": [dx, rx, x0, ry, dy, y0],
    "proj:bbox": boundsOf(transform, width, height),
  };
}

/** Metres on the ground; degrees are measured in the middle of the raster. */
export function gsdOf({ crs, transform, width, height }: RasterFacts): number | undefined {
  const pixel = Math.sqrt(Math.abs(transform[1] * transform[5] - transform[2] * transform[4]));
  if (!Number.isFinite(pixel) || pixel === 0) return undefined;
  const [, y0, , y1] = boundsOf(transform, width, height);
  // A metre of Web Mercator is shorter on the ground, the more so the farther from the equator.
  const shrink = crs.code === "EPSG:3857" ? 1 / Math.cosh((y0 + y1) / 2 / 6_378_137) : 1;
  if (!crs.is_geographic) return Number((pixel * shrink * unitInMetres(crs.wkt)).toPrecision(6));
  const middle = ((y0 + y1) / 2) * (Math.PI / 180);
  return Number((pixel * 111_319.49 * Math.sqrt(Math.max(0, Math.cos(middle)))).toPrecision(6));
}

/** The last unit of a projected definition is that of its axes. */
function unitInMetres(wkt: string): number {
  const units = [...wkt.matchAll(/(?:LENGTH)?UNIT\["[^"]*",\s*([0-9.eE+-]+)/g)].map(([, factor]) => Number(factor));
  const last = units.at(-1);
  // A factor near 0.0174 is that of degrees.
  return last !== undefined && last > 0.1 && Number.isFinite(last) ? last : 1;
}

function dataAsset({ data, raster }: NewItem): StacAsset {
  const asset = fileAsset(data, cog_media_type, ["data"], "Cloud-optimised GeoTIFF");
  return { ...asset, "raster:sampling": "area", bands: bandFields(raster.bands, raster.statistics) };
}

function fileAsset(file: FileFacts, media_type: string, roles: string[], title: string): StacAsset {
  return {
    href: file.href,
    type: file.media_type ?? media_type,
    title: file.title ?? title,
    roles,
    "file:size": file.bytes,
    "file:checksum": multihash(file.sha256),
  };
}

/** STAC 1.1's common bands. Names are unique: a twin gets its number. */
export function bandFields(
  bands: readonly BandInfo[],
  statistics?: readonly (BandStatistics | null)[],
): Record<string, unknown>[] {
  const names = bands.map(({ description }, i) => (description ?? "").trim().slice(0, 100) || `b${i + 1}`);
  return bands.map((band, i) =>
    defined({
      name: names.indexOf(names[i]!) === i ? names[i] : `${names[i]}-${i + 1}`,
      description: band.description || undefined,
      data_type: band.data_type === "complex" ? "cfloat32" : band.data_type,
      nodata: nodataField(band.nodata),
      unit: band.unit || undefined,
      statistics: statisticsField(statistics?.[i] ?? null),
      "raster:scale": band.scale !== null && band.scale !== 1 ? band.scale : undefined,
      "raster:offset": band.offset !== null && band.offset !== 0 ? band.offset : undefined,
    }),
  );
}

function nodataField(nodata: BandInfo["nodata"]): number | string | undefined {
  if (nodata === null) return undefined;
  if (nodata === "nan" || Number.isFinite(nodata)) return nodata;
  return nodata > 0 ? "inf" : "-inf";
}

/** JSON knows no NaN: a figure that is none is left out. */
function statisticsField(statistics: BandStatistics | null): Record<string, number> | undefined {
  if (!statistics) return undefined;
  const { minimum, maximum, mean, stddev, valid_percent } = statistics;
  const fields = Object.entries({ minimum, maximum, mean, stddev, valid_percent }).filter(([, value]) =>
    Number.isFinite(value),
  );
  return fields.length > 0 ? Object.fromEntries(fields) : undefined;
}

function provenanceFields({ provenance, raster, dates }: NewItem): Record<string, unknown> {
  const shared = defined({ "fanfold:raster_type": raster.raster_type, "fanfold:datetime_source": dates.source });
  if (!provenance) return shared;
  const { engine } = provenance;
  const source = publicSource(provenance.source);
  return {
    ...shared,
    "processing:software": { [engine.name]: engine.version },
    "processing:lineage": provenance.lineage ?? `Made from ${source} with ${engine.name} ${engine.version}.`,
    "fanfold:job_id": provenance.job_id,
    "fanfold:task_id": provenance.task_id,
    "fanfold:source": source,
    "fanfold:source_sha256": provenance.source_sha256,
    "fanfold:engine": `${engine.name} ${engine.version}`,
    "fanfold:parameters": provenance.parameters,
  };
}

function defined(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ""));
}
