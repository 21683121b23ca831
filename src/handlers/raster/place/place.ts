// Where a raster and its tiles lie in degrees, for readers who look at a job on a map: the box of the whole, and for one that may be cut
// into tiles what theirs follow from, since planning has no GDAL at hand.

import { denseRing, wgs84Bbox } from "../../../geo/bounds.js";
import { footprintBox } from "../../../geo/boxes.js";
import { wgs84BoundsOf } from "../../../geo/footprint.js";
import { boundsOf } from "../../../geo/georeference.js";
import { bboxIn, type Lattice, latticeOf, mercatorBbox } from "../../../geo/lattice.js";
import type { Bounds } from "../../../geo/raster.js";
import type { GridTile, TargetGrid } from "../facts.js";
import type { RasterEngine } from "../gdal/engine.js";
import { batched } from "./batched.js";

export interface RasterPlace {
  /** West, south, east, north in degrees. */
  bbox?: Bounds;
  lattice?: Lattice;
}

/** What cannot be told is left out: a raster without a place on the map is none the worse. */
export async function placeOf(
  engine: RasterEngine,
  { width, height, transform }: TargetGrid,
  target_crs: string,
  is_whole: boolean,
): Promise<RasterPlace> {
  const bounds = boundsOf(transform, width, height);
  const to_wgs84 = batched((points) => engine.transform(points, target_crs, "EPSG:4326"));
  const [wgs84, lattice] = await Promise.all([
    wgs84BoundsOf(bounds, to_wgs84),
    is_whole || isKnown(target_crs) ? null : latticeOf(bounds, to_wgs84),
  ]);
  const bbox = footprintBox(wgs84);
  return { ...(bbox === null ? {} : { bbox }), ...(lattice === null ? {} : { lattice }) };
}

/** The box of one tile; undefined where it cannot be known. */
export function tileBbox(
  { bounds }: Pick<GridTile, "bounds">,
  { bbox, lattice }: RasterPlace,
  target_crs: string,
  is_single: boolean,
): Bounds | undefined {
  if (is_single) return bbox;
  const found =
    lattice !== undefined
      ? bboxIn(lattice, bounds)
      : target_crs === "EPSG:4326"
        ? wgs84Bbox(denseRing(bounds, 4))
        : target_crs === "EPSG:3857"
          ? mercatorBbox(bounds)
          : null;
  return footprintBox(found) ?? undefined;
}

function isKnown(crs: string): boolean {
  return crs === "EPSG:4326" || crs === "EPSG:3857";
}
