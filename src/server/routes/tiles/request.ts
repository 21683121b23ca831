// Reads what an address asks of raster tiles. Everything that is wrong is told at once.
import { BadRequest } from "../../../core/errors/errors.js";
import { max_problems, type Problem, quoted, suggestion } from "../../../core/errors/problems.js";
import { isTile, type TilePlace, tileMatrixSet } from "../../../geo/layers/tile_matrix_sets.js";
import { type Color, color_map_names, colorMapNamed, colorOf } from "../../../geo/raster_tiles/color_maps.js";
import type { AskedLook } from "../../../geo/raster_tiles/look.js";
import type { Stretch } from "../../../geo/raster_tiles/paint.js";
import { samplings } from "../../../geo/raster_tiles/window.js";

export type Query = Record<string, string | undefined>;

export const formats = ["png", "webp"] as const;
export type Format = (typeof formats)[number];
export const look_names = ["bands", "rescale", "colormap", "colors", "nodata", "resampling", "asset", "size"] as const;
export const choice_names = ["datetime", "filter", "filter-lang", "ids", "sortby"] as const;
const signed_names = ["expires", "tenant", "signature", "v", "format"] as const;
const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i;

export function refuse(problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  throw new BadRequest("the request is not right", {
    problems: problems.slice(0, max_problems),
    hint: "docs/tiles.md and GET /api/docs tell what it takes",
  });
}

export function unknownNames(query: Query, more: readonly string[], problems: Problem[]): void {
  const known = [...look_names, ...signed_names, ...more];
  for (const name of Object.keys(query)) {
    if (known.includes(name)) continue;
    const fix = suggestion(name, known);
    problems.push({ path: `query.${name.slice(0, 60)}`, problem: "is not a parameter of this", fix });
  }
}

export function readLook(query: Query, problems: Problem[]): AskedLook {
  const look: AskedLook = { size: 256 };
  const tell = (name: string, problem: string, fix: string) =>
    void problems.push({ path: `query.${name}`, problem, fix });
  if (query.bands !== undefined) {
    const bands = query.bands.split(",").map((one) => (/^\s*[1-9]\d{0,4}\s*$/.test(one) ? Number(one) : 0));
    if (bands.includes(0) || (bands.length !== 1 && bands.length !== 3))
      tell(
        "bands",
        `${quoted(query.bands)} is not one band or three`,
        "Count from 1: 4, or 3,2,1 for red, green and blue.",
      );
    else look.bands = bands;
  }
  if (query.rescale !== undefined) {
    const ends = query.rescale.split(",").map((one) => (number.test(one.trim()) ? Number(one) : Number.NaN));
    const pairs = Array.from({ length: ends.length / 2 }, (_, at): Stretch => [ends[at * 2]!, ends[at * 2 + 1]!]);
    const is_right =
      ends.length % 2 === 0 &&
      pairs.every(([low, high]) => Number.isFinite(low) && Number.isFinite(high) && low < high);
    if (!is_right || (pairs.length !== 1 && pairs.length !== 3))
      tell(
        "rescale",
        `${quoted(query.rescale)} is not low,high`,
        "Give two numbers, the lower first: 0,3000; or three such pairs, one for each band.",
      );
    else look.rescale = pairs;
  }
  if (query.colormap !== undefined) {
    const map = colorMapNamed(query.colormap);
    if (map === null)
      tell("colormap", `${quoted(query.colormap)} is not known here`, suggestion(query.colormap, color_map_names));
    else look.color_map = map;
  }
  if (query.colors !== undefined) {
    const colors = readColors(query.colors);
    if (colors === null)
      tell(
        "colors",
        "is not a list of values with colours",
        "Give value:rrggbb with commas between: 1:00ff00,2:ff0000; 256 at most.",
      );
    else look.colors = colors;
    if (query.colormap !== undefined) tell("colors", "stands beside colormap", "Give one of the two.");
  }
  if (look.bands?.length === 3 && (look.color_map !== undefined || look.colors !== undefined))
    tell("bands", "are three, and colours are for one", "Leave colormap and colors out, or give one band.");
  if (look.rescale?.length === 3 && look.bands?.length === 1)
    tell("rescale", "has three pairs for one band", "Give one pair.");
  if (query.nodata !== undefined) {
    const word = query.nodata.trim().toLowerCase();
    if (word !== "nan" && !number.test(word))
      tell("nodata", `${quoted(query.nodata)} is not a number`, "Give a number, or nan.");
    else look.nodata = word === "nan" ? "nan" : Number(word);
  }
  if (query.resampling !== undefined) {
    const found = samplings.find((one) => one === query.resampling);
    if (found === undefined)
      tell("resampling", `${quoted(query.resampling)} is not known here`, suggestion(query.resampling, samplings));
    else look.sampling = found;
  }
  if (query.size !== undefined) {
    if (query.size !== "256" && query.size !== "512")
      tell("size", `${quoted(query.size)} is not a size of tiles`, "256 or 512.");
    else look.size = Number(query.size);
  }
  if (query.asset !== undefined) look.asset = query.asset;
  return look;
}

function readColors(text: string): Map<number, Color> | null {
  const colors = new Map<number, Color>();
  for (const one of text.split(",")) {
    const [, value = "", digits = ""] = /^\s*([^:\s]+)\s*:\s*#?([0-9a-f]{6})\s*$/i.exec(one) ?? [];
    if (!number.test(value)) return null;
    colors.set(Number(value), colorOf(digits));
  }
  return colors.size <= 256 ? colors : null;
}

export interface AskedTile {
  place: TilePlace;
  format: Format;
}

/** Null, with problems told, for what names no tile. */
export function readPlace(
  params: { zoom: string; column: string; file: string },
  problems: Problem[],
): AskedTile | null {
  const [, row = params.file, ending = ""] = /^(.*?)\.(\w+)$/.exec(params.file) ?? [];
  const format = formats.find((one) => one === ending);
  if (format === undefined)
    problems.push({
      path: "path.file",
      problem: ending === "" ? "has no format" : `${quoted(ending)} is no format of tiles`,
      fix: `End it with ${formats.map((one) => `.${one}`).join(" or ")}.`,
    });
  const parts = { zoom: params.zoom, x: params.column, y: row };
  for (const [name, text] of Object.entries(parts))
    if (!/^\d{1,15}$/.test(text))
      problems.push({ path: `path.${name}`, problem: `${quoted(text)} is not a whole number`, fix: "Count from 0." });
  if (format === undefined || Object.values(parts).some((text) => !/^\d{1,15}$/.test(text))) return null;
  const set = tileMatrixSet("WebMercatorQuad")!;
  return { format, place: { set, zoom: Number(params.zoom), column: Number(params.column), row: Number(row) } };
}

export { isTile };
