// The raster of an item on the map as tiles, whatever its reference system: the server draws them from the COG. Where the item has none, nothing.
import { useEffect, useState } from "react";
import type { Bounds } from "../../../../src/geo/raster.js";
import { urlOf } from "../../api/call.js";
import type { StacItem } from "./items.js";

export interface TilesPicture {
  /** With {z}, {x} and {y} in it; the browser's session lets it in. */
  template: string;
  bounds: Bounds;
  minzoom: number;
  maxzoom: number;
}

/** What has tiles says so in a link. */
export function hasTiles(item: StacItem): boolean {
  return Array.isArray(item.links) && (item.links as { rel?: unknown }[]).some((link) => link?.rel === "tilejson");
}

/** `undefined`: not known yet; null: it has none, or they cannot be made. `look`: parameters of tiles, such as colormap. */
export function useTiles(item: StacItem | null, look: Record<string, string> = {}): TilesPicture | null | undefined {
  const path = item === null || !hasTiles(item) ? null : pathOf(item);
  const query = new URLSearchParams(look).toString();
  const key = `${path}?${query}`;
  const [found, setFound] = useState<{ key: string; tiles: TilesPicture | null } | null>(null);
  useEffect(() => {
    if (path === null) return;
    const leave = new AbortController();
    const tell = (tiles: TilesPicture | null) => {
      if (!leave.signal.aborted) setFound({ key, tiles });
    };
    readTiles(path, query, leave.signal).then(tell, () => tell(null));
    return () => leave.abort();
  }, [path, query, key]);
  if (path === null) return null;
  return found?.key === key ? found.tiles : undefined;
}

function pathOf({ collection, id }: StacItem): string {
  return urlOf("/tiles/{collection}/{id}", { params: { collection, id } });
}

async function readTiles(path: string, query: string, signal: AbortSignal): Promise<TilesPicture | null> {
  const asked = query === "" ? "" : `?${query}`;
  const response = await fetch(`${path}/tilejson.json${asked}`, { signal, credentials: "same-origin" });
  if (!response.ok) return null;
  const { bounds, minzoom, maxzoom } = (await response.json()) as Omit<TilesPicture, "template">;
  return { template: `${path}/{z}/{x}/{y}.png${asked}`, bounds, minzoom, maxzoom };
}
