// What the raster handlers ask of GDAL, whichever it is: the system's command line, or the WASM build inside this process.
// Every file named here is local, ours, and has passed the header check; engines add the driver allow-list and the environment.
import type { BandStatistics, Bounds, CogOptions, GeoTransform, RasterInfo } from "../../../geo/raster.js";

export interface SuggestedWarp {
  width: number;
  height: number;
  transform: GeoTransform;
  bounds: Bounds;
  /** Units of the target CRS are degrees. */
  is_degrees: boolean;
}

export interface RasterEngine {
  readonly name: "gdal" | "gdal-wasm";
  /** GDAL's own: "3.6.2". */
  readonly version: string;
  /** TIFF codecs it can read and write, lower case as in src/geo/raster.ts. */
  readonly codecs: ReadonlySet<string>;
  info(file: string, signal: AbortSignal): Promise<RasterInfo>;
  /** The same of a file that cog() has written with this target CRS: what is the same in all of those is asked once. */
  infoOfCog(file: string, target_crs: string, signal: AbortSignal): Promise<RasterInfo>;
  /** Exact unless `approximate`; `null` for a band without a valid pixel. */
  statistics(file: string, options: { approximate: boolean }, signal: AbortSignal): Promise<(BandStatistics | null)[]>;
  /** Points that cannot be transformed come back as null. */
  transform(points: [number, number][], from_crs: string, to_crs: string): Promise<([number, number] | null)[]>;
  /** Size and place of the whole raster after a reprojection, as gdalwarp would choose them. */
  suggestWarp(
    file: string,
    options: Pick<CogOptions, "source_crs" | "target_crs">,
    signal: AbortSignal,
  ): Promise<SuggestedWarp>;
  /** Reprojects and writes a COG in one pass. The output is not checked here. */
  cog(source: string, target: string, options: CogOptions, signal: AbortSignal): Promise<void>;
  /** Files of equal size and place become the bands of one source for cog(): a VRT of our own text, written to `target_vrt`. */
  stack(
    sources: { file: string; band: number; name: string }[],
    target_vrt: string,
    signal: AbortSignal,
  ): Promise<void>;
  /** Files of one grid of pixels side by side, the later over the earlier, as one source for cog(): of these bounds, in their own CRS. */
  mosaic(files: string[], target_vrt: string, bounds: Bounds, signal: AbortSignal): Promise<void>;
  /** An 8-bit PNG of at most `size` pixels a side, values stretched between `minimum` and `maximum`, nodata transparent. */
  quicklook(
    source: string,
    target: string,
    options: { size: number; bands: [number] | [number, number, number]; minimum: number[]; maximum: number[] },
    signal: AbortSignal,
  ): Promise<void>;
  /** Which pixels are valid in a picture of at most `size` pixels a side: 1 or 0, row by row. */
  validMask(
    source: string,
    options: { size: number },
    signal: AbortSignal,
  ): Promise<{ width: number; height: number; data: Uint8Array }>;
}
