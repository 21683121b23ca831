// A source on this machine, with the engine that is to open it: or an error that tells everything its header says against it.

import { parseZoneRef } from "../../../core/places/zones.js";
import type { TaskContext } from "../../../core/task/context.js";
import type { Finding } from "../../../geo/raster.js";
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
}

export async function fetchSource(
  ctx: TaskContext,
  source: string,
  { source_crs, strict = false }: { source_crs?: string | undefined; strict?: boolean } = {},
): Promise<FetchedSource> {
  const engine = await engineFor(ctx.raster);
  const limits = { source_crs: source_crs ?? null, max_bytes: ctx.raster.source_max_bytes };
  const { file, findings } = await openSource(ctx, source, engine, limits);
  if (file === null) {
    refuseFindings(source, findings, strict);
    throw new Error("a source without a file has findings that say why");
  }
  return { engine, file: file.path, bytes: file.bytes, sha256: file.sha256, findings };
}

/** When the source was last written, as far as its zone tells; else now. */
export async function modifiedAt(ctx: TaskContext, source: string): Promise<string> {
  const ref = parseZoneRef(source);
  const found = ref === null ? null : await ctx.zones.stat(ref);
  return found === null ? new Date().toISOString() : new Date(found.modified_at).toISOString();
}
