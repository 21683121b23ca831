// The RasterEngine over GDAL's programs. Everything that decides what comes out is here, once, so that it does not matter who runs them.
import { randomUUID } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { Permanent } from "../../../core/errors/errors.js";
import { transformKnown } from "../../../geo/known_crs.js";
import type { Bounds, CogOptions, CrsInfo, GeoTransform, RasterInfo } from "../../../geo/raster.js";
import { pixelStatistics } from "../pixels/pixel_statistics.js";
import { sampledPixels } from "../pixels/sampled.js";
import { type TiffPixels, withPixels } from "../pixels/tiff_pixels.js";
import { checkedSource, freeTarget } from "../source/local_file.js";
import { localHeader } from "../source/local_header.js";
import type { RasterEngine, SuggestedWarp } from "./engine.js";
import { checkedCrs } from "./gdal_crs.js";
import { info_options, type LookedAt, readInfo } from "./gdal_info.js";
import { checkOptions, copyOptions, outgrowsCache, placeOptions, plain_format, warpOptions } from "./gdal_options.js";
import type { GdalPrograms, SourceFile } from "./gdal_programs.js";
import {
  isInDegrees,
  type MosaicFile,
  maskedText,
  mosaicText,
  readPlace,
  readStatistics,
  renamedBands,
  stackText,
} from "./gdal_vrt.js";
import { headerInfo } from "./header_info.js";
import { coloredPng, paintedPng, type Stretch } from "./quicklook_png.js";
import { type Pixels, readRawPixels } from "./raw_pixels.js";
import { stackProblems } from "./stack_check.js";

type Signal = AbortSignal;

export class GdalEngine implements RasterEngine {
  /** By what it is called when a COG is asked for: as many as a job is likely to have. */
  private readonly systems = new Map<string, CrsInfo>();

  constructor(private readonly gdal: GdalPrograms) {}

  get name(): RasterEngine["name"] {
    return this.gdal.name;
  }

  get version(): string {
    return this.gdal.version;
  }

  get codecs(): ReadonlySet<string> {
    return this.gdal.codecs;
  }

  async info(file: string, signal: Signal): Promise<RasterInfo> {
    return withoutOwn(await this.look(await checkedSource(file), signal));
  }

  async infoOfCog(file: string, target_crs: string, signal: Signal): Promise<RasterInfo> {
    const source = await checkedSource(file);
    const header = await localHeader(source.file);
    const crs = this.systems.get(target_crs);
    const known = header === null || crs === undefined ? null : headerInfo(header);
    if (known !== null && known.crs?.code === crs!.code) return { ...withoutOwn(known), crs: crs! };
    const info = withoutOwn(await this.look(source, signal));
    if (info.crs !== null) this.systems.set(target_crs, info.crs);
    // To the last digit, which gdalinfo does not print of small pixels: as of those that are not asked about.
    return { ...info, transform: header?.georeference.transform ?? info.transform };
  }

  /** What a conversion has to know: from the header where that tells all of it. */
  private async glance(source: SourceFile, signal: Signal): Promise<LookedAt> {
    const header = source.driver === "GTiff" ? await localHeader(source.file) : null;
    return (header === null ? null : headerInfo(header)) ?? this.look(source, signal);
  }

  private async look(source: SourceFile, signal: Signal): Promise<LookedAt> {
    const info = readInfo(await this.gdal.info(source, info_options, signal));
    // Before 3.7 GDAL reads signed bytes as unsigned ones, and every value below zero would be wrong.
    const has_signed_bytes = info.bands.some(({ data_type }) => data_type === "int8");
    if (has_signed_bytes && isBefore(this.version, 3, 7)) {
      throw new Permanent(
        `signed bytes (int8) need GDAL 3.7 or later; this is ${this.version}. Convert it: gdal_translate -ot Int16`,
        {
          code: "unsupported_data_type",
        },
      );
    }
    return info;
  }

  async statistics(file: string, { approximate }: { approximate: boolean }, signal: Signal) {
    const source = await checkedSource(file);
    const own = approximate ? null : await this.read(source, (pixels) => pixelStatistics(pixels, signal));
    if (own !== null) return own;
    // Computed anew by a translation into text: what a file says about itself may be old, or wrong on purpose.
    const wanted = [approximate ? "-approx_stats" : "-stats"];
    const vrt = await this.asText(source, wanted, signal);
    const masked = maskedText(vrt);
    if (masked === null) return readStatistics(vrt);
    // GDAL counts what a mask or an alpha band hides: it is asked again about the rest.
    return this.throughText(file, async (hidden) => {
      await writeFile(hidden, masked, { flag: "wx" });
      return readStatistics(await this.asText({ file: hidden, driver: "VRT", needs: [file] }, wanted, signal));
    });
  }

  async transform(points: [number, number][], from_crs: string, to_crs: string): Promise<([number, number] | null)[]> {
    const known = transformKnown(points, from_crs, to_crs);
    return known ?? this.gdal.transform(points, checkedCrs(from_crs), checkedCrs(to_crs));
  }

  async suggestWarp(file: string, options: Pick<CogOptions, "source_crs" | "target_crs">, signal: Signal) {
    const source = await checkedSource(file);
    return this.suggest(source, options, signal);
  }

  private async suggest(
    source: SourceFile,
    options: Pick<CogOptions, "source_crs" | "target_crs">,
    signal: Signal,
  ): Promise<SuggestedWarp> {
    const text = await this.throughText(source.file, async (vrt) => {
      await this.gdal.warp(source, vrt, [...placeOptions(options), "-of", "VRT"], signal);
      return readFile(vrt, "utf8");
    });
    const place = readPlace(text);
    if (place === null) throw new Permanent("GDAL found no place for the raster in that CRS", { code: "no_warp" });
    const [x, dx, , y, , dy] = place.transform;
    const bounds: Bounds = [x, y + dy * place.height, x + dx * place.width, y];
    return { ...place, bounds, is_degrees: isInDegrees(text) };
  }

  async cog(file: string, target: string, options: CogOptions, signal: Signal): Promise<void> {
    const source = await checkedSource(file);
    await freeTarget(target);
    const info = await this.glance(source, signal);
    checkOptions(options, info, this.codecs);
    const all = await this.placed(source, options, info.overview_count > 0, signal);
    const bands = options.bands?.map((band) => info.bands[band - 1]!) ?? info.bands;
    const copied = copyOptions(all, { ...info, bands });
    await this.withBands(source, target, options, signal, (chosen) =>
      copied !== null
        ? this.gdal.translate(chosen, target, copied, signal)
        : this.warpToCog(chosen, target, all, { ...info, bands }, signal),
    );
  }

  /** A COG is made of a warp in two passes, the overviews first: pixels that the cache cannot hold meanwhile are computed once, into a file. */
  private async warpToCog(
    source: SourceFile,
    target: string,
    options: CogOptions,
    info: LookedAt,
    signal: Signal,
  ): Promise<void> {
    const { warp, format } = warpOptions(options, info);
    const { cache_mb } = this.gdal;
    if (cache_mb === null || !outgrowsCache(options, info, cache_mb))
      return this.gdal.warp(source, target, [...warp, ...format], signal);
    await this.throughFile(target, ".tif", async (plain) => {
      // The text of a warp has the same pixels, to the last digit, as the COG that GDAL would make at once; a warp into a file has not.
      await this.throughFile(target, ".vrt", async (vrt) => {
        await this.gdal.warp(source, vrt, [...warp, "-of", "VRT"], signal);
        const warped: SourceFile = { file: vrt, driver: "VRT", needs: [source.file] };
        await this.gdal.translate(warped, plain, plain_format, signal);
      });
      await this.gdal.translate({ file: plain, driver: "GTiff" }, target, format, signal);
    });
  }

  /** A pixel size for bounds that come without; both, where overviews of the source depend on how large the output is. */
  private async placed(source: SourceFile, options: CogOptions, both: boolean, signal: Signal): Promise<CogOptions> {
    const { bounds, resolution } = options;
    if (resolution !== undefined || (bounds === undefined && !both)) return options;
    const suggested = await this.suggest(source, options, signal);
    return { ...options, bounds: bounds ?? suggested.bounds, resolution: resolutionOf(suggested) };
  }

  /** Bands chosen or named anew: a VRT of the source, for as long as `work` takes. */
  private async withBands(
    source: SourceFile,
    target: string,
    { bands, band_names }: CogOptions,
    signal: Signal,
    work: (chosen: SourceFile) => Promise<void>,
  ): Promise<void> {
    if (bands === undefined && band_names === undefined) return work(source);
    const options = ["-of", "VRT", ...(bands ?? []).flatMap((band) => ["-b", String(band)])];
    await this.throughText(target, async (vrt) => {
      await this.gdal.translate(source, vrt, options, signal);
      if (band_names !== undefined) await writeFile(vrt, renamedBands(await readFile(vrt, "utf8"), band_names));
      await work({ file: vrt, driver: "VRT", needs: [source.file] });
    });
  }

  async stack(sources: { file: string; band: number; name: string }[], target_vrt: string, signal: Signal) {
    if (!target_vrt.endsWith(".vrt")) throw new Permanent("a stack is written as .vrt", { code: "bad_file_name" });
    await freeTarget(target_vrt);
    const folder = dirname(target_vrt);
    const looked = new Map<string, RasterInfo>();
    const bands = [];
    for (const { file, band, name } of sources) {
      const info = looked.get(file) ?? (await this.look(await checkedSource(file), signal));
      looked.set(file, info);
      bands.push({ relative: relative(folder, file), band, name, info });
    }
    const problems = stackProblems(bands);
    if (problems.length > 0) {
      throw new Permanent(`these cannot be the bands of one raster: ${problems.join("; ")}`, {
        code: "stack_mismatch",
      });
    }
    await writeFile(target_vrt, stackText(bands), { flag: "wx" });
  }

  async mosaic(files: string[], target_vrt: string, bounds: Bounds, signal: Signal) {
    if (!target_vrt.endsWith(".vrt")) throw new Permanent("a mosaic is written as .vrt", { code: "bad_file_name" });
    await freeTarget(target_vrt);
    const folder = dirname(target_vrt);
    const parts: MosaicFile[] = [];
    for (const file of files) {
      const { has_mask, color_table, ...info } = await this.look(await checkedSource(file), signal);
      if (has_mask || color_table !== null) {
        const what = has_mask ? "a mask of its own" : "a table of colours";
        throw new Permanent(`a raster with ${what} cannot be part of a mosaic: make a COG with nodata of it first`, {
          code: "mosaic_mask",
        });
      }
      parts.push({ relative: relative(folder, file), info });
    }
    await writeFile(target_vrt, mosaicText(parts, bounds), { flag: "wx" });
  }

  async quicklook(
    file: string,
    target: string,
    options: { size: number; bands: [number] | [number, number, number]; minimum: number[]; maximum: number[] },
    signal: Signal,
  ): Promise<void> {
    const source = await checkedSource(file);
    await freeTarget(target);
    const stretches = options.bands.map((_, at): Stretch => [options.minimum[at] ?? 0, options.maximum[at] ?? 1]);
    const own = await this.read(source, async (own_pixels) =>
      own_pixels.header.images[0].has_color_table ? null : ownSample(own_pixels, options.bands, options.size, signal),
    );
    if (own !== null) return writeFile(target, paintedPng(own, stretches));
    const info = await this.look(source, signal);
    const pixels = await this.pixels(source, target, info, options.bands, options.size, signal);
    const has_own_colors = info.color_table !== null && options.bands.length === 1 && options.bands[0] === 1;
    const png = has_own_colors ? coloredPng(pixels, info.color_table!) : paintedPng(pixels, stretches);
    await writeFile(target, png);
  }

  async validMask(file: string, { size }: { size: number }, signal: Signal) {
    const source = await checkedSource(file);
    const own = await this.read(source, (pixels) =>
      ownSample(pixels, maskBands(pixels.alpha !== null, pixels.band_count), size, signal),
    );
    const { width, height, valid } = own ?? (await this.maskedPixels(source, size, signal));
    const [data = new Uint8Array(width * height), ...others] = valid;
    for (const mask of others) for (let at = 0; at < data.length; at++) if (mask[at] !== 0) data[at] = 1;
    return { width, height, data };
  }

  private async maskedPixels(source: SourceFile, size: number, signal: Signal): Promise<Pixels> {
    const info = await this.look(source, signal);
    const has_alpha = info.bands.some(({ color_interpretation }) => color_interpretation === "alpha");
    return this.pixels(source, source.file, info, maskBands(has_alpha, info.bands.length), size, signal);
  }

  /** What needs no GDAL; null where it does. */
  private async read<T>(source: SourceFile, work: (pixels: TiffPixels) => Promise<T | null>): Promise<T | null> {
    return source.driver === "GTiff" ? withPixels(source.file, work) : null;
  }

  /** Bands at a smaller size, and which of their pixels are valid. */
  async readPixels(file: string, options: { bands: number[]; size: number }, signal: Signal): Promise<Pixels> {
    const source = await checkedSource(file);
    const info = await this.look(source, signal);
    return this.pixels(source, file, info, options.bands, options.size, signal);
  }

  private async pixels(
    source: SourceFile,
    near: string,
    info: RasterInfo,
    bands: number[],
    size: number,
    signal: Signal,
  ) {
    const missing = bands.filter((band) => info.bands[band - 1] === undefined);
    if (missing.length > 0) {
      throw new Permanent(`there is no band ${missing.join(", ")}: the raster has ${info.bands.length}`, {
        code: "bad_band",
      });
    }
    const { width, height } = shrunk(info, size);
    const chosen = bands.flatMap((band) => ["-b", String(band)]);
    const masks = bands.flatMap((band) => ["-b", `mask,${band}`]);
    const raw = join(dirname(near), `${randomUUID()}.raw.tif`);
    const format = ["-of", "GTiff", "-ot", "Float64", "-co", "COMPRESS=NONE", "-co", "INTERLEAVE=BAND"];
    const shape = ["-co", `BLOCKYSIZE=${height}`, "-co", "PROFILE=BASELINE", "-co", "BIGTIFF=NO"];
    const options = [...format, ...shape, "-mask", "none", "-outsize", String(width), String(height), "-r", "nearest"];
    try {
      await this.gdal.translate(source, raw, [...options, ...chosen, ...masks], signal);
      return readRawPixels(await readFile(raw), width, height, bands.length);
    } finally {
      await rm(raw, { force: true });
    }
  }

  private asText(source: SourceFile, options: readonly string[], signal: Signal): Promise<string> {
    return this.throughText(source.file, async (vrt) => {
      await this.gdal.translate(source, vrt, ["-of", "VRT", ...options], signal);
      return readFile(vrt, "utf8");
    });
  }

  /** A VRT beside `near`, gone afterwards. */
  private throughText<T>(near: string, work: (vrt: string) => Promise<T>): Promise<T> {
    return this.throughFile(near, ".vrt", work);
  }

  private async throughFile<T>(near: string, ending: ".vrt" | ".tif", work: (file: string) => Promise<T>): Promise<T> {
    const file = join(dirname(near), `${randomUUID()}${ending}`);
    try {
      return await work(file);
    } finally {
      await rm(file, { force: true });
    }
  }
}

const most_mask_bands = 16;

function withoutOwn({ has_mask: _, color_table: __, ...info }: LookedAt): RasterInfo {
  return info;
}

/** Data in any band is data; alpha itself tells for all. */
function maskBands(has_alpha: boolean, count: number): number[] {
  return has_alpha ? [1] : Array.from({ length: Math.min(count, most_mask_bands) }, (_, at) => at + 1);
}

function shrunk({ width, height }: { width: number; height: number }, size: number) {
  const share = Math.min(1, size / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * share)), height: Math.max(1, Math.round(height * share)) };
}

async function ownSample(pixels: TiffPixels, bands: readonly number[], size: number, signal: Signal) {
  if (bands.some((band) => band < 1 || band > pixels.band_count)) return null;
  return sampledPixels(pixels, { bands, ...shrunk(pixels.header.images[0], size) }, signal);
}

function resolutionOf({ transform }: { transform: GeoTransform }): [number, number] {
  return [Math.abs(transform[1]), Math.abs(transform[5])];
}

function isBefore(version: string, major: number, minor: number): boolean {
  const [first = 0, second = 0] = version.split(".").map(Number);
  return first < major || (first === major && second < minor);
}
