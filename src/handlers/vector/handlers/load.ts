// vector.load: the rows of one part of a source into the table of its layer-to-be. In bursts: raw rows are copied into a stage of this
// attempt, and the database takes them from there, cleaned. A burst that an earlier attempt got through is not loaded again.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import { Permanent } from "../../../core/errors/errors.js";
import type { TaskContext } from "../../../core/task/context.js";
import type { ChunkFacts, LoadedPart, LoadPart } from "../facts.js";
import { ogrFor } from "../gdal/ogr_choice.js";
import { source_fields, vector_memory_mb, vector_module } from "../settings.js";
import { openVector, type VectorSource } from "../source/open_source.js";
import { openParquetRows } from "../source/parquet_rows.js";
import { openPgdump } from "../source/pgdump_rows.js";
import type { RowBatch, RowSource } from "../source/rows.js";

/** Planned by us: only what names files is looked at again. */
const parameters = z.looseObject({
  load: z.looseObject({ source: z.string(), table: z.string() }),
  wishes: z.object(source_fields),
  keeps_null: z.boolean(),
});

const chunks_of_a_part = 100_000;

export const vectorLoad = defineHandler(
  "vector.load",
  {
    parameters,
    isolation: "process",
    module: vector_module,
    memory_mb: vector_memory_mb,
    database: true,
    timeout_s: 4 * 3600,
  },
  async ({ load, wishes, keeps_null }, ctx): Promise<LoadedPart> => {
    const part = load as unknown as LoadPart;
    const { encoding, x_column: x, y_column: y, wkt_column: wkt } = wishes;
    const opened = await openVector(ctx, part.source, { encoding, x, y, wkt });
    if (opened.sha256 !== part.sha256) {
      throw new Permanent(
        `${part.source} is not the file that was inspected: it has changed since. Submit the job again`,
        {
          code: "source_changed",
        },
      );
    }
    const rows = await rowsOf(ctx, opened, part);
    const loaded: LoadedPart = { table: part.table, part: part.part, chunks: [], row_count: 0, rejected_count: 0 };
    let seen = 0;
    for await (const batch of rows.batches()) {
      if (rows.column_count !== part.field_count) throw fieldsDiffer(part, rows.column_count);
      ctx.signal.throwIfAborted();
      const chunk = part.part * chunks_of_a_part + loaded.chunks.length;
      const facts = await loadBatch(ctx, part, rows, batch, chunk, keeps_null);
      loaded.chunks.push(chunk);
      loaded.row_count += facts.row_count ?? 0;
      loaded.rejected_count += facts.rejected_count ?? 0;
      seen += batch.count + batch.rejects.length;
      if (part.expected !== null) ctx.progress({ done: seen, total: Math.max(seen, part.expected) });
    }
    if (part.expected !== null && seen !== part.expected) {
      throw new Permanent(
        `${part.source} was said to have ${part.expected} features there, and ${seen} could be read: it is broken`,
        {
          code: "count_differs",
        },
      );
    }
    return loaded;
  },
);

async function rowsOf(ctx: TaskContext, opened: VectorSource, part: LoadPart): Promise<RowSource> {
  if (opened.format === "geoparquet") {
    const rows = await openParquetRows(opened.path, part.from ?? 0, part.most ?? part.expected ?? 0);
    return part.first === (part.from ?? 0) + 1 ? rows : renumbered(rows, part.first - (part.from ?? 0) - 1);
  }
  const engine = await ogrFor(ctx.raster);
  const dump = join(await ctx.scratch(), `rows-${part.part}.sql`);
  await rm(dump, { force: true });
  const wanted = {
    layer: part.source_layer,
    from: part.from,
    most: part.most,
    target_crs: part.gdal_target ?? undefined,
  };
  await engine.dump(opened, wanted, dump, ctx.signal);
  return openPgdump(dump, part.first);
}

/** Rows of a second source go on behind those of the first. */
function renumbered(rows: RowSource, by: number): RowSource {
  return {
    ...rows,
    batches: async function* () {
      for await (const batch of rows.batches()) {
        const moved = batch.rows.map((row) => (Array.isArray(row) ? [(row[0] as number) + by, ...row.slice(1)] : row));
        yield { ...batch, rows: moved, rejects: batch.rejects.map((row) => ({ ...row, n: row.n + by })) };
      }
    },
  };
}

async function loadBatch(
  ctx: TaskContext,
  part: LoadPart,
  rows: RowSource,
  batch: RowBatch,
  chunk: number,
  keeps_null: boolean,
): Promise<ChunkFacts> {
  const [row] = await ctx.db(async (session) => {
    const known = await session.sql<{ facts: ChunkFacts | null }>`
      select geo.loaded_chunk(${part.table}::text, ${chunk}::integer) as facts`;
    return known;
  });
  if (row?.facts) return row.facts;
  const [made] = await ctx.db(
    (session) => session.sql<{ stage: string }>`
      select geo.make_stage(${part.table}::text, ${rows.column_count}::integer) as stage`,
  );
  const stage = made!.stage;
  const values = Array.from({ length: rows.column_count }, (_, at) => `c${at + 1}`);
  await ctx.copy(`geo.${stage}`, ["n", ...(rows.has_geometry ? ["g"] : []), ...values], batch.rows);
  const request = {
    chunk,
    source: `${part.source}#${part.source_layer}`,
    columns: part.columns.map(({ name, pg_type, kind, source_name, at }) => ({ name, pg_type, kind, source_name, at })),
    source_srid: part.gdal_target === null ? part.source_srid : Number(part.gdal_target.slice(5)),
    keeps_null: keeps_null || !part.has_geometry,
    rejects: batch.rejects,
  };
  const [taken] = await ctx.db(
    (session) => session.sql<{ facts: ChunkFacts }>`
      select geo.take_stage(${stage}::text, ${JSON.stringify(request)}::text::jsonb) as facts`,
  );
  return taken!.facts;
}

function fieldsDiffer({ source, field_count }: LoadPart, found: number): Permanent {
  return new Permanent(
    `${source} has rows of ${found} values for the ${field_count} fields it names: its field names cannot be used`,
    {
      code: "fields_differ",
    },
  );
}
