// Reads GeoParquet: layers, CRS and types from its own words, and rows of row groups one after the other. WKB goes on as it is; the
// database looks at it.
import { open } from "node:fs/promises";
import {
  type AsyncBuffer,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
} from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { Permanent } from "../../../core/errors/errors.js";
import type { FieldKind, SourceField, SourceLayer } from "../../../geo/vector.js";
import { batch_limits, type RejectedRow, type RowBatch, type RowSource } from "./rows.js";

interface GeoColumn {
  encoding?: string;
  crs?: { id?: { authority?: string; code?: string | number } } | null;
  geometry_types?: string[];
}

interface ParquetFile {
  buffer: AsyncBuffer;
  metadata: FileMetaData;
  geometry: string | null;
  column: GeoColumn | null;
  fields: SourceField[];
  close(): Promise<void>;
}

export async function parquetLayer(file: string, name: string): Promise<SourceLayer> {
  const parquet = await openParquet(file);
  try {
    const { column, geometry, fields, metadata } = parquet;
    return {
      name,
      has_geometry: geometry !== null,
      declared_type: column?.geometry_types?.join(", ") ?? "None",
      feature_count: Number(metadata.num_rows),
      ...crsOf(column),
      fields,
    };
  } finally {
    await parquet.close();
  }
}

/** No `crs` at all means longitude and latitude; `null` means that nobody knows. */
function crsOf(column: GeoColumn | null): Pick<SourceLayer, "crs" | "wkt"> {
  if (column === null || column.crs === null) return { crs: null, wkt: null };
  const { authority, code } = column.crs?.id ?? { authority: "OGC", code: "CRS84" };
  if (authority === undefined || code === undefined) return { crs: null, wkt: "unknown" };
  const text = `${authority}:${code}`.toUpperCase();
  return { crs: text === "OGC:CRS84" ? "EPSG:4326" : text, wkt: null };
}

export async function openParquetRows(file: string, from: number, most: number): Promise<RowSource> {
  const parquet = await openParquet(file);
  return {
    has_geometry: parquet.geometry !== null,
    column_count: parquet.fields.length,
    batches: async function* () {
      try {
        yield* batches(parquet, from, from + most);
      } finally {
        await parquet.close();
      }
    },
  };
}

async function* batches(parquet: ParquetFile, from: number, until: number): AsyncGenerator<RowBatch> {
  const { geometry, fields, buffer, metadata } = parquet;
  // Wide or heavy rows in smaller batches: a row group's columns are unpacked at once.
  const step = Math.max(1000, Math.min(batch_limits.rows, Math.floor(1_000_000 / (fields.length + 1))));
  for (let start = from; start < until; start += step) {
    const end = Math.min(until, start + step);
    const columns = [...fields.map(({ name }) => name), ...(geometry === null ? [] : [geometry])];
    const read = await parquetReadObjects({
      file: buffer,
      metadata,
      compressors,
      columns,
      rowStart: start,
      rowEnd: end,
      geoparquet: false,
      utf8: false,
    });
    const rejects: RejectedRow[] = [];
    const rows = read.flatMap((row, at) => {
      const n = start + at + 1;
      try {
        const place = geometry === null ? [] : [hex(row[geometry])];
        return [[n, ...place, ...fields.map(({ name, kind }) => text(row[name], kind))]];
      } catch (error) {
        rejects.push({
          n,
          code: "bad_value",
          reason: error instanceof Error ? error.message : String(error),
          properties: {},
        });
        return [];
      }
    });
    yield { rows, count: rows.length, rejects, next: end + 1 };
  }
}

function hex(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  throw new Error("has a geometry that is not WKB");
}

function text(value: unknown, kind: FieldKind): string | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return kind === "date" ? value.toISOString().slice(0, 10) : value.toISOString();
  if (kind === "json") return JSON.stringify(value, (_, one) => (typeof one === "bigint" ? Number(one) : one));
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  const plain = String(value);
  if (plain.includes("\0") || !plain.isWellFormed()) throw new Error("has text that cannot be stored");
  return plain;
}

async function openParquet(file: string): Promise<ParquetFile> {
  const handle = await open(file);
  const { size } = await handle.stat();
  const buffer: AsyncBuffer = {
    byteLength: size,
    slice: async (start, end = size) => {
      const length = Math.max(0, end - start);
      const bytes = Buffer.alloc(length);
      await handle.read(bytes, 0, length, start);
      return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + length) as ArrayBuffer;
    },
  };
  try {
    const metadata = await parquetMetadataAsync(buffer, { geoparquet: false });
    const geo = metadata.key_value_metadata?.find(({ key }) => key === "geo")?.value;
    const told =
      geo === undefined ? null : (JSON.parse(geo) as { primary_column: string; columns: Record<string, GeoColumn> });
    const geometry = told?.primary_column ?? null;
    const column = geometry === null ? null : (told?.columns[geometry] ?? null);
    if (column !== null && column.encoding !== "WKB") {
      throw new Permanent(
        `its geometries are ${column.encoding}, and only WKB can be read: write it as GeoParquet with encoding WKB`,
        {
          code: "parquet_encoding",
        },
      );
    }
    const others = new Set(Object.keys(told?.columns ?? {}));
    const fields = parquetSchema(metadata).children.flatMap((child) => {
      const { element } = child;
      return others.has(element.name) || isCovering(element.name, child.children.length)
        ? []
        : [{ name: element.name, kind: kindOf(child) }];
    });
    return { buffer, metadata, geometry, column, fields, close: () => handle.close() };
  } catch (error) {
    await handle.close();
    if (error instanceof Permanent) throw error;
    throw new Permanent(`the file cannot be read as GeoParquet: ${reasonOf(error)}`, {
      code: "parquet_broken",
      cause: error,
    });
  }
}

/** The library reads what a file says of itself without looking at it first: what it meets then is JavaScript's own. */
function reasonOf(error: unknown): string {
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError)
    return "what it says of itself is broken";
  return (error instanceof Error ? error.message : String(error)).slice(0, 200);
}

/** The boxes beside geometries are no property of a feature. */
function isCovering(name: string, children: number): boolean {
  return children >= 4 && /bbox$/.test(name);
}

type SchemaChild = ReturnType<typeof parquetSchema>["children"][number];

function kindOf({ element, children }: SchemaChild): FieldKind {
  if (children.length > 0 || element.repetition_type === "REPEATED") return "json";
  const logical = element.logical_type?.type ?? element.converted_type;
  if (logical === "DATE") return "date";
  if (
    logical === "TIMESTAMP" ||
    logical === "TIMESTAMP_MILLIS" ||
    logical === "TIMESTAMP_MICROS" ||
    element.type === "INT96"
  )
    return "datetime";
  if (logical === "JSON") return "json";
  if (logical === "DECIMAL") return "number";
  if (logical === "UINT_64" || logical === "UINT_32") return logical === "UINT_32" ? "bigint" : "text";
  if (element.type === "BOOLEAN") return "boolean";
  if (element.type === "INT32") return "integer";
  if (element.type === "INT64") return "bigint";
  return element.type === "FLOAT" || element.type === "DOUBLE" ? "number" : "text";
}
