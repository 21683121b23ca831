// Collections of the catalogue, page by page, and what their extents say. A collection is anybody's: what it says is looked at first.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { footprintBox } from "../../../../src/geo/boxes.js";
import type { Bounds } from "../../../../src/geo/raster.js";
import { type ApiProblem, request } from "../../api/call.js";
import type { ItemPage } from "../map/items.js";

export interface StacCollection {
  id: string;
  title?: string;
  description?: string;
  license?: string;
  keywords?: unknown;
  extent?: { spatial?: { bbox?: unknown }; temporal?: { interval?: unknown } };
  [field: string]: unknown;
}

interface CollectionPage {
  collections: StacCollection[];
  links: { rel: string; href: string }[];
}

export function useCollections() {
  return useInfiniteQuery<CollectionPage, ApiProblem, StacCollection[], unknown[], string | null>({
    queryKey: ["stac collections"],
    initialPageParam: null,
    queryFn: async ({ pageParam, signal }) => {
      const given = { query: { limit: 100, token: pageParam ?? undefined }, signal };
      return (await (await request("GET", "/stac/collections", given)).json()) as CollectionPage;
    },
    getNextPageParam: ({ links }) => {
      const next = links.find(({ rel }) => rel === "next");
      return next === undefined ? null : new URL(next.href, document.baseURI).searchParams.get("token");
    },
    select: ({ pages }) => pages.flatMap(({ collections }) => collections),
  });
}

export function useCollection(collection_id: string) {
  return useQuery<StacCollection, ApiProblem>({
    queryKey: ["stac collection", collection_id],
    queryFn: async ({ signal }) => {
      const given = { params: { collection_id }, signal };
      return (await (await request("GET", "/stac/collections/{collection_id}", given)).json()) as StacCollection;
    },
  });
}

/** How many items it has, where the catalogue tells; counting them would read them all. */
export function useItemCount(collection_id: string, enabled = true) {
  return useQuery<string, ApiProblem>({
    queryKey: ["stac item count", collection_id],
    enabled,
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const given = { query: { collections: collection_id, limit: COUNTED, fields: "id" }, signal };
      const page = (await (await request("GET", "/stac/search", given)).json()) as ItemPage;
      if (page.numberMatched !== undefined) return page.numberMatched.toLocaleString("en-US");
      const has_more = page.links.some(({ rel }) => rel === "next");
      return has_more
        ? `at least ${(COUNTED + 1).toLocaleString("en-US")}`
        : page.features.length.toLocaleString("en-US");
    },
  });
}

/** Ids of so many are asked for to tell how many there are. */
const COUNTED = 100;

export function titleOfCollection({ id, title }: StacCollection): string {
  return typeof title === "string" && title.trim() !== "" ? title : id;
}

/** The first box is of the whole (STAC). */
export function extentOf({ extent }: StacCollection): Bounds | null {
  const boxes = extent?.spatial?.bbox;
  return Array.isArray(boxes) ? footprintBox(boxes[0]) : null;
}

/** From when to when, by the day; null when neither is known. */
export function timesOf({ extent }: StacCollection): string | null {
  const intervals = extent?.temporal?.interval;
  const first: unknown = Array.isArray(intervals) ? intervals[0] : null;
  if (!Array.isArray(first)) return null;
  const [from, until] = first.map((moment) => (typeof moment === "string" ? moment.slice(0, 10) : null));
  if (from === null && until === null) return null;
  return from === until ? from! : `${from ?? "…"} to ${until ?? "…"}`;
}

/** The whole globe is what collections say that know nothing better. */
export function isWholeGlobe([west, south, east, north]: Bounds): boolean {
  return west <= -180 && south <= -90 && east >= 180 && north >= 90;
}
