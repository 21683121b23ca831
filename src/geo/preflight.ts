// Everything that can be said against a raster from its header alone, at once and before any work: what it is, whether the
// engine can read it, how large it would become, where it lies. Pure.
import { file_kind_bytes, fileKind } from "./file_kind.js";
import { finding, hasErrors } from "./findings.js";
import { boundsOf } from "./georeference.js";
import { hiddenPath } from "./hidden_paths.js";
import { preflightPixels } from "./preflight_pixels.js";
import type { Finding } from "./raster.js";
import {
  HeaderError,
  type HeaderLimits,
  type RangeReader,
  readTiffHeader,
  type TiffHeader,
} from "./tiff/tiff_header.js";

export interface RasterLimits {
  /** Width times height. */
  pixels: number;
  bands: number;
  /** The bytes of all pixels of all bands, unpacked. */
  unpacked_bytes: number;
  /** Unpacked size to file size; not looked at below a gigabyte unpacked. */
  unpack_ratio: number;
  /** The bytes of one strip or tile, unpacked. */
  block_bytes: number;
}

export const default_raster_limits: RasterLimits = {
  pixels: 50_000_000_000,
  bands: 1000,
  unpacked_bytes: 1024 ** 4,
  unpack_ratio: 5000,
  block_bytes: 512 * 1024 ** 2,
};

export interface PreflightOptions {
  /** What the engine reads: RasterEngine.codecs. `none` and `packbits` need not be named. */
  codecs: ReadonlySet<string>;
  /** Given by the user, for files without one or with a wrong one. */
  source_crs?: string | null;
  limits?: Partial<RasterLimits>;
  header_limits?: Partial<HeaderLimits>;
}

export interface Preflight {
  /** No finding is an error. */
  ok: boolean;
  findings: Finding[];
  /** null when it could not be read. */
  header: TiffHeader | null;
}

/** Reads only the header, through `read`. Throws only what `read` throws. */
export async function preflight(read: RangeReader, file_size: number, options: PreflightOptions): Promise<Preflight> {
  const kind = fileKind(file_size === 0 ? new Uint8Array() : await read(0, Math.min(file_kind_bytes, file_size)));
  if (kind) return { ok: false, findings: [kind], header: null };
  let header: TiffHeader;
  try {
    header = await readTiffHeader(read, file_size, options.header_limits);
  } catch (error) {
    if (!(error instanceof HeaderError)) throw error;
    return { ok: false, findings: [error.finding], header: null };
  }
  const hidden = await hiddenPath(read, file_size);
  const findings = [...(hidden === null ? [] : [hidden]), ...checkHeader(header, options)];
  return { ok: !hasErrors(findings), findings, header };
}

/** All findings about a header that could be read. */
export function checkHeader(header: TiffHeader, options: PreflightOptions): Finding[] {
  const limits = { ...default_raster_limits, ...options.limits };
  return [
    ...preflightPixels(header, limits),
    ...codecFindings(header, options.codecs),
    ...placeFindings(header, options.source_crs ?? null),
  ];
}

function codecFindings(header: TiffHeader, codecs: ReadonlySet<string>): Finding[] {
  const always = ["none", "packbits"];
  const named = new Map(header.images.map((image) => [image.compression_code, image.compression]));
  return [...named].flatMap(([code, name]) => {
    if (name === null)
      return [finding("codec_unknown", `The pixels are packed with compression ${code}, which is not a known one.`)];
    if (always.includes(name) || codecs.has(name)) return [];
    return [finding("codec_missing", `The pixels are packed with ${name.toUpperCase()}, which needs system GDAL.`)];
  });
}

function placeFindings({ images: [image], georeference }: TiffHeader, source_crs: string | null): Finding[] {
  const { transform, crs, has_control_points } = georeference;
  const findings: Finding[] = [];
  if (!crs && !source_crs) findings.push(finding("no_crs", "The file names no coordinate reference system."));
  if (crs && !crs.code && !source_crs) {
    findings.push(finding("crs_without_code", `The CRS${crs.name ? ` (${crs.name})` : ""} has no EPSG code.`));
  }
  if (crs?.code && source_crs && crs.code.toUpperCase() !== source_crs.toUpperCase()) {
    findings.push(finding("crs_overridden", `The file says ${crs.code}; ${source_crs} was given and is used.`));
  }
  if (!transform) {
    const words = has_control_points
      ? finding("ground_control_points", "The file has ground control points but no geotransform.")
      : finding("no_georeference", "The file does not say where it lies.");
    return [...findings, words];
  }
  const [, dx, rx, , ry, dy] = transform;
  if (transform.some((value) => !Number.isFinite(value)) || dx * dy - rx * ry === 0) {
    return [...findings, finding("transform_not_finite", `The geotransform is [${transform.join(", ")}].`)];
  }
  if (rx !== 0 || ry !== 0) findings.push(finding("rotated", "The raster is rotated against its CRS."));
  else if (dy > 0) findings.push(finding("south_up", "The first row of the raster is its southernmost."));
  const [west, south, east, north] = boundsOf(transform, image.width, image.height);
  const is_geographic = source_crs ? /^(EPSG:4326|OGC:CRS84)$/i.test(source_crs) : crs?.kind === "geographic";
  // Some global grids run from 0 to 360, and half a pixel beyond the poles is usual.
  if (is_geographic && (west < -360.5 || east > 540.5 || south < -91 || north > 91)) {
    const place = [west, south, east, north].map((value) => Number(value.toPrecision(8))).join(", ");
    findings.push(finding("bounds_out_of_range", `The raster lies at ${place} degrees.`));
  }
  return findings;
}
