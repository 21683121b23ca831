// Cells as lines of COPY: their number, their geometry as hexadecimal EWKB, and values as text. Written into memory, because a task holds
// no connection while it computes.
import { setImmediate as untilOthersRan } from "node:timers/promises";
import { cellToLatLng } from "h3-js";
import type { CopyLines } from "../../core/task/context.js";
import type { Point } from "../../geo/bounds.js";
import { type CellNumber, cellIndex, resolutionOf, splitIndex } from "../../geo/h3/cell.js";
import { cellRings } from "../../geo/h3/cell_polygon.js";

export type CellGeometry = "polygon" | "point" | "none";

export const geometry_types: Readonly<Record<CellGeometry, string | null>> = {
  polygon: "MultiPolygon",
  point: "Point",
  none: null,
};

/** More bytes than the geometry of a cell can have. */
const line_room = 2048;
/** Cells between two looks at what else the process has to do: some milliseconds. */
const at_once = 1000;

/** `values`: what stands behind cell and resolution in a line, a tab before each. */
export async function cellLines(
  cells: Iterable<CellNumber>,
  geometry: CellGeometry,
  signal: AbortSignal,
  values?: (cell: CellNumber) => string,
): Promise<CopyLines[]> {
  const pieces: CopyLines[] = [];
  let text = "";
  let rows = 0;
  const close = () => {
    if (rows > 0) pieces.push({ bytes: Buffer.from(text, values === undefined ? "latin1" : "utf8"), rows });
    text = "";
    rows = 0;
  };
  for (const cell of cells) {
    const place = geometry === "none" ? "" : `${geometryText(cell, geometry)}\t`;
    text += `${cell}\t${place}${cellIndex(cell)}\t${resolutionOf(cell)}${values?.(cell) ?? ""}\n`;
    if (++rows === at_once) {
      close();
      await untilOthersRan();
      signal.throwIfAborted();
    }
  }
  close();
  return pieces;
}

const binary = Buffer.allocUnsafe(line_room);
const view = new DataView(binary.buffer, binary.byteOffset, binary.length);
const point_type = 0x20000001;
const polygon_type = 3;
const multi_polygon_type = 0x20000006;

/** EWKB in hexadecimal. */
function geometryText(cell: CellNumber, geometry: "polygon" | "point"): string {
  let at = 0;
  const head = (type: number, srid: boolean) => {
    binary[at] = 1;
    view.setUint32(at + 1, type, true);
    at += 5;
    if (srid) {
      view.setUint32(at, 4326, true);
      at += 4;
    }
  };
  const count = (of: number) => {
    view.setUint32(at, of, true);
    at += 4;
  };
  const point = ([x, y]: Point) => {
    view.setFloat64(at, x, true);
    view.setFloat64(at + 8, y, true);
    at += 16;
  };
  if (geometry === "point") {
    const [lat, lon] = cellToLatLng(splitIndex(cell));
    head(point_type, true);
    point([lon, lat]);
  } else {
    const rings = cellRings(cell);
    head(multi_polygon_type, true);
    count(rings.length);
    for (const ring of rings) {
      head(polygon_type, false);
      count(1);
      count(ring.length);
      for (const corner of ring) point(corner);
    }
  }
  return binary.toString("hex", 0, at);
}
