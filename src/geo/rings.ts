// Closed rings of points: area, simplification that keeps them simple, and the cut along a meridian. Pure.
import type { Point } from "./bounds.js";

/** Positive when counter-clockwise with y upwards. */
export function signedArea(ring: readonly Point[]): number {
  let sum = 0;
  for (let i = 0; i + 1 < ring.length; i++) {
    const [x, y] = ring[i]!;
    const [nx, ny] = ring[i + 1]!;
    sum += x * ny - nx * y;
  }
  return sum / 2;
}

/** Douglas and Peucker's, on a closed ring: the two points farthest apart stay. */
export function simplifyRing(ring: readonly Point[], tolerance: number): Point[] {
  const open = ring.slice(0, -1);
  if (open.length <= 4) return [...ring];
  let far = 0;
  for (let i = 1; i < open.length; i++) if (distance2(open[i]!, open[0]!) > distance2(open[far]!, open[0]!)) far = i;
  const there = simplifyLine(open.slice(0, far + 1), tolerance);
  const back = simplifyLine([...open.slice(far), open[0]!], tolerance);
  return [...there, ...back.slice(1)];
}

/**
 * A slanting edge comes out of a mask as stairs. Each step of one pixel, which goes on in the direction it came from, is its middle
 * instead: no farther than half a pixel from the edge, and in line with the others. Where the outline turns back it stays as it is, so
 * that its box does.
 */
export function withoutStairs(ring: readonly Point[]): Point[] {
  const open = ring.slice(0, -1);
  const at = (i: number) => open[(i + open.length) % open.length]!;
  const turn = (i: number) => Math.sign(cross(at(i - 1), at(i), at(i + 1)));
  const isStep = (i: number) => {
    const [from, to] = [at(i), at(i + 1)];
    const goes_on = turn(i) * turn(i + 1) < 0;
    // The runs before and after go on as well: none of them is the outermost.
    return goes_on && distance2(from, to) === 1 && turn(i - 1) * turn(i) < 0 && turn(i + 1) * turn(i + 2) < 0;
  };
  const smooth: Point[] = [];
  for (let i = 0; i < open.length; i++) {
    if (isStep(i)) smooth.push([(at(i)[0] + at(i + 1)[0]) / 2, (at(i)[1] + at(i + 1)[1]) / 2]);
    else if (!isStep(i - 1)) smooth.push(at(i));
  }
  if (smooth.length < 3) return [...ring];
  return [...smooth, smooth[0]!];
}

function simplifyLine(line: Point[], tolerance: number): Point[] {
  const keep = new Uint8Array(line.length);
  keep[0] = keep[line.length - 1] = 1;
  const stack: [number, number][] = [[0, line.length - 1]];
  for (let range = stack.pop(); range; range = stack.pop()) {
    const [from, to] = range;
    let worst = tolerance;
    let at = -1;
    for (let i = from + 1; i < to; i++) {
      const off = distanceToSegment(line[i]!, line[from]!, line[to]!);
      if (off > worst) [worst, at] = [off, i];
    }
    if (at < 0) continue;
    keep[at] = 1;
    stack.push([from, at], [at, to]);
  }
  return line.filter((_, i) => keep[i] === 1);
}

function distance2([ax, ay]: Point, [bx, by]: Point): number {
  return (ax - bx) ** 2 + (ay - by) ** 2;
}

function distanceToSegment(point: Point, from: Point, to: Point): number {
  const length2 = distance2(from, to);
  if (length2 === 0) return Math.sqrt(distance2(point, from));
  const along = ((point[0] - from[0]) * (to[0] - from[0]) + (point[1] - from[1]) * (to[1] - from[1])) / length2;
  const share = Math.min(1, Math.max(0, along));
  return Math.sqrt(distance2(point, [from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])]));
}

/** Whether no two edges of these rings cross or touch, but for neighbours at their shared point. */
export function areSimple(rings: readonly (readonly Point[])[]): boolean {
  const edges = rings.flatMap((ring, r) =>
    ring.slice(0, -1).map((from, i) => ({ from, to: ring[i + 1]!, ring: r, i, last: ring.length - 2 })),
  );
  for (let a = 0; a < edges.length; a++) {
    for (let b = a + 1; b < edges.length; b++) {
      const [one, two] = [edges[a]!, edges[b]!];
      const adjacent = one.ring === two.ring && (two.i - one.i === 1 || (one.i === 0 && two.i === two.last));
      if (adjacent ? foldsBack(one, two) : touches(one, two)) return false;
    }
  }
  return true;
}

interface Edge {
  from: Point;
  to: Point;
}

function cross(o: Point, a: Point, b: Point): number {
  return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
}

function touches(one: Edge, two: Edge): boolean {
  const [d1, d2] = [cross(two.from, two.to, one.from), cross(two.from, two.to, one.to)];
  const [d3, d4] = [cross(one.from, one.to, two.from), cross(one.from, one.to, two.to)];
  if (d1 * d2 < 0 && d3 * d4 < 0) return true;
  return (
    (d1 === 0 && within(two, one.from)) ||
    (d2 === 0 && within(two, one.to)) ||
    (d3 === 0 && within(one, two.from)) ||
    (d4 === 0 && within(one, two.to))
  );
}

function within({ from, to }: Edge, [x, y]: Point): boolean {
  return (
    x >= Math.min(from[0], to[0]) &&
    x <= Math.max(from[0], to[0]) &&
    y >= Math.min(from[1], to[1]) &&
    y <= Math.max(from[1], to[1])
  );
}

/** Neighbours that lie on each other. */
function foldsBack(one: Edge, two: Edge): boolean {
  const shared = one.to[0] === two.from[0] && one.to[1] === two.from[1] ? one.to : one.from;
  const a = shared === one.to ? one.from : one.to;
  const b = shared === one.to ? two.to : two.from;
  if (cross(shared, a, b) !== 0) return false;
  return (a[0] - shared[0]) * (b[0] - shared[0]) + (a[1] - shared[1]) * (b[1] - shared[1]) > 0;
}

/** Around all points, counter-clockwise and closed. */
export function convexHull(points: readonly Point[]): Point[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list: Point[]) => {
    const hull: Point[] = [];
    for (const point of list) {
      while (hull.length >= 2 && cross(hull.at(-2)!, hull.at(-1)!, point) <= 0) hull.pop();
      hull.push(point);
    }
    return hull;
  };
  const lower = half(sorted);
  const upper = half(sorted.reverse());
  return [...lower.slice(0, -1), ...upper];
}

/**
 * The parts of a simple ring on both sides of x = c. Where the ring crosses the line, sorted along it, every other stretch
 * between crossings is inside; these stretches close the parts.
 */
export function cutAt(ring: readonly Point[], c: number): { left: Point[][]; right: Point[][] } {
  const is_left = (point: Point) => point[0] < c;
  const open = ring.slice(0, -1);
  if (open.every(is_left)) return { left: [[...ring]], right: [] };
  if (!open.some(is_left)) return { left: [], right: [[...ring]] };
  // Chains of points of one side, each between two crossings.
  const crossings: { y: number; pair: number }[] = [];
  const chains: { points: Point[]; left: boolean; from: number; to: number }[] = [];
  const start = open.findIndex((point, i) => is_left(point) !== is_left(open[(i + open.length - 1) % open.length]!));
  const turned = [...open.slice(start), ...open.slice(0, start)];
  turned.forEach((point, i) => {
    const before = turned[(i + turned.length - 1) % turned.length]!;
    if (is_left(point) === is_left(before)) {
      chains.at(-1)!.points.push(point);
      return;
    }
    const share = (c - before[0]) / (point[0] - before[0]);
    crossings.push({ y: before[1] + share * (point[1] - before[1]), pair: -1 });
    const at = crossings.length - 1;
    if (chains.length > 0) chains.at(-1)!.to = at;
    chains.push({ points: [point], left: is_left(point), from: at, to: 0 });
  });
  const along = crossings.map((_, i) => i).sort((a, b) => crossings[a]!.y - crossings[b]!.y);
  for (let i = 0; i + 1 < along.length; i += 2) {
    crossings[along[i]!]!.pair = along[i + 1]!;
    crossings[along[i + 1]!]!.pair = along[i]!;
  }
  const parts: { left: Point[][]; right: Point[][] } = { left: [], right: [] };
  const used = new Set<number>();
  chains.forEach((chain, i) => {
    if (used.has(i)) return;
    const points: Point[] = [];
    for (let k = i; k >= 0 && !used.has(k); ) {
      used.add(k);
      const { from, to, points: between, left } = chains[k]!;
      points.push([c, crossings[from]!.y], ...between, [c, crossings[to]!.y]);
      k = chains.findIndex((next) => next.left === left && next.from === crossings[to]!.pair);
    }
    points.push(points[0]!);
    (chain.left ? parts.left : parts.right).push(points);
  });
  return parts;
}
