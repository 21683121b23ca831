// Whether any of these edges touches a cell, in the plane of degrees. Pure.
import type { Point } from "../bounds.js";
import type { CellNumber } from "./cell.js";
import { cellRings } from "./cell_polygon.js";

/** `edges` as Area has them, `candidates` their places. */
export function overlapsCell(cell: CellNumber, edges: Float64Array, candidates: Int32Array): boolean {
  for (const ring of cellRings(cell)) {
    // Round a pole it is not convex; what comes near is taken to touch.
    if (ring.some(([, lat]) => Math.abs(lat) === 90)) return candidates.length > 0;
    for (const at of candidates) {
      if (touchesConvex(ring, edges[at]!, edges[at + 1]!, edges[at + 2]!, edges[at + 3]!)) return true;
    }
  }
  return false;
}

/** Cuts the segment with each side of a convex, counter-clockwise ring: something is left, or it does not touch. */
function touchesConvex(ring: readonly Point[], x1: number, y1: number, x2: number, y2: number): boolean {
  let from = 0;
  let to = 1;
  for (let i = 0; i + 1 < ring.length; i++) {
    const [ax, ay] = ring[i]!;
    const [bx, by] = ring[i + 1]!;
    // Above zero on the inner side.
    const at_1 = (bx - ax) * (y1 - ay) - (by - ay) * (x1 - ax);
    const at_2 = (bx - ax) * (y2 - ay) - (by - ay) * (x2 - ax);
    if (at_1 < 0 && at_2 < 0) return false;
    if (at_1 < 0) from = Math.max(from, at_1 / (at_1 - at_2));
    else if (at_2 < 0) to = Math.min(to, at_1 / (at_1 - at_2));
    if (from > to) return false;
  }
  return true;
}
