// What a map client reads first: TileJSON with addresses that need no key, and the tilesets as OGC API Tiles tells them.
import { type Problem, quoted, suggestion } from "../../../core/errors/problems.js";
import { type TileMatrixSet, tile_matrix_sets } from "../../../geo/layers/tile_matrix_sets.js";
import type { StacCollection, StacItem } from "../../../geo/stac.js";
import type { Call } from "../../http/route.js";
import { most_part_pixels, placeOf, type Shown } from "../../rasters/draw.js";
import type { StacCall } from "../stac/stac_call.js";
import { type Format, formats, type Query } from "./request.js";
import { keptQuery, signatureOf, type Tiled, tilesPath, tileTemplate } from "./tile_links.js";

type Told = Record<string, unknown>;
type JsonCall = Pick<Call, "engine" | "service" | "request"> & { query: unknown };

const quad = tile_matrix_sets.find(({ id }) => id === "WebMercatorQuad") as TileMatrixSet;
const deepest = 24;
const ogc_rel = "http://www.opengis.net/def/rel/ogc/1.0";

export function readTileFormat(text: string | undefined, problems: Problem[]): Format {
  const found = formats.find((one) => one === (text ?? "png"));
  if (found === undefined)
    problems.push({
      path: "query.format",
      problem: `${quoted(text)} is no format of tiles`,
      fix: suggestion(text ?? "", formats),
    });
  return found ?? "png";
}

export async function tileJsonOfItem(call: JsonCall, shown: Shown, format: Format): Promise<Told> {
  const { item, cog } = shown;
  const { box } = await placeOf(shown, call.engine.db);
  const [whole] = cog.header.images;
  const smallest = cog.levels.at(-1)!.image;
  const degrees = (box[2] - box[0]) / whole.width;
  const maxzoom = zoomOf(degrees);
  // Without overviews a tile that shows all of it would be made of too many pixels.
  const too_large = Math.ceil(Math.log2(Math.max(1, (smallest.width * smallest.height) / most_part_pixels)) / 2);
  const minzoom =
    too_large === 0 ? 0 : Math.min(maxzoom, zoomOf((degrees * whole.width) / smallest.width) - 3 + too_large);
  return tileJson(call, { collection: item.collection, item: item.id }, format, {
    name: typeof item.properties.title === "string" ? item.properties.title : item.id,
    bounds: bounded(box),
    minzoom: Math.max(0, minzoom),
    maxzoom,
  });
}

/** `items`: some of them, for how deep the map goes. */
export function tileJsonOfCollection(
  call: JsonCall,
  collection: StacCollection,
  items: readonly StacItem[],
  format: Format,
): Told {
  const [box = [-180, -90, 180, 90]] = collection.extent.spatial.bbox;
  const [west, south, east, north] = (box.length === 6 ? [box[0], box[1], box[3], box[4]] : box) as [
    number,
    number,
    number,
    number,
  ];
  const zooms = items.map(({ bbox, properties }) => {
    const shape = properties["proj:shape"];
    const [, width] = Array.isArray(shape) ? (shape as number[]) : [];
    return bbox === undefined || !width ? null : zoomOf((bbox[bbox.length / 2]! - bbox[0]!) / width);
  });
  const known = zooms.filter((one) => one !== null);
  return tileJson(call, { collection: collection.id }, format, {
    name: collection.title ?? collection.id,
    description: collection.description,
    bounds: bounded([west, south, east, north]),
    minzoom: 0,
    maxzoom: known.length === 0 ? 18 : Math.max(...known),
  });
}

function tileJson({ engine, service, request, query }: JsonCall, tiled: Tiled, format: Format, facts: Told): Told {
  const signed = signatureOf(engine, tiled, service);
  const asked = { ...keptQuery(query as Query), v: "1", ...signed };
  return {
    tilejson: "3.0.0",
    ...facts,
    scheme: "xyz",
    tiles: [tileTemplate(service.publicUrl(request), tiled, format, asked, ["z", "x", "y"])],
  };
}

/** Where a pixel of the tile is no larger than one of the raster. */
function zoomOf(degrees_of_pixel: number): number {
  const zoom = Math.ceil(Math.log2(360 / 256 / degrees_of_pixel) - 0.01);
  return Number.isFinite(zoom) ? Math.min(deepest, Math.max(0, zoom)) : deepest;
}

function bounded([west, south, east, north]: readonly [number, number, number, number]): number[] {
  const is_across = east > 180 || west < -180;
  const edge = 85.051129;
  return [
    is_across ? -180 : Number(west.toFixed(7)),
    Number(Math.max(south, -edge).toFixed(7)),
    is_across ? 180 : Number(east.toFixed(7)),
    Number(Math.min(north, edge).toFixed(7)),
  ];
}

/** One tileset, in Web Mercator. */
export function tilesetList({ links }: StacCall, collection: string, item?: StacItem): Told {
  const tiled = { collection, item: item?.id };
  const own = `${links.base}${tilesPath(tiled)}`;
  const template = (format: Format) => ({
    rel: "item",
    href: tileTemplate(links.base, tiled, format, {}, ["tileMatrix", "tileCol", "tileRow"]),
    type: `image/${format}`,
    templated: true,
    title: "Tiles",
  });
  return {
    links: [
      { rel: "self", href: own, type: "application/json", title: "This list" },
      item === undefined
        ? { rel: "collection", href: links.collection(collection), type: "application/json" }
        : { rel: "item", href: links.item(collection, item.id), type: "application/geo+json" },
    ],
    tilesets: [
      {
        title: item?.id ?? collection,
        dataType: "map",
        crs: quad.crs,
        tileMatrixSetURI: quad.uri,
        links: [
          { rel: "self", href: own, type: "application/json", title: "The tileset" },
          {
            rel: `${ogc_rel}/tiling-scheme`,
            href: `${links.base}/ogc/tileMatrixSets/${quad.id}`,
            type: "application/json",
            title: quad.title,
          },
          ...formats.map(template),
          { rel: "describedby", href: `${own}/tilejson.json`, type: "application/json", title: "TileJSON" },
        ],
      },
    ],
  };
}
