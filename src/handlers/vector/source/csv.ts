// Where a CSV file has its places: columns of longitude and latitude, or of WKT, named by the caller or found by their names. Pure.
import { Permanent } from "../../../core/errors/errors.js";

export interface CsvPlaces {
  x?: string | undefined;
  y?: string | undefined;
  wkt?: string | undefined;
}

const x_names = ["lon", "long", "lng", "longitude", "x", "easting", "lon_dd", "point_x", "x_coord"];
const y_names = ["lat", "latitude", "y", "northing", "lat_dd", "point_y", "y_coord"];
const wkt_names = ["wkt", "geom", "geometry", "the_geom", "geom_wkt", "wkt_geom", "shape"];

export interface CsvHeader {
  separator: "," | ";" | "\t" | "|";
  names: string[];
}

/** The first line, with quotes as RFC 4180 has them. */
export function csvHeader(start: string): CsvHeader {
  const text = start.replace(/^\uFEFF/, "");
  const separators = [",", ";", "\t", "|"] as const;
  const read = separators.map((separator) => ({ separator, names: fields(text, separator) }));
  return read.reduce((best, other) => (other.names.length > best.names.length ? other : best));
}

function fields(text: string, separator: string): string[] {
  const found: string[] = [];
  let field = "";
  let in_quotes = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (in_quotes) {
      if (character !== '"') field += character;
      else if (text[at + 1] === '"') field += text[++at];
      else in_quotes = false;
    } else if (character === '"') in_quotes = true;
    else if (character === separator) {
      found.push(field);
      field = "";
    } else if (character === "\n" || character === "\r") break;
    else field += character;
  }
  return [...found, field];
}

/** The driver's options for what was named or found; null: it has no places. */
export function csvPlaces(header: CsvHeader, given: CsvPlaces): { options: string[]; used: CsvPlaces } | null {
  const find = (named: string | undefined, known: readonly string[], what: string): string | undefined => {
    const by = (name: string) => header.names.find((one) => one.trim().toLowerCase() === name.toLowerCase());
    if (named === undefined) return known.map(by).find((name) => name !== undefined);
    const found = by(named.trim());
    if (found !== undefined) return found;
    const has = header.names.slice(0, 50).join(", ");
    throw new Permanent(`the file has no column ${JSON.stringify(named)} for ${what}; it has: ${has}`, {
      code: "csv_column_missing",
    });
  };
  const wants_wkt = given.wkt !== undefined;
  const x = wants_wkt ? undefined : find(given.x, x_names, "the longitude");
  const y = wants_wkt ? undefined : find(given.y, y_names, "the latitude");
  if (x !== undefined && y !== undefined) {
    return {
      options: [`X_POSSIBLE_NAMES=${x}`, `Y_POSSIBLE_NAMES=${y}`, "KEEP_GEOM_COLUMNS=NO"],
      used: { x, y },
    };
  }
  const wkt = find(given.wkt, wkt_names, "the WKT");
  if (wkt === undefined) return null;
  return { options: [`GEOM_POSSIBLE_NAMES=${wkt}`, "KEEP_GEOM_COLUMNS=NO"], used: { wkt } };
}
