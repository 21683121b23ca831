// STAC 1.1.0 records, as loose as the specification leaves them. Types only, pure.
export const stac_version = "1.1.0";

export interface StacLink {
  rel: string;
  href: string;
  type?: string;
  title?: string;
  [extra: string]: unknown;
}

export interface StacAsset {
  href: string;
  type?: string;
  title?: string;
  roles?: string[];
  [extra: string]: unknown;
}

export interface StacItem {
  type: "Feature";
  stac_version: string;
  stac_extensions: string[];
  id: string;
  collection: string;
  geometry: { type: string; coordinates: unknown } | null;
  bbox?: number[];
  properties: { datetime: string | null; [field: string]: unknown };
  links: StacLink[];
  assets: Record<string, StacAsset>;
  [extra: string]: unknown;
}

export interface StacCollection {
  type: "Collection";
  stac_version: string;
  stac_extensions: string[];
  id: string;
  title?: string;
  description: string;
  keywords?: string[];
  license: string;
  providers?: Record<string, unknown>[];
  extent: { spatial: { bbox: number[][] }; temporal: { interval: [string | null, string | null][] } };
  summaries?: Record<string, unknown>;
  item_assets?: Record<string, unknown>;
  assets?: Record<string, StacAsset>;
  links: StacLink[];
  [extra: string]: unknown;
}
