// A snapshot as GeoParquet 1.1: geometries as WKB, a box beside each that readers skip row groups by, rows in the order of the snapshot.
// A layer without geometries becomes plain Parquet.
import { join } from "node:path";
import type { SchemaElement } from "hyparquet";
import type { TaskContext } from "../../../core/task/context.js";
import type { LayerColumn } from "../../../geo/vector.js";
import type { MadeFile, Snapshot } from "../facts.js";
import { first_column, type Scalar, type SnapshotRow, snapshotPages } from "../snapshot_rows.js";
import { writer_version } from "../writer_version.js";
import { installedDuckdb, least_duckdb_rows, writeByDuckdb } from "./duckdb_parquet.js";
import { type Compression, type ParquetColumn, ParquetFile } from "./parquet_file.js";

export const parquet_media_type = "application/vnd.apache.parquet";

export interface GeoparquetSettings {
  compression: Compression;
  row_group_rows: number;
}

export async function writeGeoparquet(
  ctx: TaskContext,
  snapshot: Snapshot,
  { compression, row_group_rows }: GeoparquetSettings,
): Promise<MadeFile> {
  const file = join(await ctx.scratch(), `${snapshot.name}.parquet`);
  const layout = layoutOf(snapshot);
  const duckdb = snapshot.row_count < least_duckdb_rows ? null : await installedDuckdb();
  if (duckdb !== null) {
    const version = await writeByDuckdb(duckdb, ctx, snapshot, file, { ...layout, compression, row_group_rows });
    return { file, media_type: parquet_media_type, writer: { name: "duckdb", version } };
  }
  const parquet = await ParquetFile.create(file, {
    columns: layout.columns,
    compression,
    row_group_rows,
    key_values: layout.geo === null ? [] : [{ key: "geo", value: JSON.stringify(layout.geo) }],
  });
  try {
    for await (const page of snapshotPages(ctx, snapshot, snapshot.srid === null ? "none" : "wkb")) {
      for (const row of page) await parquet.add(...layout.row(row));
      ctx.progress({ done: page.at(-1)![0], total: snapshot.row_count, message: "GeoParquet" });
    }
    await parquet.end();
  } catch (error) {
    await parquet.give_up().catch(() => {});
    throw error;
  }
  return { file, media_type: parquet_media_type, writer: { name: "hyparquet-writer", version: writer_version } };
}

export interface Layout {
  geometry: string;
  box: string;
  columns: ParquetColumn[];
  geo: Record<string, unknown> | null;
  row(row: SnapshotRow): [values: unknown[], bytes: number];
}

export function layoutOf(snapshot: Snapshot): Layout {
  const { columns, srid, geometry_types, bounds } = snapshot;
  const taken = new Set(["fid", ...columns.map(({ name }) => name.toLowerCase())]);
  const free = (name: string): string => (taken.has(name) ? free(`${name}_`) : name);
  const geometry = free("geometry");
  const box = free("bbox");
  const values = columns.map(parquetValue);
  const key: ParquetColumn = {
    name: "fid",
    elements: [{ name: "fid", type: "INT64", repetition_type: "REQUIRED" }],
    repeats: false,
  };
  const rest = columns.map(({ name, type, pg_type }): ParquetColumn => {
    const [physical, logical] = elementOf(type, pg_type);
    const element = { name, type: physical, repetition_type: "OPTIONAL", ...logical } as SchemaElement;
    return { name, elements: [element], repeats: true };
  });
  const has_place = srid !== null;
  const place: ParquetColumn[] = has_place
    ? [
        {
          name: geometry,
          elements: [{ name: geometry, type: "BYTE_ARRAY", repetition_type: "OPTIONAL" }],
          repeats: false,
        },
        {
          name: box,
          elements: [{ name: box, repetition_type: "OPTIONAL", num_children: 4 }, ...edges.map(edgeElement)],
          repeats: false,
        },
      ]
    : [];
  const covering = { bbox: Object.fromEntries(edges.map((edge) => [edge, [box, edge]])) };
  const geo = {
    version: "1.1.0",
    primary_column: geometry,
    // No `crs` means longitude and latitude, which is what a snapshot for this format is in.
    columns: {
      [geometry]: { encoding: "WKB", geometry_types, ...(bounds === null ? {} : { bbox: bounds }), covering },
    },
  };
  return {
    ...{ geometry, box },
    columns: [key, ...rest, ...place],
    geo: has_place ? geo : null,
    row(row) {
      let bytes = 48;
      const made: unknown[] = [BigInt(row[1])];
      for (let at = 0; at < values.length; at++) {
        const value = row[first_column + at] as Scalar;
        if (typeof value === "string") bytes += value.length * 2;
        made.push(value === null ? null : values[at]!(value));
      }
      if (has_place) {
        const [, , wkb, xmin, ymin, xmax, ymax] = row;
        bytes += wkb === null ? 0 : (wkb as string).length / 2;
        made.push(wkb === null ? null : Buffer.from(wkb as string, "hex"));
        made.push(xmin === null ? null : { xmin, ymin, xmax, ymax });
      }
      return [made, bytes + 24 * values.length];
    },
  };
}

const edges = ["xmin", "ymin", "xmax", "ymax"] as const;

function edgeElement(name: string): SchemaElement {
  return { name, type: "DOUBLE", repetition_type: "REQUIRED" };
}

function elementOf(type: LayerColumn["type"], pg_type: string): [SchemaElement["type"], Partial<SchemaElement>] {
  switch (type) {
    case "integer":
      return [pg_type === "integer" ? "INT32" : "INT64", {}];
    case "number":
      return ["DOUBLE", {}];
    case "boolean":
      return ["BOOLEAN", {}];
    case "date":
      return ["INT32", { converted_type: "DATE", logical_type: { type: "DATE" } }];
    case "datetime":
      return ["INT64", { logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" } }];
    case "json":
      return ["BYTE_ARRAY", { logical_type: { type: "JSON" } }];
    default:
      return ["BYTE_ARRAY", { converted_type: "UTF8", logical_type: { type: "STRING" } }];
  }
}

/** From what the page says to what the writer takes. */
function parquetValue({ type, pg_type }: LayerColumn): (value: string | number | boolean) => unknown {
  // A number that is no number comes as its name.
  if (type === "number") return Number;
  if (type === "datetime" || (type === "integer" && pg_type !== "integer")) return BigInt;
  if (type === "json") return (value) => Buffer.from(String(value));
  return (value) => value;
}
