// @ts-check
// One COG by the engine of a worker and nothing else: started by raster.js below timed.py, with the options of the peer beside it.
import { openRasterEngine } from "../../dist/handlers/raster/gdal/engine_choice.js";

const { source, target, ...asked } = JSON.parse(process.argv[2] ?? "{}");
const engine = await openRasterEngine({ prefer: "gdal" });
const { signal } = new AbortController();
const { bounds, transform } = await engine.suggestWarp(source, asked, signal);
await engine.cog(source, target, { ...asked, bounds, resolution: [transform[1], -transform[5]] }, signal);
