// export.write_stac: a collection as files that stand alone: a static STAC catalogue, stac-geoparquet, or both, in one folder of zone gold
// with a manifest. One task makes it all, because a catalogue of which half is there leads nowhere.
import { rm, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import { Permanent } from "../../../core/errors/errors.js";
import { formatZoneRef, parseZoneRef, type ZoneAsset } from "../../../core/places/zones.js";
import type { TaskContext } from "../../../core/task/context.js";
import type { StacCollection, StacItem } from "../../../geo/stac.js";
import { catalogOf } from "../../stac/catalog_of.js";
import { ref_field } from "../../stac/item_fields.js";
import { makeCollection } from "../../stac/make_collection.js";
import { refuseTakenIds } from "../../stac/taken_items.js";
import { parquet_media_type } from "../formats/geoparquet.js";
import { export_folder, stac_export_fields } from "../settings.js";
import { spooledItems, spoolItems } from "../stac/item_spool.js";
import { ItemColumns } from "../stac/stac_parquet.js";
import {
  collection_file,
  collectionRecord,
  itemFiles,
  itemRecord,
  root_file,
  rootRecord,
} from "../stac/static_catalog.js";

const parameters = z.object(stac_export_fields);

/** Their records are written in the transaction that ends the task. */
export const most_files = 4000;

export interface WrittenStac {
  name: string;
  source: Pick<StacCollection, "id" | "title" | "description" | "extent">;
  item_count: number;
  copied_files: number;
  bytes: number;
  /** By what they are: catalog, collection, items_parquet. */
  files: Record<string, ZoneAsset>;
  manifest: ZoneAsset;
  task_id: string;
}

interface Line {
  file: string;
  bytes: number;
  sha256: string;
}

export const exportWriteStac = defineHandler(
  "export.write_stac",
  { parameters, timeout_s: 6 * 3600 },
  async (given, ctx): Promise<WrittenStac> => {
    const { source, formats, collection, license, overwrite, copy_assets } = given;
    const name = given.name ?? source;
    await refuseTakenIds(ctx, { collection, overwrite }, [name]);
    await makeCollection(ctx, { collection, license });
    const catalog = await catalogOf(ctx);
    const found = await ctx.db((session) => catalog.collection(session, source));
    if (found === null) {
      throw new Permanent(`there is no collection ${source} in the catalogue: see /stac/collections`, {
        code: "missing",
      });
    }
    const columns = new ItemColumns();
    const ids: string[] = [];
    const folder = await ctx.scratch();
    const spool = join(folder, "items.jsonl");
    let refs = 0;
    const item_count = await spoolItems(ctx, catalog, source, spool, (item) => {
      columns.add(item);
      if (ids.length <= most_files) ids.push(item.id);
      refs += Object.values(item.assets).filter((asset) => ref_field in asset).length;
    });
    refuseTooMany(source, item_count, formats.includes("static") ? item_count + (copy_assets ? refs : 0) : 0);

    const out = new Folder(ctx, `${export_folder}${name}`);
    const files: Record<string, ZoneAsset> = {};
    if (formats.includes("static")) {
      const names = itemFiles(ids);
      let at = 0;
      for await (const item of spooledItems(spool)) {
        ctx.progress({ done: at, total: item_count, message: "items" });
        const file = names[at++]!;
        const hrefs = copy_assets ? await copyAssets(ctx, out, item, file) : {};
        await out.json(file, itemRecord(item, hrefs), "application/geo+json");
      }
      files.collection = await out.json(collection_file, collectionRecord(found, names), "application/json");
      files.catalog = await out.json(root_file, rootRecord(found), "application/json");
    }
    if (formats.includes("geoparquet")) {
      const file = join(folder, "items.parquet");
      await columns.write(file, spooledItems(spool), { compression: "gzip", collection: found });
      files.items_parquet = await out.file(file, "items.parquet", parquet_media_type);
    }
    const { lines } = out;
    const manifest = await out.json(
      "manifest.json",
      { name, collection: source, item_count, files: lines },
      "application/json",
    );
    const { id, title, description, extent } = found;
    const bytes = lines.reduce((sum, line) => sum + line.bytes, 0);
    return {
      name,
      source: { id, ...(title === undefined ? {} : { title }), description, extent },
      item_count,
      copied_files: out.copied,
      bytes,
      files,
      manifest,
      task_id: ctx.task_id,
    };
  },
);

function refuseTooMany(source: string, items: number, files: number): void {
  if (files <= most_files) return;
  throw new Permanent(
    `the collection ${source} has ${items} items, and a static catalogue of it ${files} files, more than ${most_files}: take formats ["geoparquet"], or leave copy_assets out`,
    { code: "too_many_items" },
  );
}

/** Where the files go, and the lines of the manifest. */
class Folder {
  readonly lines: Line[] = [];
  copied = 0;

  constructor(
    private readonly ctx: TaskContext,
    private readonly prefix: string,
  ) {}

  async file(path: string, name: string, media_type: string): Promise<ZoneAsset> {
    const { zones } = this.ctx;
    const asset = await zones.publish(path, { zone: "gold", prefix: this.prefix, name, media_type });
    this.lines.push({ file: name, bytes: asset.bytes, sha256: asset.sha256 });
    await rm(path);
    return asset;
  }

  async json(name: string, record: unknown, media_type: string): Promise<ZoneAsset> {
    const path = join(await this.ctx.scratch(), name);
    await writeFile(path, `${JSON.stringify(record, null, 1)}\n`);
    return this.file(path, name, media_type);
  }
}

/** The files of an item that are in our zones, beside it; what lies elsewhere is linked as before. */
async function copyAssets(ctx: TaskContext, out: Folder, item: StacItem, file: string) {
  const hrefs: Record<string, string> = {};
  const stem = file.slice("item-".length, -".json".length);
  for (const [at, [key, asset]] of Object.entries(item.assets).entries()) {
    const ref = parseZoneRef(String(asset[ref_field] ?? ""));
    if (ref === null) continue;
    const name = `file-${stem}-${/^[A-Za-z0-9_-]{1,30}$/.test(key) ? key : at}${extname(ref.key).slice(0, 10)}`;
    const path = join(await ctx.scratch(), name);
    const { sha256 } = await ctx.zones.download(ref, path);
    const copy = await out.file(path, name, asset.type ?? "application/octet-stream");
    if (copy.sha256 !== sha256)
      throw new Permanent(`${formatZoneRef(ref)} changed while it was copied`, { code: "altered" });
    hrefs[key] = `./${name}`;
    out.copied += 1;
  }
  return hrefs;
}
