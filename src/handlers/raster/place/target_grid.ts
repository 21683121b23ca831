// Where a raster comes to lie in the target CRS, pixel by pixel: as it lies already, as the engine suggests, or with the pixel size that
// was asked for. What would come out as a smear of a few pixels is refused.
import { Permanent } from "../../../core/errors/errors.js";
import { finding, hasErrors } from "../../../geo/findings.js";
import type { Bounds, CogOptions, Finding, GeoTransform, RasterInfo } from "../../../geo/raster.js";
import type { TargetGrid } from "../facts.js";
import type { RasterEngine } from "../gdal/engine.js";
import { batched } from "./batched.js";
import { boundsOnGlobe, localPixelSize } from "./local_scale.js";

/** The most pixels of a grid: above it a pixel size in degrees was meant as metres, or the reverse. */
const most_pixels = 1e12;
/** A suggested pixel may be so many times as long as those of the source; near a pole or across the antimeridian it is far more. */
const most_coarser = 3;

export interface Placed {
  grid: TargetGrid;
  findings: Finding[];
  /** The grid of the source itself: no pixel is resampled. */
  is_own: boolean;
}

export async function targetGrid(
  engine: RasterEngine,
  file: string,
  info: Pick<RasterInfo, "width" | "height" | "transform" | "crs">,
  cog: CogOptions,
  resolution: number | [number, number] | undefined,
  signal: AbortSignal,
): Promise<Placed> {
  const own = ownGrid(info, cog);
  if (own && resolution === undefined) return { grid: own, findings: [], is_own: true };
  const is_own = false;
  const suggested = await suggestion(engine, file, info, cog, signal).catch((error: unknown) =>
    whyNoPlace(engine, cog, error),
  );
  if (Array.isArray(suggested))
    return { grid: { width: 0, height: 0, transform: [0, 0, 0, 0, 0, 0] }, findings: suggested, is_own };
  const { width, height, transform, bounds, local } = suggested;
  const edge = edgeFindings(bounds, cog.target_crs);
  if (hasErrors(edge)) return { grid: { width, height, transform }, findings: edge, is_own };
  if (resolution === undefined) {
    const findings = [...edge, ...coarseFindings(transform, local, cog.target_crs)];
    return { grid: { width, height, transform }, findings, is_own };
  }
  const [rx, ry] = typeof resolution === "number" ? [resolution, resolution] : resolution;
  const [west, south, east, north] = own ? boundsOfGrid(own) : bounds;
  const columns = Math.max(1, Math.ceil((east - west) / rx - 1e-6));
  const rows = Math.max(1, Math.ceil((north - south) / ry - 1e-6));
  const grid: TargetGrid = { width: columns, height: rows, transform: [west, rx, 0, north, 0, -ry] };
  const size = `${columns} × ${rows} pixels in ${cog.target_crs.slice(0, 40)}`;
  const hint = "Give the pixel size in units of the target CRS: degrees for EPSG:4326, metres for most others.";
  if (rx > 2 * (east - west) && ry > 2 * (north - south)) {
    const message = `With a resolution of ${rx}, ${ry} it would have ${size}, far larger than all of it.`;
    return { grid, findings: [{ code: "resolution_too_coarse", severity: "error", message, hint }], is_own };
  }
  if (columns * rows <= most_pixels) return { grid, findings: edge, is_own };
  const message = `With a resolution of ${rx}, ${ry} it would have ${size}.`;
  return { grid, findings: [{ code: "resolution_too_fine", severity: "error", message, hint }], is_own };
}

/** What lies along the axes of the target CRS already stays, to the pixel; its rows are turned round where they run northwards. */
function ownGrid(
  { width, height, transform, crs }: Pick<RasterInfo, "width" | "height" | "transform" | "crs">,
  cog: CogOptions,
) {
  if (transform === null || cog.target_crs !== (cog.source_crs ?? crs?.code ?? crs?.wkt)) return null;
  const [x, dx, rx, y, ry, dy] = transform;
  if (!(dx > 0 && dy !== 0 && rx === 0 && ry === 0)) return null;
  const north_up: GeoTransform = dy < 0 ? transform : [x, dx, 0, y + dy * height, 0, -dy];
  return { width, height, transform: north_up };
}

function boundsOfGrid({ width, height, transform: [x, dx, , y, , dy] }: TargetGrid): Bounds {
  return [x, y + dy * height, x + dx * width, y];
}

interface Suggestion extends TargetGrid {
  bounds: Bounds;
  /** Side of a pixel of the source, in units of the target CRS; null where it cannot be told. */
  local: number | null;
}

async function suggestion(
  engine: RasterEngine,
  file: string,
  info: Pick<RasterInfo, "width" | "height" | "transform" | "crs">,
  cog: CogOptions,
  signal: AbortSignal,
): Promise<Suggestion> {
  const from = cog.source_crs ?? info.crs?.code ?? info.crs?.wkt ?? null;
  const { width, height, transform } = info;
  if (from === null || transform === null) {
    return { ...(await engine.suggestWarp(file, cog, signal)), local: null };
  }
  const raster = { width, height, transform };
  const toTarget = batched((points) => engine.transform(points, from, cog.target_crs));
  // GDAL finds no place for some that run on beyond 180: then a point says what the target counts in.
  const asked = engine.suggestWarp(file, cog, signal);
  const suggested = await asked.catch(() => null);
  const is_degrees = suggested?.is_degrees ?? (await isInDegrees(engine, cog.target_crs));
  const [local, crossing] = await Promise.all([
    localPixelSize(raster, toTarget, is_degrees),
    is_degrees ? boundsOnGlobe(raster, toTarget) : null,
  ]);
  if (crossing === null || local === null) return { ...(await asked), local };
  // GDAL would give it the whole globe, or no pixel of it: one that runs on beyond 180 is as wide as the raster.
  const [west, south, east, north] = crossing;
  const side = Math.hypot(east - west, north - south) / Math.hypot(width, height);
  const columns = Math.max(1, Math.round((east - west) / side));
  const rows = Math.max(1, Math.round((north - south) / side));
  return { width: columns, height: rows, transform: [west, side, 0, north, 0, -side], bounds: crossing, local };
}

async function isInDegrees(engine: RasterEngine, crs: string): Promise<boolean> {
  const [point] = await engine.transform([[10, 10]], "EPSG:4326", crs);
  return point !== undefined && point !== null && Math.hypot(point[0] - 10, point[1] - 10) < 0.1;
}

/** Half the side of Web Mercator's square; and with what GDAL allows beyond it. */
const mercator_edge = [20_037_508, 20_048_967] as const;

/** Nothing of it can be made where it runs over the edge; where GDAL has cut it there, that is told. */
function edgeFindings([, south, , north]: Bounds, target_crs: string): Finding[] {
  const reaches = Math.max(-south, north);
  if (target_crs !== "EPSG:3857" || reaches < mercator_edge[0]) return [];
  if (reaches <= mercator_edge[1]) {
    return [finding("cut_by_crs", "In EPSG:3857 what lies beyond 85.05 degrees is left out: there it ends.")];
  }
  const place = `${Math.round(south)} to ${Math.round(north)}`;
  return [
    finding("no_place_in_crs", `In EPSG:3857 it would reach from ${place}, beyond 85.06 degrees, where that ends.`),
  ];
}

function coarseFindings([, dx, , , , dy]: GeoTransform, local: number | null, target_crs: string): Finding[] {
  const side = Math.sqrt(Math.abs(dx * dy));
  if (local === null || side <= local * most_coarser) return [];
  const crs = target_crs.slice(0, 40);
  const message = `In ${crs} its pixels would be ${Math.round(side / local)} times as long as they are: it lies around a pole, or where ${crs} ends.`;
  const hint = `Give \`target_crs\` source, or another that suits the place; or \`resolution\` in units of ${crs}, about ${Number(local.toPrecision(2))}.`;
  return [{ code: "resolution_lost", severity: "error", message, hint }];
}

/** Which of the two is not known here, once something has failed; that there is no place for it when both are. */
async function whyNoPlace(engine: RasterEngine, cog: CogOptions, error: unknown): Promise<Finding[]> {
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
  if (findings.length > 0) return findings;
  // The file itself could be read: what failed is to place it.
  if (!(error instanceof Permanent) || !["gdal_failed", "no_warp"].includes(error.code ?? "")) throw error;
  return [finding("no_place_in_crs", `In ${cog.target_crs.slice(0, 40)} it has no pixels (${error.message}).`)];
}
