// h3.plan_raster: the blocks of all rasters in parts of some million pixels. Makes the tables that tallies and cells go into.
import { defineHandler } from "../../../core/declare/declare.js";
import { Permanent } from "../../../core/errors/errors.js";
import { statisticColumns } from "../../../geo/h3/statistics.js";
import { requireGeo } from "../../vector/geo_schema.js";
import { refuseTaken } from "../../vector/handlers/plan.js";
import type { RasterFacts, RasterPart, TallyPlan } from "../facts.js";
import { cellTarget, makeTable } from "../load_cells.js";
import { raster_parameters } from "../settings.js";
import { makeTallyTable } from "../tally_table.js";

const pixels_of_a_task = 8_000_000;
const cells_of_a_task = 200_000;
const most_parts = 20_000;

export const h3PlanRaster = defineHandler(
  "h3.plan_raster",
  { parameters: raster_parameters },
  async (given, ctx): Promise<TallyPlan<RasterPart>> => {
    await requireGeo(ctx);
    const { rasters } = await ctx.previous.one<{ rasters: RasterFacts[] }>();
    const at_most = Math.ceil(rasters.reduce((sum, { cells }) => sum + cells, 0));
    if (at_most > given.max_cells) {
      throw new Permanent(
        `there would be about ${at_most} cells, more than ${given.max_cells}: choose a coarser resolution, or raise max_cells`,
        { code: "too_many_cells" },
      );
    }
    const parts = rasters.flatMap(partsOf);
    if (parts.length > most_parts) {
      throw new Permanent(
        `the rasters would be read in ${parts.length} parts, ${most_parts} at most: submit several jobs`,
        { code: "too_many_parts" },
      );
    }
    const target = cellTarget(given, {
      columns: statisticColumns(given.statistics),
      expected: at_most,
      sources: rasters.map(({ source, crs }) => ({
        source,
        sha256: "",
        layer: `band ${given.band}`,
        format: "geotiff",
        crs,
      })),
    });
    await refuseTaken(ctx, [target], { mode: given.mode, split_by: undefined });
    const tallies = given.dry_run ? "" : await makeTallyTable(ctx, given.layer, [""]);
    const table = given.dry_run ? target.table : await makeTable(ctx, target);
    return {
      targets: [{ ...target, table }],
      parts: parts.map((part, number) => ({ ...part, part: number, tallies })),
      tallies,
      at_most,
      within_version: null,
      findings: [],
      renamed: [],
    };
  },
);

function partsOf({
  source,
  etag,
  pixels,
  block_pixels,
  blocks,
  cells,
}: RasterFacts): Pick<RasterPart, "source" | "etag" | "from" | "to">[] {
  const most = Math.min(pixels_of_a_task, (cells_of_a_task * pixels) / cells);
  const each = Math.max(1, Math.floor(most / block_pixels));
  const count = Math.ceil(blocks / each);
  return Array.from({ length: count }, (_, i) => ({
    source,
    etag,
    from: i * each,
    to: Math.min(blocks, (i + 1) * each),
  }));
}
