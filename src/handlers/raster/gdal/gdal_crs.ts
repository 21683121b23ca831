// Coordinate systems as text: which texts may be given to GDAL (it would also take a path or a URL, and go there), and what a
// WKT says about itself. Pure.
import { Permanent } from "../../../core/errors/errors.js";
import { quoted } from "../../../core/errors/problems.js";
import type { CrsInfo } from "../../../geo/raster.js";

const authority_code = /^(EPSG|ESRI|OGC|IAU_2015):[A-Za-z0-9]{1,20}$/;
const wkt_start =
  /^\s*(GEOGCS|PROJCS|COMPD_CS|GEOCCS|LOCAL_CS|VERT_CS|BOUNDCRS|GEOGCRS|GEODCRS|GEODETICCRS|GEOGRAPHICCRS|PROJCRS|PROJECTEDCRS|COMPOUNDCRS|ENGCRS)\s*\[/i;
const max_wkt = 20_000;

/** Grids are files, and a PROJ string inside a WKT can name any. */
const names_files = /\b(EXTENSION|PARAMETERFILE)\s*\[|\b(nadgrids|geoidgrids|grids|init|file)\s*=/i;
/** The start of a BOUNDCRS's datum shift, given in numbers (TOWGS84), and of no other. */
const shift_start = /\bABRIDGEDTRANSFORMATION\s*\[/i;
const shift_in_numbers =
  /\bABRIDGEDTRANSFORMATION\s*\[\s*"(?:[^"]|"")*"\s*,\s*(?:VERSION\s*\[\s*"(?:[^"]|"")*"\s*\]\s*,\s*)?METHOD\s*\[\s*"(?:Geocentric translations|Position Vector transformation|Coordinate Frame rotation|Longitude rotation|Geographic2D offsets)\b/i;

export function checkedCrs(text: string): string {
  if (authority_code.test(text)) return text;
  const is_wkt = wkt_start.test(text) && text.length <= max_wkt && !text.includes("\0");
  if (is_wkt && !names_files.test(text) && (!shift_start.test(text) || isShiftInNumbers(text))) return text;
  throw new Permanent(
    `${quoted(text.slice(0, 80))} is not a coordinate system that can be used: give a code such as EPSG:4326, or its WKT`,
    { code: "bad_crs" },
  );
}

function isShiftInNumbers(text: string): boolean {
  return text.split(new RegExp(shift_start, "gi")).length === 2 && shift_in_numbers.test(text);
}

/** From the WKT GDAL writes; its code is the one of the whole, not of a part. */
export function crsInfo(wkt: string): CrsInfo {
  const name = /^[^[]*\["((?:[^"]|"")*)"/.exec(wkt)?.[1]?.replaceAll('""', '"') ?? "unknown";
  return { code: ownCode(wkt), wkt, name, is_geographic: isGeographic(wkt) };
}

function isGeographic(wkt: string): boolean {
  const inner = /^\s*BOUNDCRS\s*\[\s*SOURCECRS\s*\[([\s\S]*)$/i.exec(wkt)?.[1] ?? wkt;
  const compound = /^\s*COMPOUNDCRS\s*\[\s*"(?:[^"]|"")*"\s*,([\s\S]*)$/i.exec(inner)?.[1] ?? inner;
  return (
    /^\s*(GEOGCRS|GEOGCS|GEOGRAPHICCRS)\s*\[/i.test(compound) ||
    /^\s*GEODCRS\s*\[[\s\S]*CS\[ellipsoidal/i.test(compound)
  );
}

/** ID["EPSG",32636] directly below the root. */
function ownCode(wkt: string): string | null {
  let depth = 0;
  let in_text = false;
  for (let at = 0; at < wkt.length; at++) {
    const char = wkt[at];
    if (char === '"') in_text = !in_text;
    else if (in_text) continue;
    else if (char === "[") {
      depth++;
      if (depth !== 2) continue;
      const found = /(?:\bID|\bAUTHORITY)\[$/.test(wkt.slice(Math.max(0, at - 10), at + 1))
        ? /^\[\s*"([A-Za-z0-9_]+)"\s*,\s*"?([A-Za-z0-9]+)"?/.exec(wkt.slice(at, at + 80))
        : null;
      if (found !== null) return `${found[1]}:${found[2]}`;
    } else if (char === "]") depth--;
  }
  return null;
}
