// What is in the picture at a moment, and what lies where in it. Pure.
import { type Bar, type Row, rowAt, type View } from "./layout.js";

export interface Scene {
  rows: readonly Row[];
  tops: readonly number[];
  view: View;
  /** Milliseconds since 1970 of the origin. */
  origin: number;
  now: number;
  /** From the top of all rows. */
  scroll: number;
  width: number;
  height: number;
  gutter: number;
  hovered: string | null;
  focused: string | null;
  bins: View;
}

export const axis_height = 26;

export function xOf({ view, gutter, width }: Pick<Scene, "view" | "gutter" | "width">, at: number): number {
  return gutter + ((at - view.from) / (view.to - view.from)) * (width - gutter);
}

export function timeAt({ view, gutter, width }: Pick<Scene, "view" | "gutter" | "width">, x: number): number {
  return view.from + ((x - gutter) / Math.max(width - gutter, 1)) * (view.to - view.from);
}

/** The bar under the pointer; of several the one drawn last. */
export function barAt(scene: Scene, x: number, y: number): { row: Row; bar: Bar | null } | null {
  if (y < axis_height || x < 0) return null;
  const row = scene.rows[rowAt(scene.tops, y - axis_height + scene.scroll)];
  if (row === undefined) return null;
  if (row.kind === "stage" || row.kind === "density") return { row, bar: null };
  if (x < scene.gutter) return { row, bar: row.kind === "task" ? (row.bars.at(-1) ?? null) : null };
  // Short bars are hard to hit: a few pixels beside one count.
  const near = row.bars
    .map((bar) => ({ bar, off: Math.max(xOf(scene, bar.from) - x, x - xOf(scene, bar.to), 0) }))
    .filter(({ off }) => off <= 4)
    .sort((a, b) => a.off - b.off || b.bar.from - a.bar.from);
  return { row, bar: near[0]?.bar ?? null };
}
