// Draws what one COG shows of a tile: where the tile's pixels lie in it, from which of its overviews, stretched and coloured.
import { BadRequest, BeyondLimit } from "../../core/errors/errors.js";
import type { SqlSession } from "../../core/task/context.js";
import { type TilePlace, tileBox } from "../../geo/layers/tile_matrix_sets.js";
import type { Color } from "../../geo/raster_tiles/color_maps.js";
import { type Level, levelFor } from "../../geo/raster_tiles/levels.js";
import { type AskedLook, measuredStretch, usualLook } from "../../geo/raster_tiles/look.js";
import { type Painting, type Picture, paint, type Stretch } from "../../geo/raster_tiles/paint.js";
import { positionsOf } from "../../geo/raster_tiles/positions.js";
import { type Part, partOf, pixelsOf, type Sampling } from "../../geo/raster_tiles/window.js";
import type { StacAsset, StacItem } from "../../geo/stac.js";
import { type CogFile, most_part_bytes } from "./cog_file.js";
import { type Box, type Conversion, degreesOf, Projections, projecting } from "./projections.js";

/** The most pixels of the part of a level that one tile is made of. */
export const most_part_pixels = 4_000_000;
const projections = new Projections();

export interface Placed {
  conversion: Conversion;
  /** In degrees. */
  box: Box;
}

const places = new WeakMap<CogFile, Promise<Placed>>();
const measured = new WeakMap<CogFile, Map<string, Promise<Stretch>>>();

export interface Shown {
  cog: CogFile;
  item: StacItem;
  asset: StacAsset;
}

/** Where the raster lies. Throws Conflict where that cannot be computed. */
export function placeOf({ cog, item }: Shown, db: SqlSession): Promise<Placed> {
  let place = places.get(cog);
  if (place === undefined) {
    place = findPlace(cog, item, db);
    places.set(cog, place);
    place.catch(() => places.delete(cog));
  }
  return place;
}

async function findPlace({ header }: CogFile, item: StacItem, db: SqlSession): Promise<Placed> {
  const { crs, transform } = header.georeference;
  const told_code = item.properties["proj:code"];
  const told_wkt = item.properties["proj:wkt2"];
  const code = crs?.code ?? (typeof told_code === "string" ? told_code : null);
  const wkt = typeof told_wkt === "string" ? told_wkt : null;
  const conversion = await projections.of({ code, wkt }, db);
  const [{ width, height }] = header.images;
  return { conversion, box: degreesOf({ transform: transform!, width, height }, conversion) };
}

/** Paints what is still transparent in the picture. */
export async function draw(
  picture: Picture,
  shown: Shown,
  place: TilePlace,
  asked: AskedLook,
  db: SqlSession,
): Promise<void> {
  const { cog } = shown;
  const { conversion, box } = await placeOf(shown, db);
  const project = projecting(place.set.srid === 3857 ? "EPSG:3857" : "EPSG:4326", conversion, box);
  const positions = positionsOf(
    { box: tileBox(place), size: picture.width },
    project,
    cog.header.georeference.transform!,
  );
  if (positions === null) return;
  const level = levelFor(cog.levels, positions.ratio);
  const part = partOf(positions, level);
  if (part === null) return;
  assertSmall(cog, level, part);
  const { bands, sampling, ...painting } = await lookOf(shown, asked);
  const window = await cog.window(level, part, bands, nodataOf(cog, asked));
  paint(picture, pixelsOf(window, positions, level, sampling), painting);
}

function assertSmall(cog: CogFile, level: Level, part: Part): void {
  if (part.width * part.height <= most_part_pixels && cog.costOf(level, part) <= most_part_bytes) return;
  throw new BeyondLimit(
    `this tile would be made of ${part.width} × ${part.height} pixels: the file has no overview as small`,
    {
      hint: "zoom in, or make a COG of the file with process_raster, which has overviews",
    },
  );
}

function nodataOf({ header }: CogFile, { nodata }: AskedLook): number | "nan" | null {
  if (nodata !== undefined) return nodata;
  return typeof header.nodata === "object" ? null : header.nodata;
}

interface Look extends Painting {
  bands: number[];
  sampling: Sampling;
}

async function lookOf(shown: Shown, asked: AskedLook): Promise<Look> {
  const { cog, item, asset } = shown;
  const usual = usualLook(item, asset, { band_count: cog.band_count, data_type: cog.sample_type });
  const single = asked.color_map !== undefined || asked.colors !== undefined;
  const bands = asked.bands ?? (single ? usual.bands.slice(0, 1) : usual.bands);
  const missing = bands.filter((band) => band > cog.band_count);
  if (missing.length > 0) {
    const problem = `${missing.join(", ")} is not there: the raster has ${cog.band_count}`;
    const problems = [{ path: "query.bands", problem, fix: `Count from 1 to ${cog.band_count}.` }];
    throw new BadRequest("the request is not right", { problems });
  }
  const table = asked.colors ?? (single || asked.rescale !== undefined || bands.length > 1 ? null : tableOf(cog));
  const sampling = asked.sampling ?? (usual.is_classes || table !== null ? "nearest" : "bilinear");
  const look = { bands, sampling };
  if (table !== null) return { ...look, stretches: [[0, 1]], table };
  const stretches: Stretch[] = [];
  for (const [at, band] of bands.entries()) {
    const given = asked.rescale?.[asked.rescale.length === 1 ? 0 : at];
    const known = usual.stretches[usual.bands.indexOf(band)] ?? null;
    stretches.push(given ?? known ?? (await measure(shown, band)));
  }
  return { ...look, stretches, color_map: asked.color_map };
}

function tableOf(cog: CogFile): Map<number, Color> | null {
  const table = cog.colorTable();
  return table === null ? null : new Map(table.entries());
}

/** Measures a band that the item says nothing about: from the smallest overview, once. */
function measure({ cog }: Shown, band: number): Promise<Stretch> {
  const name = String(band);
  const known = measured.get(cog) ?? new Map<string, Promise<Stretch>>();
  measured.set(cog, known);
  let stretch = known.get(name);
  if (stretch === undefined) {
    stretch = measureSmallest(cog, band);
    known.set(name, stretch);
    stretch.catch(() => known.delete(name));
  }
  return stretch;
}

async function measureSmallest(cog: CogFile, band: number): Promise<Stretch> {
  if (cog.sample_type === "uint8" && cog.band_count >= 3) return [0, 255];
  const level = cog.levels.at(-1)!;
  const { width, height } = level.image;
  const side = Math.min(1024, width, height);
  // In a file without overviews the middle has to do.
  const part =
    width * height <= most_part_pixels / 4
      ? { left: 0, top: 0, width, height }
      : { left: (width - side) >> 1, top: (height - side) >> 1, width: side, height: side };
  const window = await cog.window(level, part, [band], nodataOf(cog, { size: 0 }));
  return measuredStretch(window.bands[0]!, window.valid);
}
