// What sort of raster this is, from its bands and statistics, with how sure that is and why in words; and whether it can be
// what the user says it is. The user's word counts where it is possible. Pure.
import { finding } from "./findings.js";
import type { BandInfo, BandStatistics, Finding, RasterType } from "./raster.js";

export interface RasterKind {
  type: RasterType;
  /** 0–1. */
  confidence: number;
  reason: string;
}

type Statistics = readonly (BandStatistics | null)[] | null;

/** Words in the name of a band that say what it is. */
const names: [RegExp, RasterType][] = [
  [/\b(ndvi|evi2?|savi|msavi|ndmi|ndre|lai|vegetation.?index)\b/i, "vegetation_index"],
  [/\b(dem|dtm|dsm|dhm|elevation|altitude|bathymetry|hillshade.?source)\b/i, "dem"],
  [/\b(flood.?depth|water.?depth|inundation|depth)\b/i, "flood_depth"],
  [/\b(land.?cover|land.?use|lulc|class(es|ification)?|category|categories|mask)\b/i, "categorical"],
];

export function detectRasterType(bands: readonly BandInfo[], statistics: Statistics): RasterKind {
  const kind = (type: RasterType, confidence: number, reason: string): RasterKind => ({ type, confidence, reason });
  const [first] = bands;
  if (!first) return kind("unknown", 1, "it has no bands");
  if (bands.some(({ data_type }) => data_type === "complex"))
    return kind("unknown", 1, "its pixels are complex numbers");
  const colors = bands.map(({ color_interpretation }) => color_interpretation.toLowerCase());
  if (first.has_color_table || colors[0] === "palette") return kind("categorical", 0.98, "it has a colour table");
  if (colors.slice(0, 3).join() === "red,green,blue") {
    if (bands.length === 3) return kind("rgb", 0.95, "its three bands are said to be red, green and blue");
    if (bands.length === 4 && colors[3] === "alpha") return kind("rgba", 0.95, "it has red, green, blue and alpha");
    if (bands.length === 4) return kind("nir", 0.85, "it has red, green, blue and a fourth band that is not alpha");
  }
  const opaque = bands.filter((_, i) => colors[i] !== "alpha");
  const named = nameOf(opaque);
  if (named) return named;
  if (opaque.length === 1) return oneBand(opaque[0]!, statistics?.[bands.indexOf(opaque[0]!)] ?? null);
  return manyBands(bands, statistics);
}

function nameOf(bands: readonly BandInfo[]): RasterKind | null {
  for (const [pattern, type] of names) {
    const words = bands.map(({ description }) => (description ?? "").replaceAll("_", " "));
    if (words.length > 0 && words.every((text) => pattern.test(text))) {
      return { type, confidence: 0.85, reason: `its band is called ${JSON.stringify(words[0]!.slice(0, 60))}` };
    }
  }
  return null;
}

function oneBand(band: BandInfo, statistics: BandStatistics | null): RasterKind {
  const { data_type } = band;
  const is_float = data_type.startsWith("float");
  const metres = /^(m|metres?|meters?|ft|feet|foot)$/i.test(band.unit ?? "");
  if (metres && data_type !== "uint8") {
    return { type: "dem", confidence: 0.75, reason: `its one band is in ${band.unit}` };
  }
  if (!statistics) {
    if (data_type === "uint8") return { type: "categorical", confidence: 0.4, reason: "it has one 8-bit band" };
    return { type: "continuous", confidence: 0.4, reason: `it has one band of ${data_type}` };
  }
  const { minimum, maximum, stddev } = statistics;
  const range = maximum - minimum;
  const values = `values from ${short(minimum)} to ${short(maximum)}`;
  if (is_float && minimum >= -1.05 && maximum <= 1.05 && minimum < 0 && range > 0.1) {
    return { type: "vegetation_index", confidence: 0.65, reason: `it has one floating point band with ${values}` };
  }
  if (data_type === "uint8" || data_type === "int8" || (!is_float && maximum <= 50 && minimum >= 0)) {
    const is_few = maximum - minimum <= 50;
    const words = `it has one integer band with ${values}`;
    return is_few
      ? { type: "categorical", confidence: 0.65, reason: words }
      : { type: "continuous", confidence: 0.5, reason: words };
  }
  const like_heights = minimum > -500 && maximum < 9000 && range >= 50 && stddev / range < 0.35;
  if (like_heights && data_type !== "uint32") {
    return { type: "dem", confidence: 0.6, reason: `it has one band with ${values} that vary smoothly` };
  }
  return { type: "continuous", confidence: 0.5, reason: `it has one band of ${data_type} with ${values}` };
}

function manyBands(bands: readonly BandInfo[], statistics: Statistics): RasterKind {
  const [first] = bands;
  const is_picture =
    bands.every(({ data_type }) => data_type === first!.data_type) && /^uint(8|16)$/.test(first!.data_type);
  const names = bands.map(({ description }) => (description ?? "").toLowerCase());
  if (bands.length === 3 && first!.data_type === "uint8") {
    return { type: "rgb", confidence: 0.75, reason: "it has three 8-bit bands" };
  }
  if (bands.length === 4 && is_picture) {
    if (names.some((name) => /nir|near.?infrared/.test(name))) {
      return { type: "nir", confidence: 0.9, reason: "one of its four bands is called near infrared" };
    }
    if (bands[3]!.color_interpretation === "alpha" || looksLikeAlpha(bands[3]!, statistics?.[3] ?? null)) {
      return { type: "rgba", confidence: 0.7, reason: "its fourth band is nearly all or nothing, as alpha is" };
    }
    return { type: "nir", confidence: 0.55, reason: `it has four bands of ${first!.data_type}` };
  }
  const confidence = bands.length >= 5 ? 0.8 : 0.5;
  return { type: "multispectral", confidence, reason: `it has ${bands.length} bands of ${first!.data_type}` };
}

/** Only its ends: the spread of values that are all 0 or 255 is as large as the share of both makes it. */
function looksLikeAlpha({ data_type }: BandInfo, statistics: BandStatistics | null): boolean {
  if (!statistics || data_type !== "uint8" || statistics.maximum !== 255) return false;
  const share = statistics.mean / 255;
  const two_valued = 255 * Math.sqrt(share * (1 - share));
  return (
    statistics.minimum === 255 || (statistics.minimum === 0 && statistics.stddev > 0.9 * two_valued && share > 0.05)
  );
}

/** What a raster must have to be treated as a type. */
const needs: Record<RasterType, { words: string; fits: (bands: readonly BandInfo[]) => boolean }> = {
  rgb: { words: "three bands of uint8 or uint16", fits: (bands) => bands.length === 3 && bands.every(isPicture) },
  rgba: { words: "four bands of uint8 or uint16", fits: (bands) => bands.length === 4 && bands.every(isPicture) },
  nir: { words: "four bands", fits: (bands) => bands.length === 4 },
  dem: {
    words: "one band without a colour table",
    fits: (bands) => withoutAlpha(bands).length === 1 && !hasColors(bands),
  },
  categorical: {
    words: "integer bands",
    fits: (bands) => bands.every(({ data_type }) => !/^(float|complex)/.test(data_type)),
  },
  continuous: { words: "bands without a colour table", fits: (bands) => !hasColors(bands) },
  multispectral: { words: "two or more bands", fits: (bands) => bands.length >= 2 },
  vegetation_index: {
    words: "one band without a colour table",
    fits: (bands) => withoutAlpha(bands).length === 1 && !hasColors(bands),
  },
  flood_depth: { words: "bands without a colour table", fits: (bands) => !hasColors(bands) },
  unknown: { words: "anything", fits: () => true },
};

/** The type to go on with. With a type that cannot be, the finding is an error. */
export function resolveRasterType(
  requested: RasterType | null,
  bands: readonly BandInfo[],
  statistics: Statistics,
): { type: RasterType; detected: RasterKind; findings: Finding[] } {
  const detected = detectRasterType(bands, statistics);
  if (requested === null || requested === detected.type) return { type: detected.type, detected, findings: [] };
  const seems = `it looks like ${detected.type}, because ${detected.reason}`;
  if (!needs[requested].fits(bands)) {
    const message = `raster_type ${requested} needs ${needs[requested].words}; ${seems}.`;
    return { type: requested, detected, findings: [finding("raster_type_impossible", message)] };
  }
  // A domain (floods, indices) cannot be seen in pixels: the user knows better.
  const is_surprising = detected.confidence >= 0.7 && !["flood_depth", "continuous", "unknown"].includes(requested);
  const findings = is_surprising
    ? [finding("raster_type_unlikely", `raster_type ${requested} was given, but ${seems}.`)]
    : [];
  return { type: requested, detected, findings };
}

function isPicture({ data_type }: BandInfo): boolean {
  return data_type === "uint8" || data_type === "uint16";
}

function hasColors(bands: readonly BandInfo[]): boolean {
  return bands.some(({ has_color_table }) => has_color_table);
}

function withoutAlpha(bands: readonly BandInfo[]): BandInfo[] {
  return bands.filter(({ color_interpretation }) => color_interpretation !== "alpha");
}

function short(value: number): string {
  return String(Number(value.toPrecision(6)));
}
