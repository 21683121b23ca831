// A source that is no TIFF, made one: fetched, looked through for what leads to other files, opened with the one driver of its format, and
// one layer of it written as a plain GeoTIFF. What follows is the way of every source.
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, readFile, rm, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { Permanent } from "../../../core/errors/errors.js";
import { quoted } from "../../../core/errors/problems.js";
import type { TaskContext } from "../../../core/task/context.js";
import { file_kind_bytes } from "../../../geo/file_kind.js";
import { finding } from "../../../geo/findings.js";
import { hdf5Links } from "../../../geo/formats/hdf5_links.js";
import { hfaNames } from "../../../geo/formats/hfa_names.js";
import { readVrt, writeVrt } from "../../../geo/formats/vrt_text.js";
import { default_raster_limits } from "../../../geo/preflight.js";
import type { Finding } from "../../../geo/raster.js";
import type { RangeReader } from "../../../geo/tiff/tiff_reader.js";
import type { RasterEngine } from "../gdal/engine.js";
import { refuseFindings } from "../source/refuse_findings.js";
import { cached, checkLocalFile, findSource, type SourceLimits } from "../source/source.js";
import { type FormatEngine, type FormatSource, formatEngine } from "./format_engine.js";
import { formatOf, isVrt, type RasterFormat, unreadable, zarr } from "./format_of.js";
import { type Step, type Variable, variablesOf } from "./layers.js";
import { rewrittenVrt } from "./vrt_source.js";
import { fetchZarr, zarrOf } from "./zarr_folder.js";

/** One raster of a file that holds several. */
export interface WantedLayer {
  variable?: string | undefined;
  /** Counted from 1. */
  step?: number | undefined;
}

export interface ForeignFile {
  engine: FormatEngine;
  file: FormatSource;
  /** Of what was fetched. */
  bytes: number;
  sha256: string;
  /** Of this version of it; null when nobody can tell. */
  identity: string[] | null;
}

export interface ForeignSource {
  file: string;
  bytes: number;
  sha256: string;
  findings: Finding[];
  moment: string | null;
  properties: Record<string, string | number>;
}

/** null: it is none of these formats, and what was said of it as a TIFF holds. */
export async function fetchForeign(
  ctx: TaskContext,
  source: string,
  engine: RasterEngine,
  limits: SourceLimits & { max_bytes: number },
): Promise<ForeignFile | null> {
  const scratch = await ctx.scratch();
  const gdal = () => formatEngine(engine, ctx.raster);
  const store = zarrOf(source);
  if (store !== null) {
    const own = await gdal();
    if (!own.drivers.has("Zarr")) throw unreadable(zarr, engine);
    const path = join(scratch, `${randomUUID()}.zarr`);
    await mkdir(path);
    const got = await fetchZarr(ctx, store, path, limits.max_bytes);
    if (got.is_third) {
      const hint = "Write it with zarr_format=2 (xarray: to_zarr(…, zarr_format=2)), or give GeoTIFFs";
      throw new Permanent(`${source} is of Zarr's third version, which is not read here. ${hint}`, {
        code: "format_unreadable",
      });
    }
    return {
      engine: own,
      file: { path, driver: "Zarr", part: null },
      bytes: got.bytes,
      sha256: got.sha256,
      identity: null,
    };
  }
  const remote = await findSource(ctx, source, limits);
  const path = join(scratch, `${randomUUID()}.raster`);
  const got = await cached(ctx, remote.identity, path, () => remote.fetch(path));
  return withFile(path, async (read) => {
    const head = await read(0, file_kind_bytes);
    if (isVrt(head)) {
      const { file, bytes, sha256 } = await rewrittenVrt(ctx, source, path, engine, limits);
      return { engine: await gdal(), file, bytes, sha256, identity: null };
    }
    const format = formatOf(head);
    if (format === null) return null;
    const { size } = await stat(path);
    const leads =
      format.looks_for === "hdf5"
        ? await hdf5Links(read, size)
        : format.looks_for === "hfa"
          ? await hfaNames(read, size)
          : null;
    if (leads !== null) refuseFindings(source, [leads], false);
    const own = await gdal();
    const file = await opened(own, format, path, ctx.signal);
    if (file === null) throw unreadable(format, engine);
    return { engine: own, file, bytes: got.bytes, sha256: got.sha256, identity: remote.identity };
  });
}

/** The first driver that opens it; the last one's error, where none does. */
async function opened(
  engine: FormatEngine,
  { drivers }: RasterFormat,
  path: string,
  signal: AbortSignal,
): Promise<FormatSource | null> {
  const here = drivers.filter((driver) => engine.drivers.has(driver));
  for (const [at, driver] of here.entries()) {
    const file: FormatSource = { path, driver, part: null };
    try {
      await engine.info(file, ["-json", "-norat", "-nogcp", "-nomd"], signal);
      return file;
    } catch (error) {
      if (signal.aborted || at === here.length - 1) throw error;
    }
  }
  return null;
}

/** The wanted layer as a GeoTIFF in the scratch folder, checked as any that was fetched; null as above. */
export async function openForeign(
  ctx: TaskContext,
  source: string,
  engine: RasterEngine,
  wanted: WantedLayer,
  limits: SourceLimits & { max_bytes: number },
): Promise<ForeignSource | null> {
  const foreign = await fetchForeign(ctx, source, engine, limits);
  if (foreign === null) return null;
  const { variable, steps } = chosen(
    await variablesOf(foreign.engine, foreign.file, ctx.signal, wanted.variable),
    wanted,
    source,
  );
  refuseLarge(source, variable, steps.length, foreign.bytes);
  const path = join(await ctx.scratch(), `${randomUUID()}.tif`);
  const layer = ["layer", variable.name ?? "", String(wanted.step ?? ""), engine.name, engine.version];
  const identity = foreign.identity === null ? null : [...foreign.identity, ...layer];
  await cached(ctx, identity, path, async () => {
    await unpack(foreign, variable, steps, path, ctx.signal);
    return { bytes: (await stat(path)).size, sha256: foreign.sha256 };
  });
  const { findings } = await checkLocalFile(path, {
    codecs: engine.codecs,
    source_crs: limits.source_crs ?? null,
    limits: limits.raster,
  });
  const only = steps.length === 1 ? steps[0]! : null;
  return {
    file: path,
    bytes: foreign.bytes,
    sha256: foreign.sha256,
    findings,
    moment: only?.moment ?? null,
    properties: layerProperties(variable, only),
  };
}

/** What an item says of where it comes from in its file. */
export function layerProperties({ name, steps }: Pick<Variable, "name" | "steps">, step: Step | null) {
  const labels = Object.entries(step?.labels ?? {}).map(
    ([label, value]) => [`fanfold:${label.toLowerCase()}`, value] as const,
  );
  return {
    ...(name === null ? {} : { "fanfold:variable": name }),
    ...(step === null || steps.length < 2 ? {} : { "fanfold:step": steps.indexOf(step) + 1 }),
    ...Object.fromEntries(labels),
  };
}

/** As many bands as one COG may have. */
const most_bands = 100;

function chosen(variables: Variable[], wanted: WantedLayer, source: string): { variable: Variable; steps: Step[] } {
  const fits = variables.filter(({ name }) => wanted.variable === undefined || name === wanted.variable);
  const usable = wanted.variable === undefined ? fits.filter(({ has_place }) => has_place) : fits;
  const names = variables.flatMap(({ name }) => name ?? []).slice(0, 50);
  const told = names.length === 0 ? "It has no variables with a name" : `It has ${names.join(", ")}`;
  const [variable] = usable.length > 0 ? usable : fits;
  if (variable === undefined || variable.steps.length === 0) {
    throw new Permanent(`${source} has no variable ${quoted(wanted.variable ?? "")}. ${told}`, {
      code: "no_such_layer",
    });
  }
  if (usable.length > 1) {
    const several = usable.map(({ name }) => name).slice(0, 50);
    throw new Permanent(
      `${source} holds several rasters: give variable (${several.join(", ")}), or process_raster_layers, which makes an item of each`,
      { code: "several_layers" },
    );
  }
  if (wanted.step !== undefined) {
    const step = variable.steps[wanted.step - 1];
    if (step === undefined) {
      throw new Permanent(`${source} has ${variable.steps.length} steps, and no step ${wanted.step}`, {
        code: "no_such_layer",
      });
    }
    return { variable, steps: [step] };
  }
  const is_one_part = new Set(variable.steps.map(({ part }) => part)).size === 1;
  if (variable.steps.length > 1 && (!is_one_part || variable.steps.length > most_bands)) {
    throw new Permanent(
      `${source} holds ${variable.steps.length} steps: give step (1 to ${variable.steps.length}), or process_raster_layers, which makes an item of each`,
      { code: "several_layers" },
    );
  }
  return { variable, steps: variable.steps };
}

/** Said before anything is written: what is declared costs nothing to declare. */
function refuseLarge(source: string, { size: [width, height] }: Variable, bands: number, bytes: number): void {
  const { pixels, unpack_ratio } = default_raster_limits;
  const unpacked = width * height * bands * 8;
  const findings: Finding[] = [];
  if (width * height > pixels) findings.push(finding("pixel_limit", `It would be ${width} × ${height} pixels.`));
  if (unpacked > 8 * 2 ** 30 && unpacked > bytes * unpack_ratio) {
    findings.push(
      finding("raster_bomb", `${Math.round(bytes / 1024)} KB would become ${Math.round(unpacked / 2 ** 30)} GB.`),
    );
  }
  refuseFindings(source, findings, false);
}

/**
 * GDAL's own description of the layer is read as data, as a stranger's VRT is, and only sizes, places and values are taken from it: what a
 * file says in its metadata may name other files.
 */
async function unpack(
  { engine, file }: ForeignFile,
  { name: variable }: Variable,
  steps: Step[],
  target: string,
  signal: AbortSignal,
): Promise<void> {
  const bands = steps.flatMap(({ band }) => ["-b", String(band)]);
  const text = `${target}.vrt`;
  const [{ part }] = steps as [Step];
  try {
    let described: FormatSource = file;
    if (file.driver !== "VRT") {
      const options = ["-of", "VRT", "-nogcp", "-noxmp", "-norat", "-mask", "none", ...bands];
      await engine.translate({ ...file, part }, text, options, signal);
      const vrt = readVrt(await readFile(text, "utf8"));
      // It names the one file it was made of.
      const is_own = vrt.bands.every(({ sources }) => sources.every(({ name }) => name.includes(basename(file.path))));
      if (!is_own) throw new Permanent("GDAL describes the file by other files", { code: "unsafe_raster" });
      for (const [at, band] of vrt.bands.entries())
        band.description ??= (steps.length > 1 ? steps[at]!.moment : null) ?? variable;
      await writeFile(text, writeVrt(vrt));
      described = { path: text, driver: "VRT", part: null, behind: file.driver };
    }
    const format = [
      "-of",
      "GTiff",
      "-co",
      "TILED=YES",
      "-co",
      "BIGTIFF=IF_SAFER",
      "-co",
      "SPARSE_OK=TRUE",
      "-co",
      "COMPRESS=NONE",
    ];
    await engine.translate(described, target, described === file ? [...format, ...bands] : format, signal);
  } finally {
    await rm(text, { force: true });
  }
}

async function withFile<T>(path: string, work: (read: RangeReader) => Promise<T>): Promise<T> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    return await work(async (offset, length) => {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, offset);
      return buffer.subarray(0, bytesRead);
    });
  } finally {
    await handle.close();
  }
}
