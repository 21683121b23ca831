// The rasters that tiles are made of: an item's asset that lies in a zone of the caller's tenant and is recorded there, opened once and kept.
import { LRUCache } from "lru-cache";
import { NotFound, StorageError } from "../../core/errors/errors.js";
import { quoted, suggestion } from "../../core/errors/problems.js";
import type { Engine } from "../../engine/engine.js";
import type { AssetRecord } from "../../engine/verbs/assets.js";
import type { StacAsset, StacItem } from "../../geo/stac.js";
import { readableProblem } from "../../storage/keys.js";
import { CogFile, keptBlocks } from "./cog_file.js";
import type { Shown } from "./draw.js";

const most_open = 1_000;

export class OpenRasters {
  readonly #blocks = keptBlocks();
  readonly #open = new LRUCache<string, Promise<CogFile>>({ max: most_open });

  /** Throws NotFound for what is no raster of ours, and Conflict for one that cannot be shown. */
  async of(engine: Engine, item: StacItem, asset_name?: string): Promise<Shown> {
    const asset = assetOf(item, asset_name);
    const ref = engine.zones.refOf(asset.href, engine.tenant);
    // What stands in an item is anybody's: only what is recorded, and readable as a key, is opened.
    const record = ref === null || readableProblem(ref.key) !== null ? null : await engine.assets.find(ref);
    if (record === null) {
      throw new NotFound(`the file of item ${quoted(item.id)} does not lie in a zone of this service`, {
        hint: "register_rasters copies nothing, but shows files that lie in a zone; process_raster makes a COG of any source",
      });
    }
    return { cog: await this.#cog(engine, record), item, asset };
  }

  #cog(engine: Engine, record: AssetRecord): Promise<CogFile> {
    const { zone, key, bytes, sha256, created_at } = record;
    const id = [engine.tenant, zone, key, sha256, created_at].join("\n");
    const known = this.#open.get(id);
    if (known !== undefined) return known;
    const opened = CogFile.open(id, rangesOf(engine, record), bytes, this.#blocks);
    this.#open.set(id, opened);
    opened.catch(() => this.#open.delete(id));
    return opened;
  }
}

function rangesOf(engine: Engine, { zone, key, bytes }: AssetRecord) {
  const store = engine.zones.store(zone, engine.tenant);
  return async (offset: number, length: number): Promise<Uint8Array> => {
    const reading = await store.read(key, { offset, length }).catch((error: unknown) => {
      throw error instanceof StorageError && error.reason === "missing" ? altered(key) : error;
    });
    try {
      if (reading.stat.bytes !== bytes) throw altered(key);
      const pieces: Uint8Array[] = [];
      for await (const piece of reading.pieces) pieces.push(piece);
      return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    } finally {
      await reading.close();
    }
  };
}

function altered(key: string): NotFound {
  return new NotFound(`the file ${quoted(key)} is not there any more, or is not what it was`, {
    hint: "run the job again that made it",
  });
}

function isRaster({ type = "", href }: StacAsset): boolean {
  return /^image\/tiff\b/.test(type) || /\.tiff?$/i.test(href);
}

export function hasRaster({ assets }: StacItem): boolean {
  return Object.values(assets ?? {}).some((asset) => typeof asset?.href === "string" && isRaster(asset));
}

/** The one that is asked for, else the first that holds data. */
export function assetOf({ id, assets }: StacItem, name?: string): StacAsset {
  const rasters = Object.entries(assets ?? {}).filter(
    ([, asset]) => typeof asset?.href === "string" && isRaster(asset),
  );
  const found =
    name === undefined
      ? (rasters.find(([, { roles }]) => roles?.includes("data")) ?? rasters[0])
      : rasters.find(([known]) => known === name);
  if (found !== undefined) return found[1];
  const what = name === undefined ? "no asset that is a raster" : `no raster asset ${quoted(name)}`;
  const names = rasters.map(([known]) => known);
  throw new NotFound(`item ${quoted(id)} has ${what}`, { hint: suggestion(name ?? "", names) });
}
