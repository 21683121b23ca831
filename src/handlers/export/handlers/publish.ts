// export.publish: the item of an export, in the transaction that ends this task: from then on it is there for everybody who looks. Files of
// the export that had the name before go in that transaction too.
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import { catalogOf } from "../../stac/catalog_of.js";
import { leavingFiles } from "../../stac/leaving_files.js";
import { filesOf, findItems, refuseTaken, zoneRef } from "../../stac/taken_items.js";
import { exportItem } from "../export_item.js";
import type { Snapshot, WrittenExport } from "../facts.js";
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
    const { collection } = settings;
    const snapshot = await ctx.previous("snapshot").one<Snapshot>();
    const written = await ctx.previous("write").one<WrittenExport>();
    const { name } = written;
    const catalog = await catalogOf(ctx);
    const before = await findItems(ctx, catalog, collection, [name]);
    refuseTaken(ctx, settings, before);
    const item = exportItem({ settings, snapshot, written, job_id: ctx.job_id });
    const kept = new Set(filesOf(item));
    const { leaving } = await leavingFiles(ctx, catalog, before, { delete_files: false });
    const replaced = leaving.filter((ref) => !kept.has(ref));
    for (const file of replaced) await ctx.zones.retract(zoneRef(file));
    const writer = await ctx.db((session) => catalog.prepare(session, collection));
    await ctx.db((session) => writer.put(session, [item]), { with_finish: true });
    const path = `/stac/collections/${encodeURIComponent(collection)}/items/${encodeURIComponent(name)}`;
    ctx.deliver({ name: "export", count: written.files.length, location: path });
    return {
      name,
      collection,
      layer: snapshot.name,
      layer_version: snapshot.version,
      row_count: snapshot.row_count,
      files: written.files.map(({ format, asset: { zone, key, bytes, sha256 } }) => ({
        file: `${zone}:${key}`,
        format,
        bytes,
        sha256,
      })),
      manifest: `${written.manifest.zone}:${written.manifest.key}`,
      replaced_files: replaced.length,
      links: { item: path },
    };
  },
);
