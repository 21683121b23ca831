// Which items a tile of a collection is laid together of: those that the search of the address finds within the tile, the newest on top.
import type { SearchQuery } from "../../../catalog/catalog.js";
import { type TilePlace, tileBox } from "../../../geo/layers/tile_matrix_sets.js";
import type { StacItem } from "../../../geo/stac.js";
import { searchOfAddress } from "../stac/search_request.js";
import type { StacCall } from "../stac/stac_call.js";
import { choice_names, type Query } from "./request.js";

/** Rasters that one tile is made of at most. */
export const most_items = 32;

/** Throws BadRequest with everything that is wrong. */
export function mosaicSearch(query: Query): SearchQuery {
  const chosen = Object.fromEntries(choice_names.map((name) => [name, query[name]]));
  const asked = searchOfAddress(chosen as never);
  return { ...asked, limit: most_items, sortby: asked.sortby ?? [{ field: "datetime", direction: "desc" }] };
}

export async function itemsOfTile(
  { catalog, db }: StacCall,
  collection: string,
  search: SearchQuery,
  place: TilePlace,
): Promise<{ items: StacItem[]; more: boolean }> {
  const { items, next } = await catalog.search(db, { ...search, collections: [collection], bbox: boxInDegrees(place) });
  return { items, more: next !== null };
}

/** A little smaller than the tile, so that its neighbours' items are not its own for a line they share. */
function boxInDegrees(place: TilePlace): [number, number, number, number] {
  const [west, south, east, north] = tileBox(place);
  const longitude = (x: number) => (x / 20_037_508.342_789_244) * 180;
  const latitude = (y: number) => (Math.atan(Math.exp(y / 6_378_137)) * 360) / Math.PI - 90;
  const inset = (longitude(east) - longitude(west)) * 1e-6;
  return [longitude(west) + inset, latitude(south) + inset, longitude(east) - inset, latitude(north) - inset];
}
