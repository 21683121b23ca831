// What the statistics of a raster say against it: empty, odd or impossible values, nodata that nobody declared. Pure.
import { finding } from "./findings.js";
import type { BandInfo, BandStatistics, Finding, RasterType } from "./raster.js";
import { sample_layouts } from "./tiff/tiff_layout.js";

/** Values that writers use for "nothing here". */
const usual_nodata = [-9999, -99999, -999, -32768, -32767, 65535, 32767, 1e20, -1e20, -2147483648, 4294967295];

export function statisticsFindings(
  bands: readonly BandInfo[],
  statistics: readonly (BandStatistics | null)[],
  type: RasterType,
): Finding[] {
  const valid = bands.map((_, i) => statistics[i]?.valid_percent ?? 0);
  if (valid.every((percent) => percent <= 1)) {
    return [finding("raster_empty", `${percentText(100 - Math.max(...valid, 0))} of the pixels are nodata.`)];
  }
  const findings = bands.flatMap((band, i) => bandFindings(band, statistics[i] ?? null, type, bandName(band, i)));
  const nodata = new Set(bands.map((band) => String(band.nodata)));
  if (nodata.size > 1) {
    findings.push(finding("nodata_differs", `The bands have the nodata values ${[...nodata].join(", ")}.`));
  }
  return merged(findings);
}

function bandFindings(band: BandInfo, statistics: BandStatistics | null, type: RasterType, name: string): Finding[] {
  if (!statistics || statistics.valid_percent <= 1) return [finding("band_empty", `${name} has no valid pixels.`)];
  const { minimum, maximum, mean, valid_percent } = statistics;
  const findings: Finding[] = [];
  if (![minimum, maximum, mean].every(Number.isFinite)) {
    return [finding("not_finite_values", `${name} has values from ${minimum} to ${maximum}.`)];
  }
  if (valid_percent < 10) {
    findings.push(
      finding("mostly_nodata", `${percentText(100 - valid_percent)} of the pixels of ${lower(name)} are nodata.`),
    );
  }
  const suspects = [minimum, maximum].filter((value, i) => looksLikeNodata(value, band, i === 0 ? "low" : "high"));
  for (const value of new Set(suspects)) {
    const hint = `Give \`nodata: ${value}\` if that is what it means.`;
    findings.push(
      finding("nodata_conflict", `${name} has pixels of ${value}, which look like nodata but count as data.`, hint),
    );
  }
  if (suspects.length === 0 && Math.max(Math.abs(minimum), Math.abs(maximum)) > 1e15) {
    findings.push(finding("extreme_values", `${name} has values from ${minimum} to ${maximum}.`));
  }
  if (minimum === maximum) findings.push(finding("constant", `All valid pixels of ${lower(name)} are ${minimum}.`));
  const range = expectedRange(type, band);
  if (suspects.length === 0 && range && (minimum < range[0] || maximum > range[1])) {
    const words = `${name} has values from ${minimum} to ${maximum}; ${type} is expected between ${range[0]} and ${range[1]}`;
    findings.push(finding("out_of_range", `${words}.`));
  }
  const { bits, format } = sample_layouts[band.data_type];
  if (format !== 3 && bits > 8 && minimum >= 0 && maximum <= 255 && minimum !== maximum) {
    findings.push(finding("unused_bit_depth", `${name} is ${band.data_type}, but its values would fit uint8.`));
  }
  return findings;
}

/** Only an end of the range that stands for nothing in this data type or domain. */
function looksLikeNodata(value: number, { data_type, nodata }: BandInfo, end: "low" | "high"): boolean {
  if (value === nodata) return false;
  if (data_type === "uint8" || data_type === "int8") return false;
  if (Math.abs(value) > 3e38 || Math.abs(value - 9.969209968386869e36) < 1e30) return true;
  if (!usual_nodata.includes(value)) return false;
  // The top of an unsigned or signed range, or a large negative number: never a small positive one.
  return end === "low" ? value < 0 : value >= 32767;
}

function expectedRange(type: RasterType, { scale, data_type, unit }: BandInfo): [number, number] | null {
  if (type === "dem") return /^(ft|feet|foot)$/i.test(unit ?? "") ? [-36500, 29500] : [-11500, 9000];
  if (type === "vegetation_index") {
    if (data_type.startsWith("float")) return [-1.5, 1.5];
    const factor = scale ?? 0.0001;
    return factor > 0 ? [Math.round(-1.5 / factor), Math.round(1.5 / factor)] : null;
  }
  return type === "flood_depth" ? [0, 100_000] : null;
}

/** One remark for many bands: a hundred equal lines help nobody. */
function merged(findings: Finding[]): Finding[] {
  const codes = [...new Set(findings.map(({ code }) => code))];
  return codes.flatMap((code) => {
    const group = findings.filter((one) => one.code === code);
    if (group.length <= 3) return group;
    const [first] = group;
    return [{ ...first!, message: `${first!.message} The same is true of ${group.length - 1} more bands.` }];
  });
}

function bandName({ description }: BandInfo, i: number): string {
  return description ? `Band ${i + 1} (${description.slice(0, 40)})` : `Band ${i + 1}`;
}

function lower(name: string): string {
  return name.replace(/^B/, "b");
}

function percentText(percent: number): string {
  return `${Number(percent.toFixed(percent > 99 ? 3 : 1))} %`;
}
