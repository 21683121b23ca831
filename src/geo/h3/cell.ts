// The number of a cell, by which layers know it: 1, the base cell in 7 bits, then 3 bits for each digit. Below 2^53 for every resolution,
// so that JSON and JavaScript keep it; children of cell n are 8n … 8n+6, its parent is n/8 without the rest, and cells of one resolution
// sort as the tree of H3 does. The index of H3 itself is longer than a JavaScript number. Pure.
import { getPentagons, isValidCell } from "h3-js";

export type CellNumber = number;

export const finest = 15;
const base_cells = 122;
const eighths = Array.from({ length: finest + 1 }, (_, r) => 8 ** r);

/** H3's longest circumradius at resolution 0 in radians, and as far as descendants reach beyond it; a resolution more is √7 less. */
const reach_0 = 0.24;

export function reachOf(resolution: number): number {
  return reach_0 / 7 ** (resolution / 2);
}

export function resolutionOf(cell: CellNumber): number {
  return (Math.floor(Math.log2(cell)) - 7) / 3;
}

export function baseNumber(base_cell: number): CellNumber {
  return 128 + base_cell;
}

export function allBaseCells(): CellNumber[] {
  return Array.from({ length: base_cells }, (_, base) => baseNumber(base));
}

/** The number of an index in H3's text form, which is known to be valid. */
export function cellNumber(index: string): CellNumber {
  const resolution = Number.parseInt(index[1]!, 16);
  const low = Number.parseInt(index.slice(2), 16);
  return 128 * eighths[resolution]! + Math.floor(low / eighths[finest - resolution]!);
}

/** What stands behind 8 and the resolution in H3's text form: the base cell, its digits, and sevens. */
function lowPart(cell: CellNumber, resolution: number): number {
  const rest = eighths[finest - resolution]!;
  return (cell - 128 * eighths[resolution]!) * rest + rest - 1;
}

export function cellIndex(cell: CellNumber): string {
  const resolution = resolutionOf(cell);
  return `8${resolution.toString(16)}${lowPart(cell, resolution).toString(16).padStart(13, "0")}`;
}

/** The halves of the index, lower first, as h3-js takes them without reading text. */
export function splitIndex(cell: CellNumber): [number, number] {
  const resolution = resolutionOf(cell);
  const low = lowPart(cell, resolution);
  return [(low % 2 ** 32) | 0, Math.floor(low / 2 ** 32) + 0x08000000 + resolution * 2 ** 20];
}

/** Null for what is no cell. */
export function readCell(text: string): CellNumber | null {
  const index = text.toLowerCase();
  return /^8[0-9a-f]{14}$/.test(index) && isValidCell(index) ? cellNumber(index) : null;
}

export function parentOf(cell: CellNumber, resolution: number): CellNumber {
  return Math.floor(cell / eighths[resolutionOf(cell) - resolution]!);
}

const pentagon_bases = new Set(getPentagons(0).map(cellNumber));

export function isPentagon(cell: CellNumber): boolean {
  const resolution = resolutionOf(cell);
  const base = Math.floor(cell / eighths[resolution]!);
  return cell === base * eighths[resolution]! && pentagon_bases.has(base);
}

/** A pentagon has no child in the direction of its missing side. */
export function childrenOf(cell: CellNumber): CellNumber[] {
  const first = cell * 8;
  const all = [first, first + 1, first + 2, first + 3, first + 4, first + 5, first + 6];
  if (isPentagon(cell)) all.splice(1, 1);
  return all;
}

/** How many descendants a cell has `depth` resolutions below. */
export function descendantCount(cell: CellNumber, depth: number): number {
  return isPentagon(cell) ? 1 + (5 * (7 ** depth - 1)) / 6 : 7 ** depth;
}

/** All descendants `depth` resolutions below, in order; the cell itself at depth 0. */
export function forEachDescendant(cell: CellNumber, depth: number, visit: (cell: CellNumber) => void): void {
  if (depth === 0) {
    visit(cell);
    return;
  }
  if (isPentagon(cell)) {
    for (const child of childrenOf(cell)) forEachDescendant(child, depth - 1, visit);
    return;
  }
  const end = (cell + 1) * eighths[depth]!;
  for (let at = cell * eighths[depth]!; at < end; ) {
    visit(at);
    at++;
    // No digit is 7: the next number without one.
    for (let place = 1; place < eighths[depth]! && Math.floor(at / place) % 8 === 7; place *= 8) at += place;
  }
}

/**
 * A tree below a cell, of 7^slice_depth that it is divided into, and of it what is needed for `depth`: its own root, or where that is
 * deeper the ancestor of it, in the first of the trees that have this one. Null where this tree has none, or the cell is a pentagon without it.
 */
export function sliceRoot(cell: CellNumber, slice_depth: number, place: number, depth: number): CellNumber | null {
  let root = cell;
  for (let level = slice_depth - 1; level >= 0; level--) {
    const digit = Math.floor(place / 7 ** level) % 7;
    if (digit === 1 && isPentagon(root)) return null;
    root = root * 8 + digit;
  }
  if (depth >= slice_depth) return root;
  const above = eighths[slice_depth - depth]!;
  return root % above === 0 ? root / above : null;
}
