// h3.inspect_rasters: the headers of all rasters, read by our own code in a process apart; everything that is wrong with any of them at once.
import { defineHandler } from "../../../core/declare/declare.js";
import { Permanent } from "../../../core/errors/errors.js";
import { type CogSource, openCog } from "../cog_reader.js";
import type { RasterFacts } from "../facts.js";
import { h3_memory_mb, h3_module, raster_parameters } from "../settings.js";

const most_told = 20;
const earth_m2 = 5.1e14;
const degree_m = 111_320;

export const h3InspectRasters = defineHandler(
  "h3.inspect_rasters",
  {
    parameters: raster_parameters,
    isolation: "process",
    module: h3_module,
    memory_mb: h3_memory_mb,
    timeout_s: 3600,
  },
  async (given, ctx): Promise<{ rasters: RasterFacts[] }> => {
    const { sources } = await ctx.previous.one<{ sources: { source: string }[] }>();
    const rasters: RasterFacts[] = [];
    const problems: string[] = [];
    for (const { source } of sources) {
      ctx.signal.throwIfAborted();
      try {
        const cog = await openCog(ctx, source, given.source_crs);
        const { image, layout, etag, header } = cog;
        if (given.band > image.band_count) problems.push(`${source} has ${image.band_count} bands, not ${given.band}`);
        rasters.push({
          source,
          etag,
          crs: given.source_crs ?? header.georeference.crs?.code ?? null,
          pixels: image.width * image.height,
          block_pixels: layout.width * layout.height,
          blocks: cog.blocks_across * cog.blocks_down,
          cells: cellsOf(cog, given.resolution),
        });
      } catch (error) {
        if (!(error instanceof Permanent)) throw error;
        problems.push(error.message);
      }
      ctx.progress({ done: rasters.length + problems.length, total: sources.length });
    }
    if (problems.length > 0) {
      const more = problems.length > most_told ? ` · and ${problems.length - most_told} more` : "";
      throw new Permanent(`${problems.slice(0, most_told).join(" · ")}${more}`, { code: "raster_refused" });
    }
    if (rasters.length === 0) {
      throw new Permanent("there are no rasters: look at the prefix and the pattern", { code: "no_sources" });
    }
    return { rasters };
  },
);

/** About so many cells have a pixel: never more than there are pixels. */
function cellsOf({ image, transform, to_degrees, header }: CogSource, resolution: number): number {
  const pixels = image.width * image.height;
  const [x0, dx, column_skew, y0, row_skew, dy] = transform;
  const [x, y] = [x0 + (image.width / 2) * dx, y0 + (image.height / 2) * dy];
  const lat = to_degrees.kind === "free" ? to_degrees.degrees(x, y)[1] : to_degrees.lat(y);
  const shrink = Math.max(0.01, Math.cos((Math.min(89, Math.abs(lat)) * Math.PI) / 180));
  const is_degrees =
    to_degrees.kind === "separable" && header.georeference.crs?.code !== "EPSG:3857" && Math.abs(dx) < 10;
  const scale = is_degrees ? degree_m ** 2 * shrink : to_degrees.kind === "separable" ? shrink ** 2 : 1;
  const pixel_m2 = Math.abs(dx * dy - column_skew * row_skew) * scale;
  const cell_m2 = earth_m2 / (2 + 120 * 7 ** resolution);
  return Math.min(pixels, 100 + (pixels * pixel_m2 * 1.5) / cell_m2);
}
