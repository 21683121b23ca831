// Features of a layer as the page asks for them: at the same addresses as everybody. A page of them is of one version of the layer.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { Geometry } from "geojson";
import type { Bounds } from "../../../../src/geo/raster.js";
import { type ApiProblem, request, urlOf } from "../../api/call.js";

export interface LayerFeature {
  id: number;
  geometry: Geometry | null;
  properties: Record<string, unknown>;
}

interface FeaturePage {
  features: LayerFeature[];
  numberMatched?: number;
  links: { rel: string; href: string }[];
}

export interface FeatureSearch {
  /** CQL2 text. */
  filter: string;
  /** A column, with - before it: descending. */
  sort: string;
  bbox: Bounds | null;
}

const PAGE_SIZE = 50;

export function useFeatures(name: string, version: number, { filter, sort, bbox }: FeatureSearch) {
  const query = {
    limit: PAGE_SIZE,
    skipGeometry: "true",
    filter,
    sortby: sort,
    bbox: bboxText(bbox),
  };
  return useInfiniteQuery<FeaturePage, ApiProblem, FeaturePage[], unknown[], string | null>({
    queryKey: ["layer features", name, version, query],
    initialPageParam: null,
    queryFn: async ({ pageParam, signal }) => {
      const given = { params: { name }, query: { ...query, token: pageParam ?? "" }, signal };
      return (await (await request("GET", "/ogc/collections/{name}/items", given)).json()) as FeaturePage;
    },
    getNextPageParam: ({ links }) => {
      const next = links.find(({ rel }) => rel === "next");
      return next === undefined ? null : new URL(next.href, document.baseURI).searchParams.get("token");
    },
    select: ({ pages }) => pages,
    placeholderData: (before) => before,
    retry: false,
  });
}

/** How many there are; of a layer without a filter, its pages tell. */
export function useMatched(name: string, version: number, { filter, bbox }: FeatureSearch, enabled: boolean) {
  const query = { resultType: "hits", filter, bbox: bboxText(bbox) };
  return useQuery<number | null, ApiProblem>({
    queryKey: ["layer features", name, version, query],
    enabled,
    retry: false,
    queryFn: async ({ signal }) => {
      const answer = await request("GET", "/ogc/collections/{name}/items", { params: { name }, query, signal });
      return ((await answer.json()) as FeaturePage).numberMatched ?? null;
    },
  });
}

function bboxText(bbox: Bounds | null): string | undefined {
  return bbox?.map((edge) => Number(edge.toFixed(6))).join();
}

/** One feature whole, with where it is. */
export function useFeature(name: string, version: number, id: number | null) {
  return useQuery<LayerFeature, ApiProblem>({
    queryKey: ["layer feature", name, version, id],
    enabled: id !== null,
    retry: false,
    queryFn: async ({ signal }) => {
      const given = { params: { name, id: id ?? 0 }, signal };
      return (await (await request("GET", "/ogc/collections/{name}/items/{id}", given)).json()) as LayerFeature;
    },
  });
}

/** The address of the layer's tiles, for this page: its version in it lets the browser keep what it fetched. */
export function tileAddress(
  { name, version }: { name: string; version: number },
  filter: string,
  column: string | null,
): string {
  const query = new URLSearchParams({ f: "mvt", v: String(version), properties: column ?? "" });
  if (filter !== "") query.set("filter", filter);
  const base = urlOf("/ogc/collections/{name}/tiles/WebMercatorQuad", { params: { name } });
  return `${base}/{z}/{y}/{x}?${query}`;
}
