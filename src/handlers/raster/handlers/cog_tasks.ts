// The COG tasks of a raster: one, or one for each tile of its grid. Planned from data alone, so that planning again after a repair
// gives the same tasks with the same names. Pure.
import type { PlannedTask } from "../../../core/declare/declare.js";
import { planTiles, type TilePlan } from "../../../geo/tile_plan.js";
import type { CogTask, RasterPlan } from "../facts.js";
import { tileBbox } from "../place/place.js";

/** A job cannot have many more tasks in a stage and still be looked at. */
const max_tiles = 100_000;
/** The most bytes of one COG, unpacked. */
export const single_max_bytes = 4 * 1024 ** 3;

/** Throws BadRequest when the grid would have too many tiles. */
export function tilesOf({ grid, cog, tiling }: RasterPlan): TilePlan {
  return planTiles({
    ...grid,
    tile_px: tiling.tile_px,
    overlap_px: tiling.overlap_px,
    block_size: cog.block_size,
    bytes_per_pixel: tiling.bytes_per_pixel,
    single_max_pixels: tiling.max_single_px ** 2,
    single_max_bytes,
    max_tiles,
  });
}

export function* cogTasks(plan: RasterPlan): Generator<PlannedTask, void, void> {
  const { grid: _grid, tiling: _tiling, bbox: _bbox, lattice: _lattice, ...shared } = plan;
  const { tiles, is_single } = tilesOf(plan);
  for (const { x, y, bounds, width, height } of tiles) {
    const item_id = is_single ? plan.item_id : `${plan.item_id}-x${x}-y${y}`;
    const task: CogTask = { ...shared, item_id, tile: { bounds, width, height, ...(is_single ? {} : { x, y }) } };
    const bbox = tileBbox(task.tile, plan, plan.cog.target_crs, is_single);
    yield { index: item_id, parameters: { ...task }, ...(bbox === undefined ? {} : { bbox }) };
  }
}

export function itemIdsOf(plan: RasterPlan): string[] {
  return [...cogTasks(plan)].map(({ index }) => index!);
}
