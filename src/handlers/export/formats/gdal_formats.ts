// FlatGeobuf and GeoPackage, which GDAL writes: the system's programs, or the WASM build where there are none.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { TaskContext } from "../../../core/task/context.js";
import { ogrFor } from "../../vector/gdal/ogr_choice.js";
import type { OgrEngine } from "../../vector/gdal/ogr_engine.js";
import type { MadeFile, Snapshot } from "../facts.js";
import { gdal_geometry, writeGdalCsv } from "./csv.js";

export async function writeFlatgeobuf(ctx: TaskContext, snapshot: Snapshot): Promise<MadeFile> {
  const engine = await ogrFor(ctx.raster);
  const file = join(await ctx.scratch(), `${snapshot.name}.fgb`);
  await convert(ctx, engine, snapshot, file, ["-f", "FlatGeobuf"]);
  return { file, media_type: "application/vnd.flatgeobuf", writer: writerOf(engine) };
}

export async function writeGeopackage(ctx: TaskContext, snapshot: Snapshot): Promise<MadeFile> {
  const engine = await ogrFor(ctx.raster);
  const file = join(await ctx.scratch(), `${snapshot.name}.gpkg`);
  await convert(ctx, engine, snapshot, file, ["-f", "GPKG", "-lco", "FID=fid", "-lco", "GEOMETRY_NAME=geom"]);
  return { file, media_type: "application/geopackage+sqlite3", writer: writerOf(engine) };
}

export const writerOf = ({ name, version }: OgrEngine) => ({ name, version });

export async function convert(
  ctx: TaskContext,
  engine: OgrEngine,
  snapshot: Snapshot,
  file: string,
  options: readonly string[],
): Promise<void> {
  const path = await writeGdalCsv(ctx, snapshot);
  await rm(file, { force: true });
  const source = {
    path,
    driver: "CSV",
    options: [`GEOM_POSSIBLE_NAMES=${gdal_geometry}`, "KEEP_GEOM_COLUMNS=NO", "EMPTY_STRING_AS_NULL=YES"],
  };
  const place =
    snapshot.srid === null ? ["-nlt", "NONE"] : ["-a_srs", `EPSG:${snapshot.srid}`, "-nlt", typeOf(snapshot)];
  await engine.write(source, file, [...options, ...place, "-nln", snapshot.name], ctx.signal);
  await rm(path);
  await rm(`${path}t`);
}

function typeOf({ geometry_types }: Snapshot): string {
  return geometry_types.length === 1 ? geometry_types[0]!.toUpperCase() : "GEOMETRY";
}
