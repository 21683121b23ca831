// Which values are data, as GDAL counts them: not nodata, not "not a number". Pure.
import type { DataType } from "../../../geo/raster.js";

/** Values from `low` to `high` are no data; none when low is above high. */
export interface NoData {
  low: number;
  high: number;
}

/** Floats a few last digits from nodata are nodata too: two units, as in GDAL. */
const epsilon: Readonly<Partial<Record<DataType, number>>> = { float32: 2 ** -23, float64: 2 ** -52 };
const units = 2;

export function noDataOf(nodata: number | "nan" | null, data_type: DataType): NoData {
  if (nodata === null || nodata === "nan") return { low: 1, high: 0 };
  const around = Number.isFinite(nodata) ? Math.abs(2 * nodata) * (epsilon[data_type] ?? 0) * units : 0;
  return { low: nodata - around, high: nodata + around };
}
