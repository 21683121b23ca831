// Reads layers, and tables that become one, for tasks that work on a range of keys each.
import { Permanent } from "../../core/errors/errors.js";
import type { TaskContext } from "../../core/task/context.js";
import type { LayerColumn } from "../../geo/vector.js";

export interface LayerParts {
  table: string;
  version: number;
  columns: LayerColumn[];
  geometry_type: string | null;
  feature_count: number;
  parts: { from: number; to: number; count: number }[];
}

/** The layer as it is now; what it is later does not matter to tasks that read its table by name. */
export async function layerParts(ctx: TaskContext, layer: string, features_each: number): Promise<LayerParts> {
  const [row] = await ctx.db(
    (session) => session.sql<{ found: LayerParts | null }>`
      select geo.layer_parts(${layer}::text, ${features_each}::integer) as found`,
  );
  if (row?.found) return row.found;
  throw new Permanent(`there is no layer ${layer}: make it first, or name another`, { code: "no_such_layer" });
}

export interface RowRange {
  table: string;
  columns: readonly string[];
  /** x and y of a point that stands for the feature come before the columns. */
  has_place: boolean;
  from: number;
  to: number;
}

/** A list for each row: its key, then what was asked for. */
export async function readRows(
  ctx: TaskContext,
  { table, columns, has_place, from, to }: RowRange,
): Promise<unknown[][]> {
  const rows = await ctx.db(
    (session) => session.sql<{ row: string }>`
      select geo.read_rows(${table}::text, ${JSON.stringify(columns)}::text::jsonb, ${has_place}::boolean, ${from}::bigint, ${to}::bigint) as row`,
  );
  return rows.map(({ row }) => JSON.parse(row) as unknown[]);
}
