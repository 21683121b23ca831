// PMTiles, a pyramid of vector tiles in one file: by tippecanoe where it is on PATH, because it thins out what is too dense for a tile; by
// GDAL otherwise, which only caps a tile and whose WASM build is slow, so that its size is limited.
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { Permanent } from "../../../core/errors/errors.js";
import type { TaskContext } from "../../../core/task/context.js";
import { type Program, runProgram } from "../../raster/gdal/cli_process.js";
import { ogrFor } from "../../vector/gdal/ogr_choice.js";
import { openOgrWasm } from "../../vector/gdal/ogr_wasm.js";
import type { MadeFile, Snapshot } from "../facts.js";
import type { VectorExportParameters } from "../settings.js";
import { first_column, type Scalar, snapshotPages } from "../snapshot_rows.js";
import { convert, writerOf } from "./gdal_formats.js";

export const pmtiles_media_type = "application/vnd.pmtiles";
const most_wasm_bytes = 200 * 2 ** 20;
const usual_max_zoom = 6;

export async function writePmtiles(
  ctx: TaskContext,
  snapshot: Snapshot,
  settings: VectorExportParameters,
): Promise<MadeFile> {
  const file = join(await ctx.scratch(), `${snapshot.name}.pmtiles`);
  await rm(file, { force: true });
  const version = ctx.raster.engine === "wasm" ? null : await tippecanoeVersion(ctx);
  const writer =
    version === null
      ? await byGdal(ctx, snapshot, file, settings)
      : { name: "tippecanoe", version: await byTippecanoe(ctx, snapshot, file, settings, version) };
  return { file, media_type: pmtiles_media_type, writer };
}

async function byGdal(ctx: TaskContext, snapshot: Snapshot, file: string, settings: VectorExportParameters) {
  const { min_zoom, max_zoom = Math.max(settings.min_zoom, usual_max_zoom) } = settings;
  const system = await ogrFor(ctx.raster);
  const engine = system.writes("PMTiles") ? system : await openOgrWasm();
  if (engine.name === "gdal-wasm" && snapshot.bytes > most_wasm_bytes) {
    throw new Permanent(
      `PMTiles of ${Math.ceil(snapshot.bytes / 2 ** 20)} MB of features need tippecanoe on PATH, or a GDAL 3.8 or later: the WASM build takes at most ${most_wasm_bytes / 2 ** 20} MB`,
      { code: "tiler_missing" },
    );
  }
  const title = snapshot.title ?? snapshot.name;
  const options = ["-f", "PMTiles", "-dsco", `MINZOOM=${min_zoom}`, "-dsco", `MAXZOOM=${max_zoom}`];
  await convert(ctx, engine, snapshot, file, [...options, "-dsco", `NAME=${title.slice(0, 100)}`]);
  return writerOf(engine);
}

const programOf = (ctx: TaskContext): Program => ({ wrapper: [], env: { PATH: ctx.raster.path, LC_ALL: "C" } });

/** null: there is none on PATH that this process may run. */
async function tippecanoeVersion(ctx: TaskContext): Promise<string | null> {
  const run = { argv: ["tippecanoe", "--version"], folder: await ctx.scratch(), failing: "tippecanoe cannot be used" };
  try {
    const { stdout, stderr } = await runProgram(programOf(ctx), run);
    return /v(\d+\.\d+\.\d+)/.exec(`${stdout}\n${stderr.join("\n")}`)?.[1] ?? "?";
  } catch (error) {
    ctx.signal.throwIfAborted();
    const { message, cause } = error as Error & { cause?: NodeJS.ErrnoException };
    const why =
      cause?.code === "ENOENT"
        ? "no folder of PATH has it"
        : cause?.code === "EACCES"
          ? "no folder of PATH that the user of isolated handlers may read has it"
          : message;
    ctx.log.info("GDAL makes the tiles, not tippecanoe", { why });
    return null;
  }
}

async function byTippecanoe(
  ctx: TaskContext,
  snapshot: Snapshot,
  file: string,
  { min_zoom, max_zoom }: VectorExportParameters,
  version: string,
): Promise<string> {
  const folder = await ctx.scratch();
  const input = join(folder, "rows.geojsonl");
  await writeGeojsonLines(ctx, snapshot, input);
  const zooms = max_zoom === undefined ? ["-zg", "--extend-zooms-if-still-dropping"] : [`-z${max_zoom}`];
  const argv = [
    ...["tippecanoe", "--quiet", "--force", "-o", file, "-l", snapshot.name, "-n", snapshot.title ?? snapshot.name],
    ...["-t", folder, `-Z${min_zoom}`, ...zooms, "--drop-densest-as-needed", "-P", input],
  ];
  await runProgram(programOf(ctx), { argv, folder, failing: "tippecanoe could not make tiles", signal: ctx.signal });
  await rm(input);
  return version;
}

async function writeGeojsonLines(ctx: TaskContext, snapshot: Snapshot, file: string): Promise<void> {
  const { columns, row_count } = snapshot;
  const handle = await open(file, "w");
  try {
    for await (const page of snapshotPages(ctx, snapshot, "geojson")) {
      const lines = page.map((row) => {
        const properties: Record<string, Scalar> = {};
        for (let at = 0; at < columns.length; at++) {
          const { name, type } = columns[at]!;
          properties[name] = propertyOf(row[first_column + at] as Scalar, type);
        }
        return JSON.stringify({ type: "Feature", id: Number(row[1]), geometry: row[2], properties });
      });
      await handle.writeFile(`${lines.join("\n")}\n`);
      ctx.progress({ done: page.at(-1)![0], total: row_count, message: "tiles" });
    }
  } finally {
    await handle.close();
  }
}

/** Tiles have no days and no moments: they are texts there. */
function propertyOf(value: Scalar, type: string): Scalar {
  if (value === null) return null;
  if (type === "date") return new Date(Number(value) * 86_400_000).toISOString().slice(0, 10);
  if (type === "datetime") return new Date(Number(value) / 1000).toISOString();
  if (type === "integer" || type === "number") return Number(value);
  return value;
}
