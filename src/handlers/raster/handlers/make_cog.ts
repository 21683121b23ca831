// From a local source to a published COG, whatever the source was: written, looked at again with our own eyes, measured, published.
// What it gives back is what an item says.
import { join } from "node:path";
import { Permanent } from "../../../core/errors/errors.js";
import type { ZoneName } from "../../../core/places/zones.js";
import type { TaskContext } from "../../../core/task/context.js";
import type { CogOptions, RasterType } from "../../../geo/raster.js";
import type { ItemDates } from "../../../geo/stac_dates.js";
import { cog_media_type } from "../../../geo/stac_item.js";
import { safeBlockSize } from "../../../geo/tile_plan.js";
import type { CogResult, GridTile } from "../facts.js";
import type { RasterEngine } from "../gdal/engine.js";
import { checkLocalCog } from "../source/local_header.js";
import { describeCog } from "./describe_cog.js";

export interface NewCog {
  collection: string;
  item_id: string;
  raster_type: RasterType;
  dates: ItemDates;
  tile: GridTile | null;
  options: PlacedCog;
  sources: { source: string; sha256: string }[];
  properties?: Record<string, string | number>;
  /** Default: zone silver, below the collection's name. */
  place?: { zone: ZoneName; prefix: string };
}

/** Down to the pixel. */
type PlacedCog = CogOptions & Required<Pick<CogOptions, "bounds" | "resolution">>;

export async function makeCog(
  ctx: TaskContext,
  engine: RasterEngine,
  source: string,
  wanted: NewCog,
): Promise<CogResult> {
  const { item_id, collection, tile } = wanted;
  const options = { ...wanted.options, block_size: blockSizeOf(wanted.options) };
  const began = performance.now();
  const scratch = await ctx.scratch();
  const file = join(scratch, "cog.tif");
  ctx.progress(0.2, "converting");
  await engine.cog(source, file, options, ctx.signal);

  ctx.progress(0.6, "measuring");
  const statistics = await engine.statistics(file, { approximate: false }, ctx.signal);
  if (statistics.every((band) => band === null)) return { item_id, empty: true, reason: "nothing but nodata" };
  const check = await checkLocalCog(file);
  if (!check.valid) {
    const told = [...check.errors, ...check.warnings].map(({ code, message }) => `${code}: ${message}`);
    throw new Permanent(`${engine.name} ${engine.version} wrote what is no COG: ${told.join(" · ")}`, {
      code: "not_a_cog",
    });
  }
  const info = await engine.infoOfCog(file, options.target_crs, ctx.signal);
  const described = await describeCog(ctx, engine, file, { raster_type: wanted.raster_type, statistics, info });

  ctx.progress(0.9, "publishing");
  const { zone, prefix } = wanted.place ?? { zone: "silver", prefix: `${collection}/${item_id}` };
  const cog = await ctx.zones.publish(file, { zone, prefix, name: "cog.tif", media_type: cog_media_type });
  const quicklook = await ctx.zones.publish(described.quicklook_file, {
    zone,
    prefix,
    name: "quicklook.png",
    media_type: "image/png",
  });
  ctx.log.info("a COG was made", {
    item_id,
    engine: engine.name,
    version: engine.version,
    bytes: cog.bytes,
    size: [described.facts.raster.width, described.facts.raster.height, described.facts.raster.bands.length],
    target_crs: options.target_crs.slice(0, 80),
    resampling: options.resampling,
    compression: options.compression,
    checks: "valid as a COG, statistics of every pixel",
    seconds: Math.round(performance.now() - began) / 1000,
  });
  ctx.deliver({ name: "cogs", count: 1, location: wanted.place ? `${zone}:${prefix}/` : `silver:${collection}/` });
  return {
    item_id,
    empty: false,
    cog,
    quicklook,
    ...described.facts,
    dates: wanted.dates,
    tile: tile?.x === undefined || tile.y === undefined ? null : { x: tile.x, y: tile.y },
    sources: wanted.sources,
    options,
    engine: { name: engine.name, version: engine.version },
    task_id: ctx.task_id,
    properties: wanted.properties,
  };
}

/** Only here is it known how large the COG will be. */
function blockSizeOf({ bounds: [x0, y0, x1, y1], resolution: [dx, dy], block_size }: PlacedCog) {
  return safeBlockSize(Math.round((x1 - x0) / dx), Math.round((y1 - y0) / dy), block_size);
}
