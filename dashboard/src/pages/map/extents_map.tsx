// Where things of a list lie, as a map of their boxes; a click opens one.
import { useMemo } from "react";
import type { Bounds } from "../../../../src/geo/raster.js";
import { LazyMap } from "./lazy_map.js";
import { around, polygonOf, withSurroundings } from "./shapes.js";

interface ExtentsMapProps {
  label: string;
  /** By their place in the list; null: it has none, or all of the globe. */
  boxes: readonly (Bounds | null)[];
  onPick(place: number): void;
}

export function ExtentsMap({ label, boxes, onPick }: ExtentsMapProps) {
  const { places, fit } = useMemo(() => {
    const places = boxes.flatMap((box, id) => (box === null ? [] : [{ id, box, geometry: polygonOf(box) }]));
    const all = around(places.map(({ box }) => box));
    return { places, fit: all === null ? null : { box: withSurroundings(all), again: 0 } };
  }, [boxes]);
  if (places.length === 0) return null;
  const pick = (place: number | undefined) => place !== undefined && onPick(place);
  return <LazyMap label={label} items={places} fit={fit} onPick={(hit) => pick(hit?.ids[0])} />;
}
