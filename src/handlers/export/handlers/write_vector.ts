// export.write_vector: a snapshot as files in zone gold, with a manifest of their checksums. One task writes them all, because the files of
// an export appear together, with its finish, or not at all.
import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import type { ZoneAsset } from "../../../core/places/zones.js";
import type { TaskContext } from "../../../core/task/context.js";
import type { MadeFile, Snapshot, WrittenExport, WrittenFile } from "../facts.js";
import { writeCsv } from "../formats/csv.js";
import { writeFlatgeobuf, writeGeopackage } from "../formats/gdal_formats.js";
import { writeGeoparquet } from "../formats/geoparquet.js";
import { writePmtiles } from "../formats/pmtiles.js";
import {
  export_folder,
  export_memory_mb,
  export_module,
  type VectorExportFormat,
  type VectorExportParameters,
  vector_export_parameters,
} from "../settings.js";

const parameters = z.object({
  settings: vector_export_parameters,
  snapshot: z.looseObject({ table_name: z.string() }),
});

type Writer = (ctx: TaskContext, snapshot: Snapshot, settings: VectorExportParameters) => Promise<MadeFile>;

const writers: Readonly<Record<VectorExportFormat, Writer>> = {
  geoparquet: writeGeoparquet,
  flatgeobuf: writeFlatgeobuf,
  geopackage: writeGeopackage,
  pmtiles: writePmtiles,
  csv: writeCsv,
};

export const exportWriteVector = defineHandler(
  "export.write_vector",
  {
    parameters,
    isolation: "process",
    module: export_module,
    memory_mb: export_memory_mb,
    database: true,
    timeout_s: 6 * 3600,
  },
  async ({ settings, snapshot: given }, ctx): Promise<WrittenExport> => {
    const snapshot = given as unknown as Snapshot;
    const name = settings.name ?? settings.layer;
    const prefix = `${export_folder}${name}`;
    const made: { format: VectorExportFormat; file: MadeFile }[] = [];
    for (const format of settings.formats) made.push({ format, file: await writers[format](ctx, snapshot, settings) });
    const files: WrittenFile[] = [];
    for (const {
      format,
      file: { file, media_type, writer },
    } of made) {
      const asset = await ctx.zones.publish(file, { zone: "gold", prefix, name: basename(file), media_type });
      files.push({ format, asset, writer });
    }
    const manifest = await publishManifest(ctx, prefix, { name, snapshot, files });
    return { name, files, manifest, task_id: ctx.task_id };
  },
);

/** Beside the files, by their names: who copies the folder can check it. */
async function publishManifest(
  ctx: TaskContext,
  prefix: string,
  { name, snapshot, files }: { name: string; snapshot: Snapshot; files: readonly WrittenFile[] },
): Promise<ZoneAsset> {
  const manifest = {
    name,
    layer: snapshot.name,
    layer_version: snapshot.version,
    row_count: snapshot.row_count,
    extent: snapshot.extent,
    files: files.map(({ format, asset, writer }) => ({
      file: asset.name,
      format,
      media_type: asset.media_type,
      bytes: asset.bytes,
      sha256: asset.sha256,
      writer,
    })),
  };
  const file = join(await ctx.scratch(), "manifest.json");
  await writeFile(file, `${JSON.stringify(manifest, null, 2)}\n`);
  return ctx.zones.publish(file, { zone: "gold", prefix, name: "manifest.json", media_type: "application/json" });
}
