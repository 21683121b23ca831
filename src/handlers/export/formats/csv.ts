// A snapshot as lines of CSV, for people (geometries as WKT, true and false) or for GDAL (geometries as hexadecimal WKB, 1 and 0, with a
// file of types beside it, because CSV has none). Written page after page.
import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TaskContext } from "../../../core/task/context.js";
import type { LayerColumn } from "../../../geo/vector.js";
import type { MadeFile, Snapshot } from "../facts.js";
import { first_column, type Scalar, snapshotPages } from "../snapshot_rows.js";

export const gdal_geometry = "fanfold_geometry";

export async function writeCsv(ctx: TaskContext, snapshot: Snapshot): Promise<MadeFile> {
  const file = join(await ctx.scratch(), `${snapshot.name}.csv`);
  const taken = new Set(snapshot.columns.map(({ name }) => name.toLowerCase()));
  const free = (name: string): string => (taken.has(name) ? free(`${name}_`) : name);
  await writeLines(ctx, snapshot, { file, geometry: "wkt", geometry_name: free("wkt"), yes: "true", no: "false" });
  return { file, media_type: "text/csv", writer: { name: "fanfold", version: "csv" } };
}

/** With its .csvt. */
export async function writeGdalCsv(ctx: TaskContext, snapshot: Snapshot): Promise<string> {
  const file = join(await ctx.scratch(), "rows.csv");
  await writeLines(ctx, snapshot, { file, geometry: "wkb", geometry_name: gdal_geometry, yes: "1", no: "0" });
  const types = ["Integer64", ...(snapshot.srid === null ? [] : ["WKT"]), ...snapshot.columns.map(gdalType)];
  await writeFile(`${file}t`, types.map((type) => `"${type}"`).join(","));
  return file;
}

interface CsvLayout {
  file: string;
  geometry: "wkt" | "wkb";
  geometry_name: string;
  yes: string;
  no: string;
}

async function writeLines(ctx: TaskContext, snapshot: Snapshot, layout: CsvLayout): Promise<void> {
  const { columns, srid, row_count } = snapshot;
  const has_place = srid !== null;
  const names = ["fid", ...(has_place ? [layout.geometry_name] : []), ...columns.map(({ name }) => name)];
  const handle = await open(layout.file, "w");
  try {
    await handle.write(`${names.map(quotedCell).join(",")}\n`);
    for await (const page of snapshotPages(ctx, snapshot, has_place ? layout.geometry : "none")) {
      const lines = page.map((row) => {
        const cells = [row[1]];
        if (has_place) cells.push(row[2] === null ? "" : `"${row[2] as string}"`);
        for (let at = 0; at < columns.length; at++) {
          cells.push(cellOf(row[first_column + at] as Scalar, columns[at]!, layout));
        }
        return cells.join(",");
      });
      await handle.writeFile(`${lines.join("\n")}\n`);
      ctx.progress({ done: page.at(-1)![0], total: row_count, message: "rows" });
    }
  } finally {
    await handle.close();
  }
}

function cellOf(value: Scalar, { type }: LayerColumn, { yes, no }: CsvLayout): string {
  if (value === null) return "";
  if (type === "boolean") return value ? yes : no;
  if (type === "date") return new Date(Number(value) * 86_400_000).toISOString().slice(0, 10);
  if (type === "datetime") return momentOf(BigInt(value));
  if (type === "integer" || type === "number") return String(value);
  return quotedCell(String(value));
}

/** With microseconds, where there are some. */
function momentOf(micros: bigint): string {
  const rest = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const whole = new Date(Number((micros - rest) / 1000n)).toISOString().slice(0, 19);
  return rest === 0n ? `${whole}Z` : `${whole}.${String(rest).padStart(6, "0")}Z`;
}

function quotedCell(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

function gdalType({ type, pg_type }: LayerColumn): string {
  if (type === "integer") return pg_type === "integer" ? "Integer" : "Integer64";
  if (type === "number") return "Real";
  if (type === "boolean") return "Integer(Boolean)";
  if (type === "date") return "Date";
  return type === "datetime" ? "DateTime" : "String";
}
