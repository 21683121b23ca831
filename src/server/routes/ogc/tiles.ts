// Vector tiles of a layer: made by the database where its PostGIS can, here of its features where it cannot. The layer's version is the key of
// whatever is kept, so that a tile is never older than the layer.
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { ReadTile, TileQuery } from "../../../catalog/layers.js";
import { mvt_type } from "../../../core/api/ogc/ogc.js";
import { NotFound } from "../../../core/errors/errors.js";
import { type Problem, quoted, suggestion } from "../../../core/errors/problems.js";
import { crs84 } from "../../../geo/layers/crs.js";
import type { Layer } from "../../../geo/layers/layer.js";
import { writeMvt } from "../../../geo/layers/mvt.js";
import { tile_buffer as buffer, tile_extent as extent, tileCaps } from "../../../geo/layers/tile_caps.js";
import {
  isTile,
  type TileMatrixSet,
  type TilePlace,
  tile_matrix_sets,
  tileBox,
  tileMatrixSet,
} from "../../../geo/layers/tile_matrix_sets.js";
import { OtherAnswer } from "../../http/route.js";
import { columnSchemas } from "./collection.js";
import { type Query, readChoice, readProperties, refuse, unknownNames } from "./items_request.js";
import { json, type Link } from "./links.js";
import { formatOf, inTurn, isUnchanged, layerOf, type OgcCall } from "./ogc_call.js";
import { signedTiles } from "./tile_urls.js";

/** Where a tile would be chosen of so many times more, it is chosen of a sample. */
const sampled_above = 20;
const kept_bytes = 64 * 1024 * 1024;

interface Kept {
  bytes: Uint8Array;
  thinned: boolean;
}

export class Tiles {
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: kept_bytes,
    sizeCalculation: ({ bytes }) => bytes.length + 200,
  });

  async answer(
    ogc: OgcCall,
    name: string,
    place: Record<"set_id" | "zoom" | "row" | "column", string>,
    query: Query,
  ): Promise<unknown> {
    const layer = await layerOf(ogc, name);
    const problems: Problem[] = [];
    unknownNames(query, known, problems);
    formatOf(ogc.call, query.f, ["mvt"], problems);
    const at = placeOf(place, problems);
    const choice = readChoice(query, layer, problems);
    const properties = readProperties(query.properties, layer, problems);
    refuse(problems);
    if (at === null || !isTile(at) || layer.geometry_column === null) throw noSuchTile(place);
    const { reply } = ogc.call;
    if (query.v === String(layer.version)) reply.header("cache-control", "private, max-age=86400, immutable");
    const question: TileQuery = {
      layer: layer.name,
      version: layer.version,
      srid: at.set.srid,
      box: tileBox(at),
      extent,
      buffer,
      ...tileCaps(at.zoom),
      ...choice,
      ...(properties === undefined ? {} : { properties }),
      ...(at.set.srid === 3857 ? { place: { zoom: at.zoom, column: at.column, row: at.row } } : {}),
    };
    if (isUnchanged(ogc, layer, "mvt")) return undefined;
    const { bytes, thinned } = await this.#tile(ogc, layer, question);
    // Not all features are in it: the map's author may want to say so.
    if (thinned) reply.header("x-tile-thinned", "true");
    if (bytes.length === 0) return void reply.status(204);
    return new OtherAnswer(mvt_type, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }

  async #tile(ogc: OgcCall, layer: Layer, question: TileQuery): Promise<Kept> {
    const { engine } = ogc.call;
    const key = createHash("sha256")
      .update(JSON.stringify([engine.tenant, layer.updated_at, question]))
      .digest("base64");
    const known_tile = this.#kept.get(key);
    if (known_tile !== undefined) return known_tile;
    const sample = sampleOf(layer, question);
    const read = await inTurn(ogc, () => ogc.layers.tile(engine.db, { ...question, ...sample }));
    const made = { bytes: bytesOf(layer, read), thinned: read?.thinned === true };
    this.#kept.set(key, made);
    return made;
  }
}

const known = "filter filter-lang filter-crs datetime properties f v expires tenant signature".split(" ");

function bytesOf({ name }: Layer, read: ReadTile | null): Uint8Array {
  if (read?.tile) return read.tile;
  const features = (read?.features ?? []).map(([id, geometry, properties]) => ({ id, geometry, properties }));
  return writeMvt(name, extent, features);
}

/** Only where nothing is filtered: of the rest nobody knows how many there are. */
function sampleOf(
  layer: Layer,
  { filter, starts, ends, box, srid, most_features }: TileQuery,
): { sample: number } | null {
  if (filter !== undefined || starts !== undefined || ends !== undefined || layer.extent === null) return null;
  const [west, south, east, north] = srid === 4326 ? (box as Box) : degreesOf(box as Box);
  const [w, s, e, n] = layer.extent;
  const share = (a: number, b: number, c: number, d: number) =>
    Math.max(Math.min(b, d) - Math.max(a, c), 0) / Math.max(d - c, 1e-9);
  const guess = layer.feature_count * Math.min(share(west, east, w, e), 1) * Math.min(share(south, north, s, n), 1);
  const most = most_features * sampled_above;
  return guess > most ? { sample: Number(((100 * most) / guess).toPrecision(4)) } : null;
}

type Box = [number, number, number, number];

function degreesOf([west, south, east, north]: Box): Box {
  const longitude = (x: number) => (x / 20_037_508.342_789_244) * 180;
  const latitude = (y: number) => (Math.atan(Math.exp(y / 6_378_137)) * 360) / Math.PI - 90;
  return [longitude(west), latitude(south), longitude(east), latitude(north)];
}

function placeOf(
  { set_id, zoom, row, column }: Record<"set_id" | "zoom" | "row" | "column", string>,
  problems: Problem[],
): TilePlace | null {
  const set = tileMatrixSet(set_id);
  const numbers = [zoom, row, column];
  const names = ["tileMatrix", "tileRow", "tileCol"];
  for (const [place, text] of numbers.entries()) {
    if (!/^\d{1,15}$/.test(text))
      problems.push({
        path: `path.${names[place]}`,
        problem: `${quoted(text)} is not a whole number`,
        fix: "Count from 0.",
      });
  }
  return set === null ? null : { set, zoom: Number(zoom), row: Number(row), column: Number(column) };
}

function noSuchTile({ set_id, zoom, row, column }: Record<string, string>): NotFound {
  if (tileMatrixSet(set_id!) === null) return noSuchSet(set_id!);
  return new NotFound(`there is no tile ${zoom}/${row}/${column} in ${set_id}`, {
    hint: "tiles are named tileMatrix/tileRow/tileCol; see /ogc/tileMatrixSets",
  });
}

export function noSuchSet(id: string): NotFound {
  return new NotFound(`there is no tile matrix set ${quoted(id)}`, {
    hint: suggestion(
      id,
      tile_matrix_sets.map((one) => one.id),
    ),
  });
}

export function tilesetList(layer: Layer, ogc: OgcCall): Record<string, unknown> & { links: Link[] } {
  const { links } = ogc;
  return {
    links: links.here(`${links.collection(layer.name)}/tiles`, "This list"),
    tilesets:
      layer.geometry_column === null
        ? []
        : tile_matrix_sets.map((set) => {
            const { title, dataType, crs, tileMatrixSetURI } = tilesetOf(layer, set, ogc);
            const own = { rel: "self", href: links.tileset(layer.name, set), type: json, title: "The tileset" };
            return {
              title,
              dataType,
              crs,
              tileMatrixSetURI,
              links: [own, links.schemeLink(set), links.tileLink(layer.name, set)],
            };
          }),
  };
}

export function tilesetOf(layer: Layer, set: TileMatrixSet, ogc: OgcCall): Record<string, unknown> & { links: Link[] } {
  const { links } = ogc;
  const signed = signedTiles(ogc, layer.name);
  const own = links.tileset(layer.name, set);
  const tilejson = `${own}?${new URLSearchParams({ f: "tilejson", ...signed })}`;
  return {
    title: layer.title ?? layer.name,
    dataType: "vector",
    crs: set.crs,
    tileMatrixSetURI: set.uri,
    ...(layer.extent === null
      ? {}
      : { boundingBox: { lowerLeft: layer.extent.slice(0, 2), upperRight: layer.extent.slice(2), crs: crs84.uri } }),
    layers: [
      {
        id: layer.name,
        dataType: "vector",
        ...(dimensionOf(layer) === null ? {} : { geometryDimension: dimensionOf(layer) }),
        propertiesSchema: { type: "object", properties: columnSchemas(layer) },
      },
    ],
    links: [
      ...links.here(own, "This tileset"),
      links.schemeLink(set),
      links.tileLink(layer.name, set),
      {
        rel: "describedby",
        href: tilejson,
        type: json,
        title: signed === null ? "TileJSON" : "TileJSON that needs no key",
      },
    ],
  };
}

function dimensionOf({ geometry_type }: Layer): 0 | 1 | 2 | null {
  const type = (geometry_type ?? "").toLowerCase();
  return type.includes("point") ? 0 : type.includes("line") ? 1 : type.includes("polygon") ? 2 : null;
}

/** TileJSON 3.0, with addresses that any map client can fetch. The version in them lets it keep what it fetched. */
export function tileJson(layer: Layer, set: TileMatrixSet, ogc: OgcCall): Record<string, unknown> {
  const signed = signedTiles(ogc, layer.name);
  const query = new URLSearchParams({ f: "mvt", v: String(layer.version), ...signed });
  return {
    tilejson: "3.0.0",
    name: layer.title ?? layer.name,
    ...(layer.description === null ? {} : { description: layer.description }),
    version: `1.0.${layer.version}`,
    scheme: "xyz",
    tiles: [`${ogc.links.tile(layer.name, set, ["z", "y", "x"])}?${query}`],
    minzoom: 0,
    maxzoom: Math.min(set.deepest, 22),
    ...(layer.extent === null ? {} : { bounds: layer.extent }),
    vector_layers: [
      {
        id: layer.name,
        description: layer.description ?? "",
        fields: Object.fromEntries(layer.columns.map(({ name, type }) => [name, type])),
      },
    ],
  };
}
