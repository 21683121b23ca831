// What may be asked of the raster jobs, field by field: the API's documentation, the command line's help and the pages' forms are
// made from these. Jobs put them together; handlers read back the part they need. Data only, nothing is opened here.
import { z } from "zod";
import { isFanfoldError } from "../../core/errors/errors.js";
import { parseZoneRef } from "../../core/places/zones.js";
import { compileNamePattern } from "../../geo/name_pattern.js";
import { compressions, raster_types, resamplings } from "../../geo/raster.js";
import { purposes } from "../../geo/raster_treatment.js";
import { readableProblem } from "../../storage/keys.js";
import { parsePeriod } from "../stac/periods.js";

/** Ids are parts of keys and of URLs. */
const id_rule = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const id_words = "must begin with a letter or a digit, then letters, digits, . _ and -, at most 128";

/** Text of which something may be wrong, in words. */
function told(most: number, problem: (text: string) => string | null) {
  return z
    .string()
    .max(most)
    .refine((text) => problem(text) === null, { error: ({ input }) => problem(String(input)) ?? "" });
}

/** What a store would refuse is refused here, while its author is still there. */
function keyProblem(key: string): string | null {
  const problem = readableProblem(key);
  return problem === null ? null : `has a key that no zone can have: ${problem}`;
}

function objectProblem(text: string, otherwise: string): string | null {
  const key = parseZoneRef(text)?.key ?? "";
  return key === "" ? otherwise : keyProblem(key);
}

export const source_ref = told(2000, (text) =>
  isHttps(text) ? null : objectProblem(text, "is neither zone:key, such as bronze:scenes/dem.tif, nor an https URL"),
).meta({ format: "uri-reference" });

export const zone_object = told(2000, (text) => objectProblem(text, "is not zone:key, such as silver:dem/scene-1.tif"));

export const zone_prefix = told(1000, (text) => {
  const ref = parseZoneRef(text);
  if (ref === null) return "is not zone:prefix, such as bronze:scenes/";
  // The beginning of a key, or nothing.
  const beginning = ref.key.replace(/\/$/, "");
  return ref.key === "" ? null : keyProblem(beginning);
});

/** Authority and code only: a PROJ string or WKT may name files. */
const crs = z
  .string()
  .regex(/^(EPSG|ESRI|OGC|IAU_2015):[A-Za-z0-9]{1,12}$/i, "is not a CRS by authority and code, such as EPSG:32636")
  .overwrite((text) => text.toUpperCase());

const nodata_value = z.union([z.number(), z.literal("nan")]);

/** Kept in UTC, so that the same moment is the same job. */
const moment = z.iso
  .datetime({ offset: true })
  .refine((text) => /^(?!0000)\d{4}-/.test(utc(text)), "is not a moment of the years 1 to 9999")
  .transform(utc);

function utc(text: string): string {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? "" : time.toISOString();
}

function isHttps(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol === "https:";
}

export const stac_id = z.string().regex(id_rule, id_words);

export const collection_fields = {
  collection: stac_id.describe("id of the STAC collection the items go into; made when it is not there"),
  title: z.string().min(1).max(500).optional().describe("title of the collection, when it is made here"),
  description: z.string().min(1).max(10_000).optional().describe("description of the collection, when it is made here"),
  license: z
    .string()
    .regex(/^[\w.+-]{1,100}$/, "is not an SPDX identifier, nor other")
    .default("other")
    .describe("licence of the collection, when it is made here: an SPDX identifier, or other"),
  keywords: z
    .array(z.string().min(1).max(100))
    .max(100)
    .optional()
    .describe("keywords of the collection, when it is made here"),
};

export const time_fields = {
  datetime: moment
    .optional()
    .describe("when it was observed; default: what the file says, else when the file was written"),
  start_datetime: moment.optional().describe("first moment of a period, in place of datetime"),
  end_datetime: moment.optional().describe("last moment of that period"),
};

/** The dates of the item or the job that a source comes from: planners fill them in and hand them on. */
export const known_dates = z
  .object({
    datetime: z.string().nullable(),
    start_datetime: z.string().optional(),
    end_datetime: z.string().optional(),
    source: z.enum(["parameter", "item", "file_name", "file", "fallback"]),
  })
  .optional();

export const raster_type_field = {
  raster_type: z
    .enum(raster_types)
    .optional()
    .describe("what it shows; default: detected from bands, type and statistics"),
};

export const source_fields = {
  source_crs: crs.optional().describe("CRS of a source that has none, or has a wrong one, such as EPSG:32636"),
  ...raster_type_field,
  nodata: nodata_value
    .optional()
    .describe("value that means no data, in place of the source's own; nan for not-a-number"),
  bands: z
    .array(z.int().min(1).max(10_000))
    .min(1)
    .max(100)
    .refine((list) => new Set(list).size === list.length, "names a band twice")
    .optional()
    .describe("bands to keep, in this order, counted from 1; default: all"),
  band_names: z
    .array(z.string().min(1).max(200))
    .min(1)
    .max(100)
    .optional()
    .describe("names of the bands that are kept, one each"),
  strict: z.boolean().default(false).describe("refuse what would only be a warning"),
};

/** Of a file that holds several rasters. */
export const layer_fields = {
  variable: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("which variable of a netCDF, HDF5 or Zarr source; needed where it has several"),
  step: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe("which time, level or message of that variable, counted from 1; default: all, as bands of one COG"),
};

export const layer_choice = {
  variables: z
    .array(z.string().min(1).max(200))
    .min(1)
    .max(1000)
    .optional()
    .describe("which variables of each source; default: all that lie somewhere"),
};

export const cog_fields = {
  target_crs: z
    .union([z.literal("source"), crs])
    .default("EPSG:4326")
    .describe("CRS of the COGs, such as EPSG:3857; source keeps that of the source"),
  resolution: z
    .union([z.number().positive(), z.tuple([z.number().positive(), z.number().positive()])])
    .optional()
    .describe("pixel size in units of the target CRS, one number or [x, y]; default: as the source's"),
  resampling: z.enum(resamplings).optional().describe("how pixels are reprojected; default: by raster type"),
  overview_resampling: z.enum(resamplings).optional().describe("how overviews are made; default: by raster type"),
  purpose: z
    .enum(purposes)
    .default("analysis")
    .describe(
      "what the COGs are for: analysis keeps every value and is read everywhere, visualization is small, archive is smallest without loss",
    ),
  compression: z
    .enum(compressions)
    .optional()
    .describe("codec of the COGs; default: by purpose and raster type, within what the engine has"),
  quality: z.int().min(1).max(100).optional().describe("of jpeg and webp; default 85"),
  block_size: z.literal([256, 512, 1024]).default(512).describe("pixels a side of the blocks inside a COG"),
};

export const tile_fields = {
  max_single_px: z
    .int()
    .min(64)
    .max(100_000)
    .default(10_240)
    .describe("a raster of at most this many pixels in width and height becomes one COG, a larger one a grid of them"),
  tile_px: z
    .int()
    .min(256)
    .max(32_768)
    .default(5120)
    .describe("pixels a side of the COGs of a grid, a multiple of block_size"),
  overlap_px: z.int().min(0).max(4096).default(0).describe("pixels that neighbours in a grid share on each side"),
};

/** `*` within a folder, `**` across folders, `?` one character. No regular expression: its author can make one take for ever. */
const glob = z.string().min(1).max(500);

export const name_pattern = told(500, patternProblem);

function patternProblem(text: string): string | null {
  try {
    compileNamePattern(text);
    return null;
  } catch (error) {
    const problems = isFanfoldError(error) ? error.problems.map(({ problem, fix }) => `${problem}: ${fix}`) : [];
    return problems.join("; ") || "is not a pattern";
  }
}

const by_prefix = z.strictObject({
  prefix: zone_prefix.describe("zone:prefix, such as bronze:scenes/"),
  pattern: glob
    .default("**/*.tif")
    .describe("which files below it, by name: * within a folder, ** across folders, ? one character"),
});

export const raster_sources = z.union([
  by_prefix,
  z.strictObject({ list: z.array(source_ref).min(1).max(10_000) }),
  z.strictObject({
    collection: stac_id.describe("items of this collection in the catalogue"),
    asset: z.string().min(1).max(200).default("data").describe("which of an item's assets"),
    bbox: z.array(z.number()).length(4).optional().describe("only items that touch it: west, south, east, north"),
    datetime: z
      .string()
      .max(100)
      .refine((text) => parsePeriod(text) !== null, "is neither a moment such as 2024-01-31T00:00:00Z nor start/end")
      .optional()
      .describe("only items of that time: a moment, or start/end with .. for open"),
  }),
]);

export const registered_sources = z.union([
  by_prefix,
  z.strictObject({ list: z.array(zone_object).min(1).max(10_000) }),
  z.strictObject({
    job_id: z.string().regex(/^[0-9a-f]{64}$/, "is not a whole job id: 64 characters of 0-9 and a-f"),
  }),
]);

export const overwrite_field = {
  overwrite: z
    .enum(["refuse", "replace"])
    .default("refuse")
    .describe("when another job has made an item with the same id: refuse to run, or replace it and its files"),
};

export const register_field = {
  register: z
    .boolean()
    .optional()
    .describe("false: the COGs are made and nothing of them is in the catalogue; register_rasters adds them later"),
};

export const raster_settings = z.object({ ...source_fields, ...cog_fields, ...tile_fields });
export type WantedRaster = z.output<typeof raster_settings>;

/** What a schema of single fields cannot say; all of it at once, each at its field. */
export function crossChecks(
  given: CrossChecked,
  refinement: { addIssue(issue: { code: "custom"; path: string[]; message: string }): void },
): void {
  const refuse = (field: string, message: string) => refinement.addIssue({ code: "custom", path: [field], message });
  const { start_datetime: start, end_datetime: end } = given;
  if (given.datetime !== undefined && (start ?? end) !== undefined) {
    refuse("datetime", "is given beside a period: give one moment, or start_datetime and end_datetime");
  }
  if ((start === undefined) !== (end === undefined)) {
    refuse(start === undefined ? "start_datetime" : "end_datetime", "is missing: a period has two ends");
  } else if (start !== undefined && end !== undefined && start > end) {
    refuse("end_datetime", "is before start_datetime");
  }
  if (given.quality !== undefined && given.compression !== "jpeg" && given.compression !== "webp") {
    refuse("quality", "means nothing without compression jpeg or webp");
  }
  if (given.bands !== undefined && given.band_names !== undefined && given.bands.length !== given.band_names.length) {
    refuse("band_names", `has ${given.band_names.length} names for ${given.bands.length} bands`);
  }
  const { tile_px, block_size = 512, overlap_px = 0 } = given;
  if (tile_px === undefined) return;
  if (tile_px % block_size !== 0) {
    const near = Math.max(1, Math.round(tile_px / block_size)) * block_size;
    refuse("tile_px", `is not a multiple of block_size (${block_size}): give ${near}`);
  }
  if (overlap_px * 2 > tile_px) refuse("overlap_px", "must be at most half of tile_px");
}

interface CrossChecked {
  datetime?: string;
  start_datetime?: string;
  end_datetime?: string;
  compression?: string;
  quality?: number;
  bands?: number[];
  band_names?: string[];
  tile_px?: number;
  overlap_px?: number;
  block_size?: number;
}

/**
 * One module for every handler that opens rasters, so that they share warm processes: a WASM engine takes a second to start.
 * As it is on disk: .js when built, .ts in a test.
 */
export const raster_module = import.meta.url.replace(/settings(\.[jt]s)$/, "isolated$1");
/** The memory of one task that opens a raster, the engine's cache and its child included. */
export const raster_memory_mb = 1536;
