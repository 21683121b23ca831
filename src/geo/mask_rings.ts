// The outlines of the valid pixels of a mask, along the edges of pixels. Pure.
import type { Point } from "./bounds.js";
import { signedArea } from "./rings.js";

export interface Mask {
  width: number;
  height: number;
  /** 1 or 0, row by row. */
  data: Uint8Array;
}

export interface MaskPart {
  /** Closed; x to the right, y downwards, in pixels. */
  outer: Point[];
  holes: Point[][];
  /** The area of the outer ring, in pixels. */
  area: number;
}

/**
 * Each side between a valid pixel and none is walked with the valid pixel to the right; at a corner where two valid pixels
 * touch, the walk turns right, so that they are two parts. Largest part first.
 */
export function maskParts({ width, height, data }: Mask): MaskPart[] {
  if (data.length > 0 && !data.includes(0)) return [wholeMask(width, height)];
  const valid = (x: number, y: number) => x >= 0 && y >= 0 && x < width && y < height && data[y * width + x] !== 0;
  const across = width + 1;
  // For each corner and each of the directions right, down, left, up: whether a side starts there.
  const sides = new Uint8Array(across * (height + 1));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (!valid(x, y)) continue;
      if (!valid(x, y - 1)) sides[y * across + x]! |= 1;
      if (!valid(x + 1, y)) sides[y * across + x + 1]! |= 2;
      if (!valid(x, y + 1)) sides[(y + 1) * across + x + 1]! |= 4;
      if (!valid(x - 1, y)) sides[(y + 1) * across + x]! |= 8;
    }
  }
  const rings: Point[][] = [];
  for (let at = 0; at < sides.length; at++) {
    while (sides[at] !== 0) rings.push(walk(sides, at, across));
  }
  return withHoles(rings);
}

/** As the walk would find it. */
function wholeMask(width: number, height: number): MaskPart {
  const corners: Point[] = [
    [0, 0],
    [width, 0],
    [width, height],
    [0, height],
    [0, 0],
  ];
  return { outer: corners, holes: [], area: width * height };
}

const steps = [1, 0, 0, 1, -1, 0, 0, -1];

function walk(sides: Uint8Array, start: number, across: number): Point[] {
  const ring: Point[] = [];
  let at = start;
  let direction = [0, 1, 2, 3].find((d) => sides[at]! & (1 << d))!;
  let before = -1;
  do {
    const x = at % across;
    const y = (at - x) / across;
    if (direction !== before) ring.push([x, y]);
    sides[at]! &= ~(1 << direction);
    at += steps[direction * 2]! + steps[direction * 2 + 1]! * across;
    before = direction;
    // Right, straight on, left.
    const turn = [1, 0, 3].find((by) => sides[at]! & (1 << ((before + by) % 4)));
    direction = turn === undefined ? before : (before + turn) % 4;
    if (turn === undefined) break;
  } while (at !== start || ring.length < 2);
  ring.push(ring[0]!);
  return ring;
}

function withHoles(rings: Point[][]): MaskPart[] {
  // With y downwards and the valid side to the right, an outer ring has a positive area.
  const parts = rings
    .filter((ring) => signedArea(ring) > 0)
    .map((outer): MaskPart => ({ outer, holes: [], area: signedArea(outer) }))
    .sort((a, b) => b.area - a.area);
  for (const hole of rings.filter((ring) => signedArea(ring) < 0)) {
    // The smallest part around it: rings do not cross, so one point decides.
    const owner = parts.findLast(({ outer }) => contains(outer, insideOf(hole)));
    owner?.holes.push(hole);
  }
  return parts;
}

/** The middle of a pixel beside the first corner, on the hole's side. */
function insideOf(hole: Point[]): Point {
  const [[x, y], [nx, ny]] = hole as [Point, Point];
  const [dx, dy] = [Math.sign(nx - x), Math.sign(ny - y)];
  // To the left of the walk is the hole.
  return [x + dx / 2 + dy / 2, y + dy / 2 - dx / 2];
}

export function contains(ring: readonly Point[], [x, y]: Point): boolean {
  let inside = false;
  for (let i = 0; i + 1 < ring.length; i++) {
    const [ax, ay] = ring[i]!;
    const [bx, by] = ring[i + 1]!;
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
  }
  return inside;
}
