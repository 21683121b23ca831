// The two ways in which the world is cut into tiles here, as OGC's registry of tile matrix sets has them. Pure.
import { crs84 } from "./crs.js";

export interface TileMatrixSet {
  id: "WebMercatorQuad" | "WorldCRS84Quad";
  title: string;
  uri: string;
  crs: string;
  srid: 3857 | 4326;
  axes: [string, string];
  well_known: string;
  /** Columns and rows of zoom 0, and how wide a tile of it is in units of the reference system. */
  columns: number;
  width: number;
  /** The upper left corner. */
  origin: [number, number];
  scale: number;
  deepest: number;
}

const half_mercator = 20_037_508.342_789_244;
const registry = "http://www.opengis.net/def/tilematrixset/OGC/1.0";

export const tile_matrix_sets: readonly TileMatrixSet[] = [
  {
    id: "WebMercatorQuad",
    title: "Google Maps Compatible for the World",
    uri: `${registry}/WebMercatorQuad`,
    crs: "http://www.opengis.net/def/crs/EPSG/0/3857",
    srid: 3857,
    axes: ["X", "Y"],
    well_known: "http://www.opengis.net/def/wkss/OGC/1.0/GoogleMapsCompatible",
    columns: 1,
    width: 2 * half_mercator,
    origin: [-half_mercator, half_mercator],
    scale: 559_082_264.028_717_8,
    deepest: 24,
  },
  {
    id: "WorldCRS84Quad",
    title: "CRS84 for the World",
    uri: `${registry}/WorldCRS84Quad`,
    crs: crs84.uri,
    srid: 4326,
    axes: ["Lon", "Lat"],
    well_known: "http://www.opengis.net/def/wkss/OGC/1.0/GoogleCRS84Quad",
    columns: 2,
    width: 180,
    origin: [-180, 90],
    scale: 279_541_132.014_358_9,
    deepest: 23,
  },
];

export const tile_px = 256;

export function tileMatrixSet(id: string): TileMatrixSet | null {
  return tile_matrix_sets.find((one) => one.id === id) ?? null;
}

/** As OGC's JSON has it. */
export function definitionOf(set: TileMatrixSet): Record<string, unknown> {
  return {
    id: set.id,
    title: set.title,
    uri: set.uri,
    crs: set.crs,
    orderedAxes: set.axes,
    wellKnownScaleSet: set.well_known,
    tileMatrices: Array.from({ length: set.deepest + 1 }, (_, zoom) => ({
      id: String(zoom),
      scaleDenominator: set.scale / 2 ** zoom,
      cellSize: set.width / tile_px / 2 ** zoom,
      cornerOfOrigin: "topLeft",
      pointOfOrigin: set.origin,
      tileWidth: tile_px,
      tileHeight: tile_px,
      matrixWidth: set.columns * 2 ** zoom,
      matrixHeight: 2 ** zoom,
    })),
  };
}

export interface TilePlace {
  set: TileMatrixSet;
  zoom: number;
  row: number;
  column: number;
}

/** Is there such a tile? */
export function isTile({ set, zoom, row, column }: TilePlace): boolean {
  return zoom <= set.deepest && row < 2 ** zoom && column < set.columns * 2 ** zoom;
}

/** West, south, east, north in the set's own reference system. */
export function tileBox({ set, zoom, row, column }: TilePlace): [number, number, number, number] {
  const width = set.width / 2 ** zoom;
  const west = set.origin[0] + column * width;
  const north = set.origin[1] - row * width;
  return [west, north - width, west + width, north];
}
