// A source on this machine, with the engine that is to open it: or an error that tells everything its header says against it.

import { Permanent } from "../../../core/errors/errors.js";
import { parseZoneRef } from "../../../core/places/zones.js";
import type { TaskContext } from "../../../core/task/context.js";
import type { Finding } from "../../../geo/raster.js";
import { openForeign, type WantedLayer } from "../formats/foreign_source.js";
import { zarrOf } from "../formats/zarr_folder.js";
import type { RasterEngine } from "../gdal/engine.js";
import { engineFor } from "../gdal/engine_choice.js";
import { refuseFindings } from "./refuse_findings.js";
import { openSource } from "./source.js";

export interface FetchedSource {
  engine: RasterEngine;
  file: string;
  bytes: number;
  sha256: string;
  /** What is not grave enough to refuse it. */
  findings: Finding[];
  /** Of a layer of a file that is no TIFF: when it was observed, and what an item says of it. */
  moment: string | null;
  properties: Record<string, string | number>;
}

/** What a file that is no TIFF is said to be, before it is looked at as one of other formats. */
const other_formats = new Set(["other_raster_format", "virtual_dataset"]);

export async function fetchSource(
  ctx: TaskContext,
  source: string,
  {
    source_crs,
    strict = false,
    layer,
  }: { source_crs?: string | undefined; strict?: boolean; layer?: WantedLayer } = {},
): Promise<FetchedSource> {
  const engine = await engineFor(ctx.raster);
  const limits = { source_crs: source_crs ?? null, max_bytes: ctx.raster.source_max_bytes };
  const is_folder = layer !== undefined && zarrOf(source) !== null;
  const { file, findings } = is_folder ? { file: null, findings: [] } : await openSource(ctx, source, engine, limits);
  if (file !== null) {
    refuseLayer(source, layer);
    return { engine, file: file.path, bytes: file.bytes, sha256: file.sha256, findings, moment: null, properties: {} };
  }
  if (layer !== undefined && findings.every(({ code }) => other_formats.has(code))) {
    const foreign = await openForeign(ctx, source, engine, layer, limits);
    if (foreign !== null) {
      refuseFindings(source, foreign.findings, strict);
      return { engine, ...foreign };
    }
  }
  refuseFindings(source, findings, strict);
  throw new Error("a source without a file has findings that say why");
}

function refuseLayer(source: string, { variable, step }: WantedLayer = {}): void {
  if (variable === undefined && step === undefined) return;
  throw new Permanent(`${source} is a GeoTIFF, which has bands: leave variable and step out, and give bands`, {
    code: "no_such_layer",
  });
}

/** When the source was last written, as far as its zone tells; else now. */
export async function modifiedAt(ctx: TaskContext, source: string): Promise<string> {
  const ref = parseZoneRef(source);
  const found = ref === null ? null : await ctx.zones.stat(ref);
  return found === null ? new Date().toISOString() : new Date(found.modified_at).toISOString();
}
