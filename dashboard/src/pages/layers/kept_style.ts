// The style that a layer has for everybody, as far as the layer still has the column it is drawn by. Pure.
import type { LayerStyle } from "../../../../src/core/api/layers.js";
import type { WholeLayer } from "./layer_page.js";

/** Without the column it is drawn by, a layer has one colour. */
export function keptStyle({ style, columns }: Pick<WholeLayer, "style" | "columns">): LayerStyle | null {
  if (style === null || typeof style.colour !== "string" || !Array.isArray(style.classes)) return null;
  const kept = style as unknown as LayerStyle;
  if (kept.column === null || columns.some(({ name }) => name === kept.column)) return kept;
  return { ...kept, kind: "single", column: null, classes: [] };
}
