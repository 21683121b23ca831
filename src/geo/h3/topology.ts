// Polygons of a TopoJSON: its arcs are steps in whole numbers, shared by the rings on both sides of them. Pure.
import type { Point } from "../bounds.js";
import type { PolygonRings } from "./area.js";

export interface Topology {
  transform: { scale: [number, number]; translate: [number, number] };
  arcs: [number, number][][];
  /** By polygon and ring; ~n is arc n backwards. */
  polygons: number[][][];
}

export function topologyPolygons({ transform, arcs, polygons }: Topology): PolygonRings[] {
  const { scale, translate } = transform;
  const lines = arcs.map((steps) => {
    let x = 0;
    let y = 0;
    return steps.map(([dx, dy]): Point => {
      x += dx;
      y += dy;
      // The last step of its grid is the antimeridian itself.
      return [Math.min(180, x * scale[0] + translate[0]), Math.min(90, y * scale[1] + translate[1])];
    });
  });
  return polygons.map((rings) =>
    rings.map((ring) =>
      ring.flatMap((arc, place) => {
        const line = arc < 0 ? [...lines[~arc]!].reverse() : lines[arc]!;
        return place === 0 ? line : line.slice(1);
      }),
    ),
  );
}
