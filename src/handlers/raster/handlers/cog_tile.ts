// raster.cog_tile: one COG of a raster, whole or a tile of its grid, in the silver zone; its result is what its item says.
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import { Permanent } from "../../../core/errors/errors.js";
import type { CogResult, CogTask } from "../facts.js";
import { gdal_process } from "../gdal/gdal_process.js";
import { source_ref, stac_id } from "../settings.js";
import { fetchSource } from "../source/fetch_source.js";
import { makeCog } from "./make_cog.js";

/** Planned by us from what validate returned: only what names files is looked at again. */
const parameters = z.looseObject({ source: source_ref, collection: stac_id, item_id: stac_id });

export const rasterCogTile = defineHandler(
  "raster.cog_tile",
  { parameters, ...gdal_process, timeout_s: 3600 },
  async (given, ctx): Promise<CogResult> => {
    const { source, source_sha256, cog, tile, layer = {}, ...task } = given as unknown as CogTask;
    const { file, engine, sha256 } = await fetchSource(ctx, source, { source_crs: cog.source_crs, layer });
    if (sha256 !== source_sha256) {
      const what = `${source} is not the file that was checked: it has changed since`;
      throw new Permanent(`${what}. Run the checks again: fanfold retry ${ctx.job_id} --stage validate`, {
        code: "source_changed",
      });
    }
    const [x0, y0, x1, y1] = tile.bounds;
    // Computed from the edges it would differ in the last digits, and so would every pixel's place. Plans made before had none.
    const resolution = cog.resolution ?? [(x1 - x0) / tile.width, (y1 - y0) / tile.height];
    const options = { ...cog, bounds: tile.bounds, resolution };
    return makeCog(ctx, engine, file, { ...task, tile, options, sources: [{ source, sha256 }] });
  },
);
