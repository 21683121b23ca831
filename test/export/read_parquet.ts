// Reads a Parquet file as hyparquet does, which did not write it: rows, schema, and what the key `geo` says.
import { readFileSync } from "node:fs";
import { type FileMetaData, parquetMetadata, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";

export interface ReadParquet {
  metadata: FileMetaData;
  rows: Record<string, unknown>[];
  geo: GeoKey | null;
}

export interface GeoKey {
  version: string;
  primary_column: string;
  columns: Record<
    string,
    { encoding: string; geometry_types: string[]; bbox: number[]; crs?: unknown; covering: Record<string, unknown> }
  >;
}

export async function readParquet(path: string): Promise<ReadParquet> {
  const bytes = readFileSync(path);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  const metadata = parquetMetadata(file, { geoparquet: false } as never);
  const rows = await parquetReadObjects({ file, metadata, compressors, geoparquet: false });
  const told = metadata.key_value_metadata?.find(({ key }) => key === "geo")?.value;
  return { metadata, rows, geo: told === undefined ? null : (JSON.parse(told) as GeoKey) };
}
