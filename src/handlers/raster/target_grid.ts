// Where a raster comes to lie in the target CRS, pixel by pixel: as the engine suggests, or with the pixel size that was asked for.
import type { CogOptions, Finding } from "../../geo/raster.js";
import type { RasterEngine } from "./engine.js";
import type { TargetGrid } from "./facts.js";

/** Of a grid that nobody wants: a pixel size in degrees where metres were meant, or the reverse. */
const most_pixels = 1e12;

export async function targetGrid(
  engine: RasterEngine,
  file: string,
  cog: CogOptions,
  resolution: number | [number, number] | undefined,
  signal: AbortSignal,
): Promise<{ grid: TargetGrid; findings: Finding[] }> {
  const suggested = await engine
    .suggestWarp(file, cog, signal)
    .catch((error: unknown) => unknownCrs(engine, cog, error));
  if (Array.isArray(suggested))
    return { grid: { width: 0, height: 0, transform: [0, 0, 0, 0, 0, 0] }, findings: suggested };
  const { width, height, transform, bounds } = suggested;
  if (resolution === undefined) return { grid: { width, height, transform }, findings: [] };
  const [rx, ry] = typeof resolution === "number" ? [resolution, resolution] : resolution;
  const [west, south, east, north] = bounds;
  const columns = Math.max(1, Math.ceil((east - west) / rx - 1e-6));
  const rows = Math.max(1, Math.ceil((north - south) / ry - 1e-6));
  const grid: TargetGrid = { width: columns, height: rows, transform: [west, rx, 0, north, 0, -ry] };
  if (columns * rows <= most_pixels) return { grid, findings: [] };
  const message = `With a resolution of ${rx}, ${ry} it would have ${columns} × ${rows} pixels in ${cog.target_crs.slice(0, 40)}.`;
  const hint = "Give the pixel size in units of the target CRS: degrees for EPSG:4326, metres for most others.";
  return { grid, findings: [{ code: "resolution_too_fine", severity: "error", message, hint }] };
}

/** Which of the two is not known here, once something has failed; the failure itself when both are. */
async function unknownCrs(engine: RasterEngine, cog: CogOptions, error: unknown): Promise<Finding[]> {
  const given = Object.entries({ source_crs: cog.source_crs, target_crs: cog.target_crs });
  const findings: Finding[] = [];
  for (const [field, crs] of given) {
    if (crs === undefined) continue;
    const is_known = await engine.transform([[0, 0]], crs, crs).then(
      () => true,
      () => false,
    );
    if (is_known) continue;
    const message = `The engine knows no CRS ${crs.slice(0, 80)}, given as ${field}.`;
    findings.push({
      code: "crs_unknown",
      severity: "error",
      message,
      hint: "Give a code of the EPSG registry, such as EPSG:3857.",
    });
  }
  if (findings.length === 0) throw error;
  return findings;
}
