// Boxes in degrees, many of them: what tasks and their results say of where they are. West is greater than east over the
// antimeridian. What cannot be on the globe is no box. Pure, and small: the dashboard uses it as well.
import type { Bounds } from "./raster.js";

/** Edges of rasters miss the pole or the antimeridian by a rounding error. */
const slack = 1e-6;

/** Four numbers, or six with heights: finite, on the globe, south below north. Anything else is null. */
export function footprintBox(value: unknown): Bounds | null {
  if (!Array.isArray(value) || (value.length !== 4 && value.length !== 6)) return null;
  if (!value.every((one) => typeof one === "number" && Number.isFinite(one))) return null;
  const numbers = value as number[];
  const [w, s, e, n] = numbers.length === 6 ? [0, 1, 3, 4].map((i) => numbers[i]!) : numbers;
  const west = within(w!, 180);
  const south = within(s!, 90);
  const east = within(e!, 180);
  const north = within(n!, 90);
  if (west === null || south === null || east === null || north === null || south > north) return null;
  return [west, south, east, north];
}

function within(value: number, most: number): number | null {
  if (Math.abs(value) > most + slack) return null;
  return Math.round(Math.max(-most, Math.min(most, value)) * 1e7) / 1e7 + 0;
}

/** The width of a box, in degrees of longitude. */
export function widthOf(west: number, east: number): number {
  return east < west ? east - west + 360 : east - west;
}

/** Whether two boxes share a point. */
export function touches(a: Bounds, b: Bounds): boolean {
  if (a[1] > b[3] || b[1] > a[3]) return false;
  return isBetween(b[0], a) || isBetween(a[0], b);
}

/** East of its west edge and no farther than it is wide; 180 and -180 are one line. */
function isBetween(lon: number, [west, , east]: Bounds): boolean {
  const apart = (((lon - west) % 360) + 360) % 360;
  return apart <= widthOf(west, east) || (apart === 0 && lon === west);
}

/** By number, 0 up to size; one that has no box is NaN. */
export class BoxSet {
  readonly west: Float64Array;
  readonly south: Float64Array;
  readonly east: Float64Array;
  readonly north: Float64Array;
  /** Numbers that have a box, in the order in which they came. */
  readonly order: number[] = [];
  #extent: { count: number; extent: Bounds | null } = { count: 0, extent: null };

  constructor(readonly size: number) {
    this.west = new Float64Array(size).fill(Number.NaN);
    this.south = new Float64Array(size);
    this.east = new Float64Array(size);
    this.north = new Float64Array(size);
  }

  has(number: number): boolean {
    return number >= 0 && number < this.size && !Number.isNaN(this.west[number]);
  }

  set(number: number, [west, south, east, north]: Bounds): void {
    if (number < 0 || number >= this.size) return;
    if (!this.has(number)) this.order.push(number);
    this.west[number] = west;
    this.south[number] = south;
    this.east[number] = east;
    this.north[number] = north;
  }

  get(number: number): Bounds | null {
    if (!this.has(number)) return null;
    return [this.west[number]!, this.south[number]!, this.east[number]!, this.north[number]!];
  }

  /** The boxes that touch an area, in order. */
  touching(area: Bounds): number[] {
    return this.order.filter((number) => touches(this.get(number)!, area));
  }

  /** The extent of all boxes; kept until there are more. */
  extent(): Bounds | null {
    const count = this.order.length;
    if (this.#extent.count !== count) this.#extent = { count, extent: this.extentOf(this.order) };
    return this.#extent.extent;
  }

  /** The smallest box around these, across the antimeridian if that is smaller. */
  extentOf(numbers: readonly number[]): Bounds | null {
    if (numbers.length === 0) return null;
    let south = 90;
    let north = -90;
    for (const number of numbers) {
      if (this.south[number]! < south) south = this.south[number]!;
      if (this.north[number]! > north) north = this.north[number]!;
    }
    const by_west = Float64Array.from(numbers).sort((a, b) => this.west[a]! - this.west[b]!);
    const first = by_west[0]!;
    let reach = this.west[first]! + widthOf(this.west[first]!, this.east[first]!);
    let gap = { width: -1, from: 0, to: 0 };
    const look = (from: number, to: number) => {
      if (from - reach > gap.width) gap = { width: from - reach, from: reach, to: from };
      if (to > reach) reach = to;
    };
    for (const number of by_west.subarray(1)) {
      look(this.west[number]!, this.west[number]! + widthOf(this.west[number]!, this.east[number]!));
    }
    look(this.west[first]! + 360, this.west[first]! + 360);
    if (gap.width <= 0) return [-180, south, 180, north];
    const [west, east] = [onGlobe(gap.to), onGlobe(gap.from)];
    return [west === 180 ? -180 : west, south, east === -180 ? 180 : east, north];
  }
}

function onGlobe(lon: number): number {
  const turned = lon > 180 ? lon - 360 : lon;
  return Math.round(turned * 1e7) / 1e7 + 0;
}
