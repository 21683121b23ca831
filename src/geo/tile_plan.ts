// Cuts a raster into tiles on the pixel grid of its target: neighbours share exactly the overlap, nothing is left out, and no
// tile is a sliver. Small rasters stay whole. Pure.
import { BadRequest } from "../core/errors/errors.js";
import type { Problem } from "../core/errors/problems.js";
import type { BlockSize, Bounds, GeoTransform } from "./raster.js";

export interface TilePlanOptions {
  /** The whole raster in the target CRS, as RasterEngine.suggestWarp says. */
  width: number;
  height: number;
  /** North up. */
  transform: GeoTransform;
  /** Side of a tile, a multiple of the block size. */
  tile_px: number;
  /** Pixels that neighbours share. */
  overlap_px: number;
  block_size: number;
  /** Bands times bytes of a sample. */
  bytes_per_pixel: number;
  /** Up to both of these the raster is one tile. */
  single_max_pixels: number;
  single_max_bytes: number;
  /** A last column or row with fewer pixels of its own than this goes into the one before. Default: a block, at most half a step. */
  min_tile_px?: number;
  max_tiles: number;
  /** Tells of tiles that need not be made, for example because they lie outside of the footprint. */
  isEmpty?: (tile: PlannedTile) => boolean;
}

export interface PlannedTile {
  /** `tile-x5-y10` */
  name: string;
  x: number;
  y: number;
  /** Place and size in pixels of the whole. */
  column: number;
  row: number;
  width: number;
  height: number;
  bounds: Bounds;
}

export interface TilePlan {
  tiles: PlannedTile[];
  columns: number;
  rows: number;
  is_single: boolean;
  /** Names of those left out as empty. */
  empty: string[];
}

export function planTiles(options: TilePlanOptions): TilePlan {
  refuse(problemsOf(options));
  const { width, height, transform } = options;
  const is_single =
    width * height <= options.single_max_pixels && width * height * options.bytes_per_pixel <= options.single_max_bytes;
  const across = is_single ? [{ start: 0, length: width }] : spans(width, options);
  const down = is_single ? [{ start: 0, length: height }] : spans(height, options);
  const count = across.length * down.length;
  if (count > options.max_tiles) refuse([tooMany(options, count)]);
  const tiles: PlannedTile[] = [];
  const empty: string[] = [];
  for (const [y, vertical] of down.entries()) {
    for (const [x, horizontal] of across.entries()) {
      const place = {
        column: horizontal.start,
        row: vertical.start,
        width: horizontal.length,
        height: vertical.length,
      };
      const tile = { name: `tile-x${x}-y${y}`, x, y, ...place, bounds: windowBounds(transform, place) };
      if (options.isEmpty?.(tile)) empty.push(tile.name);
      else tiles.push(tile);
    }
  }
  return { tiles, columns: across.length, rows: down.length, is_single, empty };
}

/** Along one side: each span begins a step after the one before, and the last one takes what is left. */
function spans(length: number, { tile_px, overlap_px, block_size, min_tile_px }: TilePlanOptions) {
  const step = tile_px - overlap_px;
  const least = min_tile_px ?? Math.min(block_size, Math.floor(step / 2));
  let count = Math.max(1, Math.ceil((length - overlap_px) / step));
  const own = length - (count - 1) * step - overlap_px;
  if (count > 1 && own < least) count--;
  return Array.from({ length: count }, (_, i) => {
    const start = i * step;
    return { start, length: (i === count - 1 ? length : start + tile_px) - start };
  });
}

/** Each edge is computed in the same way from the grid, so that edges of neighbours are equal to the last bit. */
export function windowBounds(
  [x0, dx, , y0, , dy]: GeoTransform,
  { column, row, width, height }: { column: number; row: number; width: number; height: number },
): Bounds {
  return [x0 + column * dx, y0 + (row + height) * dy, x0 + (column + width) * dx, y0 + row * dy];
}

/**
 * The block size wanted, or one near it where others would find fault with the COG. rio-cogeo, and who trusts it, takes an image or
 * overview that is exactly one block wide for strips; and GDAL makes no overviews of what fits into one block. Up to 512 pixels a
 * side nobody minds. Narrow images meet 1024, 512 and 256 on their way down, and then not 384.
 */
export function safeBlockSize(width: number, height: number, wanted: BlockSize): BlockSize {
  return ([wanted, 512, 384].find((block) => isSafeBlock(width, height, block)) as BlockSize | undefined) ?? wanted;
}

function isSafeBlock(width: number, height: number, block: number): boolean {
  if (isLarge(width, height) && width <= block && height <= block) return false;
  // GDAL rounds halves down in some versions and up in others.
  return [Math.ceil, Math.floor].every((round) => {
    let level = [width, height] as const;
    while (isLarge(...level)) {
      if (level[0] === block) return false;
      level = [Math.max(1, round(level[0] / 2)), Math.max(1, round(level[1] / 2))];
    }
    return true;
  });
}

function isLarge(width: number, height: number): boolean {
  return width > 512 || height > 512;
}

function problemsOf(options: TilePlanOptions): Problem[] {
  const { width, height, transform, tile_px, overlap_px, block_size } = options;
  const problems: Problem[] = [];
  const problem = (path: string, text: string, fix: string) => problems.push({ path, problem: text, fix });
  if (!(Number.isInteger(width) && width > 0 && Number.isInteger(height) && height > 0)) {
    problem("$.width", `the raster is ${width} × ${height} pixels`, "give a raster that has pixels");
  }
  const [, dx, rx, , ry, dy] = transform;
  if (!transform.every(Number.isFinite) || !(dx > 0) || !(dy < 0) || rx !== 0 || ry !== 0) {
    problem(
      "$.transform",
      `[${transform.join(", ")}] is not north-up`,
      "plan in the target CRS, after the warp was suggested",
    );
  }
  if (!(block_size > 0) || block_size % 16 !== 0) {
    problem("$.block_size", `${block_size} is not a multiple of 16`, "give 256, 512 or 1024");
  } else if (!(tile_px > 0) || tile_px % block_size !== 0) {
    const nearest = Math.max(1, Math.round(tile_px / block_size) || 1) * block_size;
    problem("$.tile_px", `${tile_px} is not a multiple of the block size ${block_size}`, `give ${nearest}`);
  }
  if (!Number.isInteger(overlap_px) || overlap_px < 0 || overlap_px > tile_px / 2) {
    problem(
      "$.overlap_px",
      `${overlap_px} is not between 0 and half of tile_px`,
      `give at most ${Math.floor(tile_px / 2)}`,
    );
  }
  if (options.min_tile_px !== undefined && !(options.min_tile_px >= 1 && options.min_tile_px <= tile_px)) {
    problem("$.min_tile_px", `${options.min_tile_px} is not between 1 and tile_px`, `give ${block_size}`);
  }
  return problems;
}

function tooMany({ width, height, block_size, overlap_px, max_tiles }: TilePlanOptions, count: number): Problem {
  const side = Math.sqrt((width * height) / max_tiles) + overlap_px;
  const enough = Math.ceil(side / block_size + 1) * block_size;
  return {
    path: "$.tile_px",
    problem: `the raster of ${width} × ${height} pixels would be cut into ${count} tiles; ${max_tiles} are allowed`,
    fix: `give a larger tile_px, about ${enough}`,
  };
}

function refuse(problems: Problem[]): void {
  if (problems.length > 0) throw new BadRequest("The raster cannot be cut into tiles", { problems });
}
