// GDAL as one set of programs, whichever way they are run: the engine above asks the same of both, with the same arguments, so that
// the same options give the same results.
import type { RasterEngine } from "./engine.js";

/** What a program may open: the name of a file alone decides nothing. */
export type SourceDriver = "GTiff" | "VRT";

export interface SourceFile {
  file: string;
  driver: SourceDriver;
  /** For a VRT: files in other folders that its text leads to. */
  needs?: readonly string[];
}

export interface GdalPrograms {
  readonly name: RasterEngine["name"];
  readonly version: string;
  readonly codecs: ReadonlySet<string>;
  /** For blocks of pixels; null where files are kept in memory too, so that one more would save none of it. */
  readonly cache_mb: number | null;
  /** The text gdalinfo prints. */
  info(source: SourceFile, options: readonly string[], signal: AbortSignal): Promise<string>;
  translate(source: SourceFile, target: string, options: readonly string[], signal: AbortSignal): Promise<void>;
  warp(source: SourceFile, target: string, options: readonly string[], signal: AbortSignal): Promise<void>;
  transform(
    points: readonly (readonly [number, number])[],
    from_crs: string,
    to_crs: string,
  ): Promise<([number, number] | null)[]>;
}
