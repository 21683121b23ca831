// Items of the catalogue for maps and lists: searched page by page, never all of them. An item is anybody's: what it says is looked at
// before it is used.
import { useInfiniteQuery } from "@tanstack/react-query";
import type { Geometry } from "geojson";
import { useMemo } from "react";
import { footprintBox } from "../../../../src/geo/boxes.js";
import type { Bounds } from "../../../../src/geo/raster.js";
import { type ApiProblem, request, urlOf } from "../../api/call.js";
import { boxAround, type MapItem, polygonOf } from "./shapes.js";

export interface StacAsset {
  href: string;
  type?: string;
  title?: string;
  roles?: string[];
  [field: string]: unknown;
}

export interface StacItem {
  id: string;
  collection: string;
  geometry: Geometry | null;
  bbox?: number[];
  properties: Record<string, unknown>;
  assets: Record<string, StacAsset>;
  [field: string]: unknown;
}

export interface ItemPage {
  features: StacItem[];
  numberMatched?: number;
  links: { rel: string; href: string }[];
}

export interface ItemSearch {
  collections?: string;
  bbox?: Bounds | null;
  datetime?: string;
  /** CQL2 text. */
  filter?: string;
  ids?: string;
}

export const items_per_page = 500;

export function useItems(
  search: ItemSearch | null,
  { limit = items_per_page, every_ms }: { limit?: number; every_ms?: number } = {},
) {
  const query = {
    ...search,
    bbox: search?.bbox?.map((edge) => Number(edge.toFixed(5))).join(),
    limit,
    ...(search?.filter === undefined ? {} : { "filter-lang": "cql2-text" }),
  };
  const result = useInfiniteQuery<ItemPage, ApiProblem, StacItem[], unknown[], string | null>({
    queryKey: ["stac items", query],
    enabled: search !== null,
    initialPageParam: null,
    queryFn: async ({ pageParam, signal }) => {
      const given = { query: pageParam === null ? query : { ...query, token: pageParam }, signal };
      return (await (await request("GET", "/stac/search", given)).json()) as ItemPage;
    },
    getNextPageParam: ({ links }) => {
      const next = links.find(({ rel }) => rel === "next");
      return next === undefined ? null : new URL(next.href, document.baseURI).searchParams.get("token");
    },
    select: ({ pages }) => pages.flatMap(({ features }) => features),
    placeholderData: (before) => before,
    refetchInterval: every_ms ?? false,
  });
  return result;
}

/** How many there are, as far as that is known. */
export function howMany(shown: number, has_more: boolean, matched: number | undefined): string {
  const count = (n: number) => n.toLocaleString("en-US");
  if (!has_more) return shown === 1 ? "1 item" : `${count(shown)} items`;
  return matched === undefined
    ? `The first ${count(shown)} of at least ${count(shown + 1)} items`
    : `The first ${count(shown)} of ${count(matched)} items`;
}

/** The place of an item on the map; null where it names none, or nonsense. */
export function placeOf(item: StacItem): { box: Bounds; geometry: Geometry } | null {
  const box = footprintBox(item.bbox) ?? footprintBox(boxAround(item.geometry));
  if (box === null) return null;
  const { geometry } = item;
  const is_drawn = geometry !== null && (geometry.type === "Polygon" || geometry.type === "MultiPolygon");
  return { box, geometry: is_drawn ? geometry : polygonOf(box) };
}

export function useMapItems(items: readonly StacItem[]): readonly (MapItem & { box: Bounds })[] {
  return useMemo(
    () =>
      items.flatMap((item, id) => {
        const place = placeOf(item);
        return place === null ? [] : [{ id, ...place }];
      }),
    [items],
  );
}

/** Its picture: what the item calls so, of a type that browsers show. */
export function pictureOf(item: StacItem): StacAsset | null {
  const assets = Object.values(item.assets ?? {}).filter((asset) => typeof asset?.href === "string");
  const isPicture = ({ type }: StacAsset) => type === undefined || /^image\/(png|jpeg|webp)\b/.test(type);
  for (const role of ["overview", "thumbnail", "visual"]) {
    const found = assets.find((asset) => Array.isArray(asset.roles) && asset.roles.includes(role) && isPicture(asset));
    if (found !== undefined) return found;
  }
  return null;
}

/** An address under /assets of this very server, or null: nothing else is ever loaded by itself. */
export function ownAsset(href: string): string | null {
  let url: URL;
  try {
    url = new URL(href, document.baseURI);
  } catch {
    return null;
  }
  return url.origin === window.location.origin && url.pathname.startsWith(new URL(urlOf("/assets/")).pathname)
    ? url.href
    : null;
}

/** Where a link may lead. */
export function webLink(href: string): string | null {
  try {
    const url = new URL(href, document.baseURI);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
  } catch {
    return null;
  }
}

export function titleOf(item: StacItem): string {
  const { title } = item.properties;
  return typeof title === "string" && title !== "" ? title : item.id;
}

/** When the item is: a moment, a span, or null. */
export function whenOf({ properties }: StacItem): string | null {
  const { datetime, start_datetime, end_datetime } = properties;
  const day = (text: unknown) => (typeof text === "string" ? text.slice(0, 16).replace("T", " ") : "…");
  if (typeof datetime === "string") return day(datetime);
  return start_datetime === undefined && end_datetime === undefined
    ? null
    : `${day(start_datetime)} – ${day(end_datetime)}`;
}

export function provenanceOf({ properties }: StacItem): { job_id: string | null; task_id: string | null } {
  const text = (value: unknown, shape: RegExp) => (typeof value === "string" && shape.test(value) ? value : null);
  return {
    job_id: text(properties["fanfold:job_id"], /^[0-9a-f]{64}$/),
    task_id: text(properties["fanfold:task_id"], /^\d{1,18}-\d{1,18}$/),
  };
}
