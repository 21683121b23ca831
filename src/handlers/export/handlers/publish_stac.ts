// export.publish_stac: the item of an exported collection: from the end of this task on it is there for everybody who looks.
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import { formatZoneRef } from "../../../core/places/zones.js";
import type { StacAsset, StacItem } from "../../../geo/stac.js";
import { extensionsOf } from "../../../geo/stac_item.js";
import { boxOf } from "../../vector/layer_item.js";
import { fileAsset } from "../export_item.js";
import { publishItem } from "../publish_item.js";
import { stac_export_fields } from "../settings.js";
import type { WrittenStac } from "./write_stac.js";

const parameters = z.object(stac_export_fields);

const titles: Readonly<Record<string, string>> = {
  catalog: "Static STAC catalogue",
  collection: "Its collection",
  items_parquet: "Items as stac-geoparquet",
};

export const exportPublishStac = defineHandler("export.publish_stac", { parameters }, async (given, ctx) => {
  const written = await ctx.previous.one<WrittenStac>();
  const { name, source, item_count, copied_files, bytes, files, manifest, task_id } = written;
  const [from, until] = source.extent.temporal.interval[0] ?? [null, null];
  const box = boxOf(source.extent.spatial.bbox[0] ?? null);
  const assets: Record<string, StacAsset> = Object.fromEntries([
    ...Object.entries(files).map(([key, asset]) => [
      key as string,
      fileAsset(asset, [key === "items_parquet" ? "data" : "metadata"], titles[key] ?? key),
    ]),
    ["manifest", fileAsset(manifest, ["metadata"], "Files and their checksums")],
  ]);
  const properties = {
    // What has no span is of the moment of its export.
    ...(from !== null && until !== null
      ? { datetime: null, start_datetime: from, end_datetime: until }
      : { datetime: new Date().toISOString() }),
    title: given.title ?? source.title ?? source.id,
    description: given.description ?? source.description,
    "fanfold:collection": source.id,
    "fanfold:item_count": item_count,
    "fanfold:task_id": task_id,
    ...(ctx.job_id === null ? {} : { "fanfold:job_id": ctx.job_id }),
  };
  const item: StacItem = {
    type: "Feature",
    stac_version: "1.1.0",
    stac_extensions: extensionsOf([properties, ...Object.values(assets)]),
    id: name,
    collection: given.collection,
    geometry: box.geometry,
    ...(box.bbox === null ? {} : { bbox: box.bbox }),
    properties,
    links: [],
    assets,
  };
  const { path, replaced_files } = await publishItem(ctx, item, given.overwrite);
  ctx.deliver({ name: "export", count: Object.keys(files).length, location: path });
  return {
    name,
    collection: given.collection,
    source: source.id,
    item_count,
    copied_files,
    bytes,
    files: Object.fromEntries(Object.entries(files).map(([key, asset]) => [key, formatZoneRef(asset)])),
    manifest: formatZoneRef(manifest),
    replaced_files,
    links: { item: path },
  };
});
