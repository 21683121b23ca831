// How long cells may be behind what happened, and when nobody need ask for them again. Pure.
import { isTerminal, type StageStatus } from "../../../../src/core/shown/statuses.js";

/** After the last thing that happened. A server keeps what it read for a second, and for 15 when reading took long (kept_cells.ts). */
export const settle_after_ms = [1_700, 16_000] as const;

/**
 * Cells that were kept may still show a stage at work that has ended, or one ended that was opened again: they are final when they
 * say so too, and not because the stage does.
 */
export function stillMoves(stage: StageStatus, cells: StageStatus | undefined): boolean {
  return !isTerminal(stage) || cells === undefined || !isTerminal(cells);
}
