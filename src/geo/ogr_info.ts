// Reads what ogrinfo says of a source's layers, in the words it has had since GDAL 3.2. Pure. A name that could be mistaken for one of its
// lines makes the list of fields another than the rows have, which who reads those finds out.
import type { FieldKind, SourceLayer } from "./vector.js";

const kinds: Readonly<Record<string, FieldKind>> = {
  String: "text",
  "String(JSON)": "json",
  "String(UUID)": "text",
  Integer: "integer",
  "Integer(Int16)": "integer",
  "Integer(Boolean)": "boolean",
  Integer64: "bigint",
  Real: "number",
  "Real(Float32)": "number",
  Date: "date",
  Time: "text",
  DateTime: "datetime",
  Binary: "text",
  StringList: "list",
  IntegerList: "integer_list",
  "IntegerList(Int16)": "integer_list",
  "IntegerList(Boolean)": "integer_list",
  Integer64List: "integer_list",
  RealList: "number_list",
  "RealList(Float32)": "number_list",
};

const field_line =
  /^(.*): (String|Integer|Integer64|Real|Date|Time|DateTime|Binary|StringList|IntegerList|Integer64List|RealList)(\([A-Za-z0-9]+\))?( \(\d+\.\d+\))?($|[ ,])/s;

export interface ToldLayer extends SourceLayer {
  /** Columns of geometries; more than one cannot be loaded. */
  geometry_count: number;
}

export function parseOgrInfo(text: string, ownCode: (wkt: string) => string | null): ToldLayer[] {
  const parts = text.split(/^Layer name: /m).slice(1);
  return parts.map((part) => parseLayer(part, ownCode));
}

function parseLayer(part: string, ownCode: (wkt: string) => string | null): ToldLayer {
  const end = part.indexOf("\n");
  const name = end === -1 ? part : part.slice(0, end);
  const told = end === -1 ? "" : part.slice(end + 1);
  const several = [...told.matchAll(/^Geometry \(/gm)].length;
  const declared_type = /^Geometry(?: \([^\n]*\))?: (.*)$/m.exec(told)?.[1]?.trim() ?? "None";
  const has_geometry = declared_type !== "None";
  const count = /^Feature Count: (-?\d+)$/m.exec(told)?.[1];
  const wkt = wktIn(told);
  return {
    name,
    has_geometry,
    declared_type,
    geometry_count: several > 0 ? several : has_geometry ? 1 : 0,
    feature_count: count === undefined || Number(count) < 0 ? null : Number(count),
    crs: wkt === null ? null : ownCode(wkt),
    wkt,
    fields: fieldsIn(told),
  };
}

function wktIn(told: string): string | null {
  const start = /^(?:Layer SRS WKT:|SRS WKT(?: \([^\n]*\))?:)\n/m.exec(told);
  if (start === null) return null;
  const rest = told.slice(start.index + start[0].length);
  // As GeoPackage says that nobody knows.
  if (/^\(unknown\)|^\w+\["Undefined (geographic|Cartesian) SRS"/i.test(rest)) return null;
  let depth = 0;
  let in_text = false;
  for (let at = 0; at < rest.length; at++) {
    const character = rest[at];
    if (character === '"') in_text = !in_text;
    else if (in_text) continue;
    else if (character === "[") depth++;
    else if (character === "]" && --depth === 0) return rest.slice(0, at + 1);
  }
  return null;
}

function fieldsIn(told: string): SourceLayer["fields"] {
  return told.split("\n").flatMap((line) => {
    const found = field_line.exec(line);
    if (found === null) return [];
    const type = `${found[2]}${found[3] ?? ""}`;
    return [{ name: found[1]!, kind: kinds[type] ?? kinds[found[2]!] ?? "text" }];
  });
}
