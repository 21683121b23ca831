// export.publish: the item of an exported layer: from the end of this task on it is there for everybody who looks.
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import { formatZoneRef } from "../../../core/places/zones.js";
import { exportItem } from "../export_item.js";
import type { Snapshot, WrittenExport } from "../facts.js";
import { publishItem } from "../publish_item.js";
import { vector_export_parameters } from "../settings.js";

export interface PublishedExport {
  name: string;
  collection: string;
  layer: string;
  layer_version: number;
  row_count: number;
  files: { file: string; format: string; bytes: number; sha256: string }[];
  manifest: string;
  replaced_files: number;
  links: { item: string };
}

export const exportPublish = defineHandler(
  "export.publish",
  { parameters: z.object({ settings: vector_export_parameters }) },
  async ({ settings }, ctx): Promise<PublishedExport> => {
    const snapshot = await ctx.previous("snapshot").one<Snapshot>();
    const written = await ctx.previous("write").one<WrittenExport>();
    const item = exportItem({ settings, snapshot, written, job_id: ctx.job_id });
    const { path, replaced_files } = await publishItem(ctx, item, settings.overwrite);
    ctx.deliver({ name: "export", count: written.files.length, location: path });
    return {
      name: written.name,
      collection: settings.collection,
      layer: snapshot.name,
      layer_version: snapshot.version,
      row_count: snapshot.row_count,
      files: written.files.map(({ format, asset }) => ({
        file: formatZoneRef(asset),
        format,
        bytes: asset.bytes,
        sha256: asset.sha256,
      })),
      manifest: formatZoneRef(written.manifest),
      replaced_files,
      links: { item: path },
    };
  },
);
