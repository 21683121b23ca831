// Which rasters make up a mosaic, pixel by pixel and without resampling: they lie on one grid of pixels, and each part of the whole knows
// which of them touch it and where. Later ones cover earlier ones. Pure.
import type { Bounds, GeoTransform } from "./raster.js";

export interface MosaicMember {
  name: string;
  crs: string;
  width: number;
  height: number;
  transform: GeoTransform;
  /** Types, nodata and names of its bands, to be compared. */
  bands: string;
}

export interface MosaicPart<M extends MosaicMember> {
  x: number;
  y: number;
  width: number;
  height: number;
  bounds: Bounds;
  members: M[];
}

export interface MosaicPlan<M extends MosaicMember> {
  width: number;
  height: number;
  parts: MosaicPart<M>[];
}

/** A pixel may be so far from where the grid has it. */
const slack = 0.02;

/** In how each differs from the first; empty when they go together. */
export function mosaicProblems(members: readonly MosaicMember[]): string[] {
  const [first] = members;
  if (first === undefined) return ["there are no rasters"];
  const [x0, dx, , y0, , dy] = first.transform;
  return members.flatMap((member) => {
    const [x, mx, rx, y, ry, my] = member.transform;
    const found: string[] = [];
    if (member.crs !== first.crs) found.push(`its CRS is ${member.crs}, not ${first.crs}`);
    else if (rx !== 0 || ry !== 0 || mx <= 0 || my >= 0) found.push("it is not north-up");
    else if (Math.abs(mx - dx) > dx * 1e-6 || Math.abs(my - dy) > -dy * 1e-6) {
      found.push(`its pixels are ${mx} × ${-my}, not ${dx} × ${-dy}`);
    } else if (Math.max(offGrid((x - x0) / dx), offGrid((y - y0) / dy)) > slack) {
      found.push("its pixels lie between those of the others");
    }
    if (member.bands !== first.bands) found.push(`its bands are ${member.bands}, not ${first.bands}`);
    return found.map((what) => `${member.name}: ${what}`);
  });
}

/** `side`: parts across and down. Parts that no raster touches are left out. */
export function planMosaic<M extends MosaicMember>(members: readonly M[], side: number): MosaicPlan<M> {
  const [, dx, , , , dy] = members[0]!.transform;
  const west = Math.min(...members.map(({ transform }) => transform[0]));
  const north = Math.max(...members.map(({ transform }) => transform[3]));
  const placed = members.map((member) => {
    const left = Math.round((member.transform[0] - west) / dx);
    const top = Math.round((member.transform[3] - north) / dy);
    return { member, left, top, right: left + member.width, bottom: top + member.height };
  });
  const width = Math.max(...placed.map(({ right }) => right));
  const height = Math.max(...placed.map(({ bottom }) => bottom));
  const [columns, rows] = [Math.ceil(width / side), Math.ceil(height / side)];
  const parts: MosaicPart<M>[] = [];
  for (let top = 0, y = 0; top < height; top += rows, y++) {
    for (let left = 0, x = 0; left < width; left += columns, x++) {
      const [right, bottom] = [Math.min(width, left + columns), Math.min(height, top + rows)];
      const inside = placed.filter(
        (one) => one.left < right && one.right > left && one.top < bottom && one.bottom > top,
      );
      if (inside.length === 0) continue;
      const bounds: Bounds = [west + left * dx, north + bottom * dy, west + right * dx, north + top * dy];
      parts.push({
        x,
        y,
        width: right - left,
        height: bottom - top,
        bounds,
        members: inside.map(({ member }) => member),
      });
    }
  }
  return { width, height, parts };
}

function offGrid(steps: number): number {
  return Math.abs(steps - Math.round(steps));
}
