// Raster tiles at /tiles: of one item's COG, and of a collection's laid together, drawn in this process from the overviews, wherever the zone is.
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { package_version } from "../../../config.js";
import type { Endpoint } from "../../../core/api/endpoint.js";
import { tiles_api } from "../../../core/api/tiles.js";
import { isFanfoldError, NotFound } from "../../../core/errors/errors.js";
import type { Problem } from "../../../core/errors/problems.js";
import { isTile } from "../../../geo/layers/tile_matrix_sets.js";
import type { AskedLook } from "../../../geo/raster_tiles/look.js";
import { emptyPicture, type Picture } from "../../../geo/raster_tiles/paint.js";
import type { StacItem } from "../../../geo/stac.js";
import { isKnown } from "../../files/byte_range.js";
import type { Call } from "../../http/route.js";
import { OtherAnswer, type Route, routes } from "../../http/route.js";
import { draw } from "../../rasters/draw.js";
import { hasRaster, OpenRasters } from "../../rasters/open_rasters.js";
import { pngOf, webpOf } from "../../rasters/picture_files.js";
import { unlessKnown } from "../stac/etag.js";
import { collectionOf, itemOf, type StacCall, stacCallOf } from "../stac/stac_call.js";
import { itemsOfTile, mosaicSearch } from "./mosaic.js";
import {
  type AskedTile,
  choice_names,
  type Format,
  type Query,
  readLook,
  readPlace,
  refuse,
  unknownNames,
} from "./request.js";
import { tenantOfRasterTiles } from "./tile_links.js";
import { readTileFormat, tileJsonOfCollection, tileJsonOfItem, tilesetList } from "./tilejson.js";

const kept_bytes = 64 * 1024 * 1024;
const media_types = { png: "image/png", webp: "image/webp" } as const;

interface Drawn {
  bytes: Uint8Array;
  /** An item that belongs into it is not: it cannot be shown, or there were too many. */
  left_out: boolean;
}

export function tilesRoutes(): Route[] {
  const rasters = new OpenRasters();
  const kept = new LRUCache<string, Drawn>({ maxSize: kept_bytes, sizeCalculation: ({ bytes }) => bytes.length + 300 });

  /** 304, 204 or the picture. `of`: all that it is made of. */
  async function answered(call: AnyCall, format: Format, of: unknown, work: () => Promise<Drawn>): Promise<unknown> {
    const { engine, reply, request, query } = call;
    const made = JSON.stringify([package_version, engine.tenant, format, of]);
    const key = createHash("sha256").update(made).digest("base64url").slice(0, 27);
    const etag = `"${key}"`;
    const may_stay = (query as Query).v !== undefined;
    reply.header("etag", etag);
    reply.header("cache-control", may_stay ? "private, max-age=3600" : "private, no-cache");
    reply.header("vary", "Authorization, Cookie");
    if (isKnown(request.headers["if-none-match"], etag)) return void reply.status(304);
    let drawn = kept.get(key);
    if (drawn === undefined) {
      drawn = await call.service.long_calls.within(engine.tenant, call.signal, work);
      kept.set(key, drawn);
    }
    if (drawn.left_out) reply.header("x-tile-partial", "true");
    if (drawn.bytes.length === 0) return void reply.status(204);
    const { buffer, byteOffset, byteLength } = drawn.bytes;
    return new OtherAnswer(media_types[format], Buffer.from(buffer, byteOffset, byteLength));
  }

  const all = routes(tiles_api, {
    async item_tilesets(call) {
      const { stac, item } = await itemCall(call);
      refuse(problemsOf(call.query as Query));
      return unlessKnown(call.request, call.reply, tilesetList(stac, item.collection, item)) as never;
    },
    async item_tilejson(call) {
      const format = formatOf(call.query as Query, []);
      const { item } = await itemCall(call);
      const shown = await rasters.of(call.engine, item, call.query.asset);
      return unlessKnown(call.request, call.reply, await tileJsonOfItem(call, shown, format)) as never;
    },
    async item_tile(call) {
      const { asked, look } = readTile(call, []);
      const { item } = await itemCall(call);
      const { place, format } = asked;
      return answered(call, format, [item, placeName(asked), lookName(look)], async () => {
        const picture = emptyPicture(look.size);
        await draw(picture, await rasters.of(call.engine, item, look.asset), place, look, call.engine.db);
        return { bytes: await packed(picture, format), left_out: false };
      }) as never;
    },
    async mosaic_tilesets(call) {
      const stac = await stacCallOf(call);
      const collection = await collectionOf(stac, call.params.collection_id);
      refuse(problemsOf(call.query as Query, choice_names));
      return unlessKnown(call.request, call.reply, tilesetList(stac, collection.id)) as never;
    },
    async mosaic_tilejson(call) {
      const format = formatOf(call.query as Query, choice_names);
      mosaicSearch(call.query as Query);
      const stac = await stacCallOf(call);
      const collection = await collectionOf(stac, call.params.collection_id);
      const { items } = await stac.catalog.search(stac.db, { collections: [collection.id], limit: 20 });
      return unlessKnown(call.request, call.reply, tileJsonOfCollection(call, collection, items, format)) as never;
    },
    async mosaic_tile(call) {
      const { asked, look } = readTile(call, choice_names);
      const search = mosaicSearch(call.query as Query);
      const stac = await stacCallOf(call);
      const { id } = await collectionOf(stac, call.params.collection_id);
      const found = await call.service.long_calls.within(call.engine.tenant, call.signal, () =>
        itemsOfTile(stac, id, search, asked.place),
      );
      return answered(call, asked.format, [found.items, placeName(asked), lookName(look)], async () => {
        const picture = emptyPicture(look.size);
        let failed = false;
        for (const item of found.items.filter(hasRaster)) {
          if (picture.filled === look.size * look.size) break;
          call.signal.throwIfAborted();
          try {
            await draw(picture, await rasters.of(call.engine, item, look.asset), asked.place, look, call.engine.db);
          } catch (error) {
            // A raster that cannot be shown costs itself only.
            if (!isFanfoldError(error) || !["not_found", "conflict", "beyond_limit"].includes(error.code)) throw error;
            failed = true;
          }
        }
        const left_out = failed || (found.more && picture.filled < look.size * look.size);
        return { bytes: await packed(picture, asked.format), left_out };
      }) as never;
    },
  });
  const unsigned: readonly Endpoint[] = [tiles_api.item_tilesets, tiles_api.mosaic_tilesets] as never;
  return all.map((route) =>
    unsigned.includes(route.endpoint) ? route : { ...route, signedTenant: tenantOfRasterTiles },
  );
}

type AnyCall = Pick<Call, "engine" | "service" | "request" | "reply" | "signal"> & { query: unknown };

async function itemCall(call: {
  engine: Call["engine"];
  service: Call["service"];
  request: Call["request"];
  params: { collection_id: string; item_id: string };
}): Promise<{ stac: StacCall; item: StacItem }> {
  const stac = await stacCallOf(call);
  return { stac, item: await itemOf(stac, call.params.collection_id, call.params.item_id) };
}

function readTile(
  { params, query }: { params: { zoom: string; column: string; file: string }; query: unknown },
  more: readonly string[],
): { asked: AskedTile; look: AskedLook } {
  const problems: Problem[] = [];
  unknownNames(query as Query, more, problems);
  const look = readLook(query as Query, problems);
  const asked = readPlace(params, problems);
  refuse(problems);
  if (asked === null || !isTile(asked.place)) {
    throw new NotFound(`there is no tile ${params.zoom}/${params.column}/${params.file}`, {
      hint: "tiles are named z/x/y.png; at zoom z there are 2^z columns and rows, and zooms go to 24",
    });
  }
  return { asked, look };
}

function problemsOf(query: Query, more: readonly string[] = []): Problem[] {
  const problems: Problem[] = [];
  unknownNames(query, more, problems);
  readLook(query, problems);
  return problems;
}

function formatOf(query: Query, more: readonly string[]): Format {
  const problems = problemsOf(query, more);
  const format = readTileFormat(query.format, problems);
  refuse(problems);
  return format;
}

async function packed(picture: Picture, format: Format): Promise<Uint8Array> {
  if (picture.filled === 0) return new Uint8Array(0);
  return format === "png" ? pngOf(picture) : webpOf(picture);
}

function placeName({ place }: AskedTile): readonly number[] {
  return [place.zoom, place.column, place.row];
}

function lookName({ colors, ...look }: AskedLook): unknown {
  return { ...look, colors: colors === undefined ? null : [...colors] };
}
