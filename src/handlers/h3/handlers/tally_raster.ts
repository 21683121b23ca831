// h3.tally_raster: the pixels of some blocks counted into cells, in memory; then one COPY of a row for each cell.
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import { Permanent } from "../../../core/errors/errors.js";
import { CellFinder } from "../../../geo/h3/cell_finder.js";
import { tallyBlock } from "../../../geo/h3/pixel_cells.js";
import { keepsValues, tallyText } from "../../../geo/h3/statistics.js";
import { Tallies } from "../../../geo/h3/tallies.js";
import type { LoadedPart } from "../../vector/facts.js";
import { openCog, readBlock } from "../cog_reader.js";
import { loadRows } from "../load_cells.js";
import { h3_memory_mb, h3_module, raster_fields } from "../settings.js";
import { tallyLines, tallyNames } from "../tally_table.js";

const { resolution, statistics, source_crs, band, nodata } = raster_fields;
const most_cells = 2_000_000;

export const h3TallyRaster = defineHandler(
  "h3.tally_raster",
  {
    parameters: z.object({
      load: z.looseObject({
        part: z.int(),
        tallies: z.string(),
        source: z.string(),
        etag: z.string(),
        from: z.int(),
        to: z.int(),
      }),
      resolution,
      statistics,
      source_crs,
      band,
      nodata,
    }),
    isolation: "process",
    module: h3_module,
    memory_mb: h3_memory_mb,
    database: true,
    timeout_s: 3600,
  },
  ({ load, resolution, statistics, source_crs, band, nodata }, ctx): Promise<LoadedPart> => {
    return loadRows(ctx, {
      table: load.tallies,
      part: load.part,
      columns: tallyNames([""]),
      geometry: "none",
      compute: async () => {
        const cog = await openCog(ctx, load.source, source_crs);
        if (cog.etag !== load.etag) {
          throw new Permanent(
            `${load.source} is not the file that was planned: it has changed since. Submit the job again`,
            {
              code: "source_changed",
            },
          );
        }
        const finder = new CellFinder(resolution);
        const tallies = new Tallies(keepsValues(statistics));
        const own = cog.header.nodata === "nan" || cog.header.nodata === null ? Number.NaN : Number(cog.header.nodata);
        const is_float32 = cog.layout.data_type === "float32";
        const place = { transform: cog.transform, to_degrees: cog.to_degrees };
        const none = [own, nodata ?? Number.NaN].map((value) => (is_float32 ? Math.fround(value) : value));
        for (let at = load.from; at < load.to; at++) {
          ctx.signal.throwIfAborted();
          const block = await readBlock(ctx, cog, at, band - 1);
          if (block !== null) tallyBlock(block, { ...place, nodata: none[0]!, also_nodata: none[1]! }, finder, tallies);
          if (finder.cells.length > most_cells) {
            throw new Permanent("the cells are about as small as the pixels: choose a coarser resolution", {
              code: "too_many_cells",
            });
          }
          ctx.progress({ done: at + 1 - load.from, total: load.to - load.from });
        }
        return tallyLines(finder.cells, (slot) => tallyText(tallies.at(slot)), ctx.signal);
      },
    });
  },
);
