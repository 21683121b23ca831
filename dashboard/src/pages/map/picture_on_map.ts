// What an item shows on the map: its raster as tiles, which the server draws, whatever its projection. Where it has none, its quicklook laid over its
// place, where that is right: a picture in degrees or Web Mercator has straight edges on the map; others would lie askew.
import { useEffect, useState } from "react";
import { footprintBox } from "../../../../src/geo/boxes.js";
import { mercatorBbox } from "../../../../src/geo/lattice.js";
import type { Bounds } from "../../../../src/geo/raster.js";
import type { StacItem } from "./items.js";
import type { Picture, PlacedPicture } from "./map_canvas.js";
import { usePicture } from "./quicklook.js";
import { unbroken } from "./shapes.js";
import { useTiles } from "./tiles_on_map.js";

/** Degrees from south to north: in a larger picture the rows of a raster in degrees drift from where they belong. */
const MOST_DEGREES = 3;

export function usePictureOnMap(item: StacItem | null): Picture | null {
  const tiles = useTiles(item);
  const quicklook = useQuicklookOnMap(tiles === null ? item : null);
  return tiles ?? quicklook;
}

function useQuicklookOnMap(item: StacItem | null): PlacedPicture | null {
  const corners = item === null ? null : cornersOf(item);
  const loaded = usePicture(corners === null ? null : item);
  const blob = loaded.state === "shown" ? loaded.blob : null;
  const key = JSON.stringify(corners);
  const [picture, setPicture] = useState<PlacedPicture | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: corners by value
  useEffect(() => {
    setPicture(null);
    if (blob === null || corners === null) return;
    let is_left = false;
    createImageBitmap(blob).then(
      (image) => {
        if (!is_left) setPicture({ image, corners });
      },
      () => {},
    );
    return () => {
      is_left = true;
    };
  }, [blob, key]);
  return picture;
}

export function cornersOf(item: StacItem): PlacedPicture["corners"] | null {
  const code = item.properties["proj:code"];
  const bounds = item.properties["proj:bbox"];
  if (!Array.isArray(bounds) || bounds.length !== 4 || !bounds.every(Number.isFinite)) return null;
  const box =
    code === "EPSG:3857"
      ? footprintBox(mercatorBbox(bounds as Bounds))
      : code === "EPSG:4326"
        ? footprintBox(bounds)
        : null;
  if (box === null || (code === "EPSG:4326" && box[3] - box[1] > MOST_DEGREES)) return null;
  const [west, south, east, north] = unbroken(box);
  return [
    [west, north],
    [east, north],
    [east, south],
    [west, south],
  ];
}
