// GeoParquet by DuckDB, where that is installed: a third of the processor time of many rows, and zstd with any Node. Rows go into a text file first,
// which DuckDB reads as a stream; what is in it, and what the file says of itself, is the same as without.
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { TaskContext } from "../../../core/task/context.js";
import type { LayerColumn } from "../../../geo/vector.js";
import type { Snapshot } from "../facts.js";
import { first_column, type Scalar, snapshotPages } from "../snapshot_rows.js";

type Duckdb = typeof import("@duckdb/node-api");

/** Of fewer rows it would be started for longer than it works. */
export const least_duckdb_rows = 50_000;
/** About so much of values is in a row group. */
const group_bytes = 96 * 2 ** 20;

/** null: it is not installed. */
export async function installedDuckdb(): Promise<Duckdb | null> {
  return import("@duckdb/node-api").catch(() => null);
}

export interface DuckdbLayout {
  geometry: string;
  box: string;
  compression: string;
  row_group_rows: number;
  /** What the file says of its geometries; null: it has none. */
  geo: object | null;
}

/** Writes `file`; gives the version that wrote it. */
export async function writeByDuckdb(
  duckdb: Duckdb,
  ctx: TaskContext,
  snapshot: Snapshot,
  file: string,
  layout: DuckdbLayout,
): Promise<string> {
  const folder = await ctx.scratch();
  const rows = join(folder, `${snapshot.name}.rows.csv`);
  try {
    const { longest, bytes } = await spool(ctx, snapshot, rows, layout.geo !== null);
    const instance = await duckdb.DuckDBInstance.create(":memory:", { threads: "1", memory_limit: "512MB" });
    const connection = await instance.connect();
    try {
      const group_rows = Math.max(
        1000,
        Math.min(layout.row_group_rows, Math.floor(group_bytes / (bytes / snapshot.row_count))),
      );
      for (const statement of [
        `set temp_directory = ${text(join(folder, "duckdb"))}`,
        `set allowed_directories = [${text(`${folder}/`)}]`,
        "set enable_external_access = false",
        "set autoinstall_known_extensions = false",
        "set preserve_insertion_order = true",
        // Moments are in UTC, wherever this machine is.
        "set TimeZone = 'UTC'",
      ]) {
        await connection.run(statement);
      }
      await connection.run(copyStatement(snapshot, rows, file, layout, { longest, group_rows }));
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
    return duckdb.version().replace(/^v/, "");
  } finally {
    await rm(rows, { force: true });
  }
}

/** One line for each row; what is nothing has no quotes. */
async function spool(ctx: TaskContext, snapshot: Snapshot, file: string, has_place: boolean) {
  const handle = await open(file, "wx");
  let [longest, bytes] = [0, 0];
  try {
    for await (const page of snapshotPages(ctx, snapshot, has_place ? "wkb" : "none")) {
      const lines = page.map(([, key, ...rest]) => {
        const values = [key, ...(has_place ? rest.slice(0, 5) : []), ...rest.slice(first_column - 2)] as Scalar[];
        const line = `${values.map(field).join(",")}\n`;
        longest = Math.max(longest, line.length * 3);
        bytes += line.length;
        return line;
      });
      await handle.writeFile(lines.join(""));
      ctx.progress({ done: page.at(-1)![0], total: snapshot.row_count, message: "GeoParquet" });
    }
  } finally {
    await handle.close();
  }
  return { longest, bytes };
}

function field(value: Scalar): string {
  if (value === null) return "";
  return typeof value === "string" ? `"${value.replaceAll('"', '""')}"` : String(value);
}

function copyStatement(
  { columns }: Snapshot,
  rows: string,
  file: string,
  { geometry, box, compression, row_group_rows: _, geo }: DuckdbLayout,
  { longest, group_rows }: { longest: number; group_rows: number },
): string {
  const edges = ["xmin", "ymin", "xmax", "ymax"];
  const read = ["key", ...(geo === null ? [] : ["wkb", ...edges]), ...columns.map((_column, at) => `c${at}`)];
  const place = [
    `from_hex(wkb) as ${name(geometry)}`,
    `case when xmin is null then null else struct_pack(${edges.map((edge) => `${edge} := ${edge}::double`).join(", ")}) end as ${name(box)}`,
  ];
  const chosen = [
    "key::bigint as fid",
    ...columns.map((column, at) => `${castOf(column, `c${at}`)} as ${name(column.name)}`),
    ...(geo === null ? [] : place),
  ];
  const source = [
    text(rows),
    `columns = {${read.map((one) => `${one}: 'varchar'`).join(", ")}}`,
    "auto_detect = false, header = false, delim = ',', quote = '\"', escape = '\"', nullstr = '', allow_quoted_nulls = false",
    `new_line = '\\n', parallel = false, max_line_size = ${Math.max(2_097_152, longest + 1000)}`,
  ];
  const options = [
    "format parquet",
    `compression ${compression}`,
    `row_group_size ${group_rows}`,
    ...(geo === null ? [] : [`kv_metadata {geo: ${text(JSON.stringify(geo))}}`]),
  ];
  return `copy (select ${chosen.join(", ")} from read_csv(${source.join(", ")})) to ${text(file)} (${options.join(", ")})`;
}

/** From what the page says to what the other writer writes. */
function castOf({ type, pg_type }: LayerColumn, column: string): string {
  if (type === "integer") return `${column}::${pg_type === "integer" ? "integer" : "bigint"}`;
  if (type === "number") return `${column}::double`;
  if (type === "boolean") return `${column}::boolean`;
  if (type === "date") return `(date '1970-01-01' + ${column}::integer)::date`;
  if (type === "datetime") return `make_timestamp(${column}::bigint)::timestamptz`;
  if (type === "json") return `${column}::json`;
  return column;
}

function text(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

function name(value: string): string {
  return `"${value.replaceAll('"', '""')}"`;
}
