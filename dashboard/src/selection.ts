// Which tasks of a stage are selected, shared by heat map, map and the verbs on them. Half-open ranges of ordinals.
import { useMemo, useSyncExternalStore } from "react";

export type Range = readonly [lo: number, hi: number];

export interface Selection {
  ranges: readonly Range[];
  size: number;
  has(ordinal: number): boolean;
  set(ranges: readonly Range[]): void;
  add(ranges: readonly Range[]): void;
  clear(): void;
}

const selections = new Map<number, readonly Range[]>();
const listeners = new Set<() => void>();
const nothing: readonly Range[] = [];

/** Sorted, disjoint, without empty ones. Pure. */
export function joined(ranges: readonly Range[]): Range[] {
  const sorted = ranges.filter(([lo, hi]) => hi > lo).sort((a, b) => a[0] - b[0]);
  const out: [number, number][] = [];
  for (const [lo, hi] of sorted) {
    const last = out.at(-1);
    if (last !== undefined && lo <= last[1]) last[1] = Math.max(last[1], hi);
    else out.push([lo, hi]);
  }
  return out;
}

/** By halving. Pure. */
export function isIn(ranges: readonly Range[], ordinal: number): boolean {
  let [from, to] = [0, ranges.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const [lo, hi] = ranges[middle] as Range;
    if (ordinal < lo) to = middle;
    else if (ordinal >= hi) from = middle + 1;
    else return true;
  }
  return false;
}

function put(stage_id: number, ranges: readonly Range[]): void {
  if (ranges.length === 0) selections.delete(stage_id);
  else selections.set(stage_id, ranges);
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useSelection(stage_id: number): Selection {
  const ranges = useSyncExternalStore(listen, () => selections.get(stage_id) ?? nothing);
  return useMemo(
    () => ({
      ranges,
      size: ranges.reduce((sum, [lo, hi]) => sum + hi - lo, 0),
      has: (ordinal) => isIn(ranges, ordinal),
      set: (given) => put(stage_id, joined(given)),
      add: (given) => put(stage_id, joined([...ranges, ...given])),
      clear: () => put(stage_id, nothing),
    }),
    [stage_id, ranges],
  );
}
