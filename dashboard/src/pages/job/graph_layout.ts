// Where the stages of a job stand: each one column behind the last of those it waits for, and beside those it comes from. Pure.

export interface Placed {
  /** From 0, left to right. */
  column: number;
  /** From 0, top to bottom. */
  row: number;
}

export interface GraphLayout {
  places: ReadonlyMap<number, Placed>;
  columns: number;
  rows: number;
  edges: readonly { from: number; to: number }[];
}

export function layoutOf(stages: readonly { number: number; after: readonly number[] }[]): GraphLayout {
  const known = new Set(stages.map(({ number }) => number));
  const columns: number[][] = [];
  const places = new Map<number, Placed>();
  // Numbers are given in an order in which stages can run: whatever a stage waits for is placed before it.
  for (const { number, after } of [...stages].sort((a, b) => a.number - b.number)) {
    const before = after.filter((one) => known.has(one) && places.has(one));
    const column = Math.max(-1, ...before.map((one) => places.get(one)?.column ?? -1)) + 1;
    places.set(number, { column, row: 0 });
    columns[column] = [...(columns[column] ?? []), number];
  }
  const after_of = new Map(stages.map(({ number, after }) => [number, after]));
  for (const column of columns) {
    const wish = (number: number) => {
      const rows = (after_of.get(number) ?? []).flatMap((one) => places.get(one)?.row ?? []);
      return rows.length === 0 ? 0 : rows.reduce((sum, row) => sum + row, 0) / rows.length;
    };
    const ordered = [...column].sort((a, b) => wish(a) - wish(b) || a - b);
    for (const [row, number] of ordered.entries()) {
      const placed = places.get(number);
      if (placed !== undefined) places.set(number, { ...placed, row });
    }
  }
  return {
    places,
    columns: columns.length,
    rows: Math.max(0, ...columns.map(({ length }) => length)),
    edges: stages.flatMap(({ number, after }) =>
      after.filter((one) => places.has(one)).map((from) => ({ from, to: number })),
    ),
  };
}

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/**
 * A line from one box to another: from side to side where there is room between them, past what stands there (`others`), else from
 * the bottom to the top. null where others stand between them, one below the other: a line past them could not be told from the
 * next.
 */
export function edgePath(from: Box, to: Box, others: readonly Box[] = []): string | null {
  const gap = to.left - (from.left + from.width);
  if (gap < 8) {
    const free = to.top - (from.top + from.height);
    if (free < 0 || free > 60) return null;
    const x = Math.min(from.left + 28, from.left + from.width / 2);
    return `M${round(x)} ${round(from.top + from.height)}L${round(x)} ${round(to.top)}`;
  }
  const start = { x: from.left + from.width, y: from.top + from.height / 2 };
  const end = { x: to.left, y: to.top + to.height / 2 };
  const between = others.filter((box) => box.left >= start.x && box.left + box.width <= end.x);
  if (between.length === 0) return `M${at(start)}${curve(start, end)}`;
  const y = freeLane([start.y, end.y], between);
  const enter = { x: Math.min(...between.map((box) => box.left)) - 6, y };
  const leave = { x: Math.max(...between.map((box) => box.left + box.width)) + 6, y };
  return `M${at(start)}${curve(start, enter)}L${at(leave)}${curve(leave, end)}`;
}

interface Point {
  x: number;
  y: number;
}

const LANE = 8;

/** The first of the wished heights at which nothing stands; else below everything. */
function freeLane(wished: readonly number[], boxes: readonly Box[]): number {
  const is_free = (y: number) => boxes.every((box) => y < box.top - LANE || y > box.top + box.height + LANE);
  return wished.find(is_free) ?? Math.max(...boxes.map((box) => box.top + box.height)) + LANE;
}

function curve(from: Point, to: Point): string {
  const bend = Math.max(4, Math.min((to.x - from.x) / 2, 60));
  return `C${at({ x: from.x + bend, y: from.y })} ${at({ x: to.x - bend, y: to.y })} ${at(to)}`;
}

function at({ x, y }: Point): string {
  return `${round(x)} ${round(y)}`;
}

function round(n: number): number {
  return Math.round(n * 10) / 10;
}
