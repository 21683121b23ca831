// Makes the table of a layer-to-be, and writes what a task computed into it: one COPY, once, however often the task is begun.
import { Permanent } from "../../core/errors/errors.js";
import type { CopyLines, TaskContext } from "../../core/task/context.js";
import type { LayerColumn } from "../../geo/vector.js";
import type { ChunkFacts, LoadedPart, Target } from "../vector/facts.js";
import { type CellGeometry, geometry_types } from "./cell_lines.js";

export const cell_columns: readonly LayerColumn[] = [
  { name: "h3", type: "string", pg_type: "text", source_name: "h3" },
  { name: "resolution", type: "integer", pg_type: "integer", source_name: "resolution" },
];

/** What of a job's settings says which layer becomes of its cells. */
export interface WantedLayer {
  layer: string;
  title?: string | undefined;
  geometry: CellGeometry;
  indexes: string[];
}

export function cellTarget(
  { layer, title, geometry, indexes }: WantedLayer,
  more: { columns?: readonly LayerColumn[]; sources?: Target["sources"]; split_by?: string; expected?: number } = {},
): Target {
  const columns = [...cell_columns, ...(more.columns ?? [])];
  const has_geometry = geometry !== "none";
  const names = columns.map(({ name }) => name);
  const unknown = indexes.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    throw new Permanent(`indexes: there are no columns ${unknown.join(", ")}; the layer has ${names.join(", ")}`, {
      code: "no_such_column",
    });
  }
  return {
    layer,
    table: layer,
    title: title ?? null,
    srid: has_geometry ? 4326 : null,
    has_geometry,
    columns,
    indexes,
    key: [],
    time_column: null,
    split_by: more.split_by ?? null,
    expected: more.expected ?? null,
    sources: more.sources ?? [],
  };
}

/** The same for a second attempt. */
export async function makeTable(ctx: TaskContext, target: Omit<Target, "sources">): Promise<string> {
  const spec = {
    columns: target.columns.map(({ name, pg_type }) => ({ name, pg_type })),
    srid: target.srid,
    has_geometry: target.has_geometry,
  };
  const [row] = await ctx.db(
    (session) => session.sql<{ name: string }>`
      select geo.make_candidate(${ctx.job_id}::text, ${target.layer}::text, ${JSON.stringify(spec)}::text::jsonb) as name`,
  );
  return row!.name;
}

export interface NewRows {
  table: string;
  part: number;
  /** As cellLines writes them; `columns` are those behind key and geometry. */
  columns: readonly string[];
  geometry: CellGeometry;
  compute(): Promise<CopyLines[]>;
}

/** Asks first whether an earlier attempt wrote it, then computes without a connection, then writes. */
export async function loadRows(
  ctx: TaskContext,
  { table, part, columns, geometry, compute }: NewRows,
): Promise<LoadedPart> {
  const [known] = await ctx.db(
    (session) => session.sql<{ facts: ChunkFacts | null }>`
      select geo.loaded_chunk(${table}::text, ${part}::integer) as facts`,
  );
  const facts = known?.facts ?? (await write(ctx, { table, part, columns, geometry, lines: await compute() }));
  return { table, part, chunks: [part], row_count: facts.row_count ?? 0, rejected_count: 0 };
}

async function write(
  ctx: TaskContext,
  { table, part, columns, geometry, lines }: Omit<NewRows, "compute"> & { lines: CopyLines[] },
): Promise<ChunkFacts> {
  const [made] = await ctx.db(
    (session) => session.sql<{ stage: string }>`
      select geo.make_stage(${table}::text, ${columns.length}::integer) as stage`,
  );
  const { stage } = made!;
  const values = columns.map((_, at) => `c${at + 1}`);
  await ctx.copy(`geo.${stage}`, ["n", ...(geometry === "none" ? [] : ["g"]), ...values], lines);
  const request = {
    chunk: part,
    columns: columns.map((name, at) => ({ name, at: at + 1 })),
    geometry_type: geometry_types[geometry],
  };
  const [taken] = await ctx.db(
    (session) => session.sql<{ facts: ChunkFacts }>`
      select geo.take_cells(${stage}::text, ${JSON.stringify(request)}::text::jsonb) as facts`,
  );
  return taken!.facts;
}
