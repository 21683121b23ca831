// What is counted of the values in cells, one slot a cell: count, sum, least and greatest, and how often each value is there. What two tasks
// counted of one cell is put together without loss: sums carry what rounding dropped, and counts of values add up. Pure.
import { exactSum } from "../exact_sum.js";

/** How often each value is there; of too many different ones, how often one is in each bucket of a sketch. */
export interface ValueCounts {
  kind: "values" | "buckets";
  /** Categories are texts. */
  counts: Map<number | string, number>;
}

export interface Tally {
  count: number;
  /** Their sum is the sum of the values. */
  sums: number[];
  min: number;
  max: number;
  values: ValueCounts | null;
}

/** Different values that a cell is counted with one by one. */
export const most_values = 1024;
/** Neighbouring buckets differ by one per cent: a value is told within half of that. */
const growth = Math.log(1.01);
/** Above every bucket of a double. */
const bucket_origin = 100_000;

export class Tallies {
  private room = 256;
  private counts = new Float64Array(this.room);
  private sums = new Float64Array(this.room);
  private dropped = new Float64Array(this.room);
  private mins = new Float64Array(this.room).fill(Number.POSITIVE_INFINITY);
  private maxs = new Float64Array(this.room).fill(Number.NEGATIVE_INFINITY);
  private readonly values: ValueCounts[] = [];
  size = 0;

  constructor(private readonly keeps_values: boolean) {}

  add(slot: number, value: number): void {
    if (slot >= this.size) this.open(slot);
    this.counts[slot]!++;
    const before = this.sums[slot]!;
    const sum = before + value;
    const own = sum - before;
    this.dropped[slot]! += before - (sum - own) + (value - own);
    this.sums[slot] = sum;
    if (value < this.mins[slot]!) this.mins[slot] = value;
    if (value > this.maxs[slot]!) this.maxs[slot] = value;
    if (this.keeps_values) countValue(this.values[slot]!, value, 1);
  }

  /** A thing without a value: it is counted. */
  addOne(slot: number): void {
    if (slot >= this.size) this.open(slot);
    this.counts[slot]!++;
  }

  addCategory(slot: number, category: string): void {
    this.addOne(slot);
    countValue(this.values[slot]!, category, 1);
  }

  at(slot: number): Tally {
    return {
      count: this.counts[slot]!,
      sums: [this.sums[slot]!, this.dropped[slot]!].filter((part, i) => i === 0 || part !== 0),
      min: this.mins[slot]!,
      max: this.maxs[slot]!,
      values: this.values[slot] ?? null,
    };
  }

  private open(slot: number): void {
    while (slot >= this.room) {
      this.room *= 2;
      this.counts = grown(this.counts, 0);
      this.sums = grown(this.sums, 0);
      this.dropped = grown(this.dropped, 0);
      this.mins = grown(this.mins, Number.POSITIVE_INFINITY);
      this.maxs = grown(this.maxs, Number.NEGATIVE_INFINITY);
    }
    if (this.keeps_values) while (this.values.length <= slot) this.values.push({ kind: "values", counts: new Map() });
    this.size = slot + 1;
  }
}

function grown(array: Float64Array<ArrayBuffer>, rest: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(array.length * 2).fill(rest, array.length);
  larger.set(array);
  return larger;
}

function countValue(values: ValueCounts, value: number | string, by: number): void {
  const key = values.kind === "values" || typeof value === "string" ? value : bucketOf(value);
  values.counts.set(key, (values.counts.get(key) ?? 0) + by);
  if (values.kind !== "values" || values.counts.size <= most_values) return;
  if (typeof value === "string") throw new TooManyCategories();
  toBuckets(values);
}

/** There is no sketch of texts. */
export class TooManyCategories extends Error {
  constructor() {
    super(`a cell has more than ${most_values} different categories`);
  }
}

/** One value always has the same bucket, so that the order in which tasks are put together does not matter. */
function bucketOf(value: number): number {
  if (value === 0) return 0;
  const bucket = Math.ceil(Math.log(Math.abs(value)) / growth) + bucket_origin;
  return value > 0 ? bucket : -bucket;
}

function bucketValue(bucket: number): number {
  if (bucket === 0) return 0;
  const middle = Math.exp((Math.abs(bucket) - bucket_origin - 0.5) * growth);
  return bucket > 0 ? middle : -middle;
}

function toBuckets(values: ValueCounts): void {
  const before = values.counts;
  values.kind = "buckets";
  values.counts = new Map();
  for (const [value, by] of before) countValue(values, value, by);
}

/** The tallies of one cell put together; the first takes in the others. */
export function foldTallies(tallies: readonly Tally[]): Tally {
  const folded: Tally = {
    count: 0,
    sums: [],
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
    values: tallies[0]?.values == null ? null : { kind: "values", counts: new Map() },
  };
  for (const { count, sums, min, max, values } of tallies) {
    folded.count += count;
    folded.sums.push(...sums);
    folded.min = Math.min(folded.min, min);
    folded.max = Math.max(folded.max, max);
    if (values === null || folded.values === null) continue;
    if (values.kind === "buckets" && folded.values.kind === "values") toBuckets(folded.values);
    for (const [key, by] of values.counts) {
      if (values.kind === "values") countValue(folded.values, key, by);
      else folded.values.counts.set(key, (folded.values.counts.get(key) ?? 0) + by);
    }
  }
  return { ...folded, sums: [exactSum(folded.sums)] };
}

/** Between neighbours in proportion, where each value is known; of a sketch the value of the bucket, within half a per cent. */
export function percentile({ count, min, max, values }: Tally, percent: number): number {
  const rank = ((count - 1) * percent) / 100;
  const sorted = ([...values!.counts] as [number, number][]).sort((a, b) => a[0] - b[0]);
  const at = (place: number) => {
    let seen = 0;
    for (const [key, by] of sorted) {
      seen += by;
      if (place < seen) return key;
    }
    return sorted.at(-1)![0];
  };
  if (values!.kind === "buckets") return Math.min(max, Math.max(min, bucketValue(at(Math.floor(rank)))));
  const below = at(Math.floor(rank));
  return below + (rank - Math.floor(rank)) * (at(Math.ceil(rank)) - below);
}

/** The value that most have, the least of equals; null where values are not known one by one. */
export function majority({ values }: Tally): number | string | null {
  if (values?.kind !== "values") return null;
  let best: [number | string, number] | null = null;
  for (const [value, by] of values.counts) {
    if (best === null || by > best[1] || (by === best[1] && value < best[0])) best = [value, by];
  }
  return best?.[0] ?? null;
}
