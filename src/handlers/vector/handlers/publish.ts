// vector.publish: a loaded table becomes its layer. Indexes and counts first, while nobody sees it; then, in the transaction that ends this
// task: the catalogue's row, its version, and the STAC item. Readers have the layer as it was until that commits.
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import { Permanent } from "../../../core/errors/errors.js";
import type { TaskContext } from "../../../core/task/context.js";
import { layerName } from "../../../geo/column_names.js";
import { pyramid_caps, tile_buffer, tile_extent } from "../../../geo/layers/tile_caps.js";
import { catalogOf } from "../../stac/catalog_of.js";
import { makeCollection } from "../../stac/make_collection.js";
import type { ChunkFacts, LoadedPart, PublishedLayer, Target } from "../facts.js";
import { layerItem } from "../layer_item.js";
import { type VectorParameters, vector_parameters } from "../settings.js";

const parameters = z.looseObject({
  target: z.looseObject({ layer: z.string(), table: z.string() }),
  settings: vector_parameters,
});

interface Sealed extends ChunkFacts {
  extent: number[] | null;
}

export interface PublishResult {
  layers: PublishedLayer[];
}

export const vectorPublish = defineHandler(
  "vector.publish",
  { parameters, timeout_s: 4 * 3600 },
  async (given, ctx) => {
    const { settings } = given;
    const target = given.target as unknown as Target;
    const chunks: number[] = [];
    for await (const { result } of ctx.previous("load")) {
      const part = result as LoadedPart;
      if (part.table === target.table) chunks.push(...part.chunks);
    }
    const sealed = await sealedTable(ctx, target, chunks);
    refuseRejects(target, sealed, settings);
    if (settings.register) {
      const { collection, license } = settings;
      await makeCollection(ctx, { collection, license, title: undefined, description: undefined });
    }
    const split = target.split_by === null ? null : await splitTables(ctx, target);
    if (split === null) return { layers: [await publishOne(ctx, target, sealed, settings)] } satisfies PublishResult;
    const layers: PublishedLayer[] = [];
    for (const part of split)
      layers.push(await publishOne(ctx, { ...target, ...part.target }, { ...sealed, ...part.facts }, settings));
    return { layers } satisfies PublishResult;
  },
);

async function sealedTable(ctx: TaskContext, target: Target, chunks: readonly number[]): Promise<Sealed> {
  const indexes = [...new Set([...target.indexes, ...(target.time_column === null ? [] : [target.time_column])])];
  const [row] = await ctx.db(
    (session) => session.sql<{ sealed: Sealed }>`
      select geo.seal_candidate(
        ${target.table}::text, ${JSON.stringify(chunks)}::text::jsonb, ${JSON.stringify(indexes)}::text::jsonb) as sealed`,
  );
  return row!.sealed;
}

/** Too many is a wrong file or a wrong setting: then the layer stays as it was, and the rejects say why. */
function refuseRejects(
  { layer }: Target,
  { row_count = 0, rejected_count = 0, codes = {} }: Sealed,
  given: VectorParameters,
): void {
  const total = row_count + rejected_count;
  const percent = total === 0 ? 0 : (100 * rejected_count) / total;
  if (percent <= given.max_rejected_percent || rejected_count <= (given.max_rejected ?? 0)) return;
  const list = Object.entries(codes)
    .sort((a, b) => b[1] - a[1])
    .map(([code, count]) => `${code} ${count}`)
    .join(", ");
  throw new Permanent(
    `${rejected_count} of ${total} features of layer ${layer} were rejected (${list}), more than ${given.max_rejected_percent} %: ` +
      "geo.rejects has each with its reason; mend the source, or give max_rejected_percent",
    { code: "too_many_rejects" },
  );
}

interface SplitTable {
  target: Pick<Target, "layer" | "table">;
  facts: Sealed;
}

async function splitTables(ctx: TaskContext, target: Target): Promise<SplitTable[]> {
  const [row] = await ctx.db(
    (session) => session.sql<{ parts: { value: string | null; table: string; facts: Sealed }[] }>`
      select geo.split_candidate(${target.table}::text, ${target.split_by}::text, ${JSON.stringify(target.indexes)}::text::jsonb) as parts`,
  );
  const taken = new Set<string>();
  return row!.parts.map(({ value, table, facts }) => {
    const wanted = `${target.layer}_${layerName(value ?? "none") || "other"}`.slice(0, 120);
    let layer = wanted;
    for (let number = 2; taken.has(layer); number++) layer = `${wanted.slice(0, 115)}_${number}`;
    taken.add(layer);
    return { target: { layer, table }, facts };
  });
}

async function publishOne(
  ctx: TaskContext,
  target: Target,
  sealed: Sealed,
  given: VectorParameters,
): Promise<PublishedLayer> {
  const { row_count = 0, rejected_count = 0, extent } = sealed;
  const geometry_type = target.has_geometry ? commonType(sealed.types ?? {}) : null;
  const { layer } = target;
  const item = given.register ? { collection: given.collection, item_id: layer } : null;
  const request = {
    mode: given.mode,
    key: target.key,
    title: target.title,
    description: given.description ?? null,
    columns: target.columns,
    ...(geometry_type === null ? {} : { geometry_type }),
    time_column: target.time_column,
    styles: given.styles ?? null,
    source: { files: target.sources },
    release: given.release ?? null,
    item_id: item?.item_id ?? null,
    collection: item?.collection ?? null,
    row_count,
    extent,
    rejected_count,
  };
  const before = await layerBefore(ctx, layer, given.mode);
  if (before === null) await makePyramid(ctx, target, row_count);
  await ctx.db(
    (session) => session.sql`
      select geo.publish_layer(${target.table}::text, ${layer}::text, ${JSON.stringify(request)}::text::jsonb)`,
    { with_finish: true },
  );
  if (item !== null) {
    const catalog = await catalogOf(ctx);
    const writer = await ctx.db((session) => catalog.prepare(session, item.collection));
    const made = layerItem({
      id: layer,
      collection: item.collection,
      target: { ...target, columns: before?.columns ?? target.columns },
      description: given.description,
      extent: before === null ? extent : joined(before.extent, extent),
      // Rows may be added to a layer at any moment: only the service knows how many it has.
      feature_count: before === null ? row_count : null,
      datetime: given.datetime === undefined ? new Date().toISOString() : new Date(given.datetime).toISOString(),
      job_id: ctx.job_id,
    });
    await ctx.db((session) => writer.put(session, [made]), { with_finish: true });
  }
  ctx.deliver({ name: "layer", count: 1, location: `/ogc/collections/${layer}` });
  return {
    layer,
    feature_count: row_count,
    rejected_count,
    rejects: sealed.codes ?? {},
    mended: sealed.mended ?? {},
    geometry_type,
    srid: target.srid,
    extent,
    columns: target.columns,
    item,
  };
}

/** A layer whose low zooms take longer than this is served without them. */
const pyramid_timeout_ms = 5 * 60_000;

/**
 * The low zooms of a layer that has more than a tile takes. Before anybody sees it, so that tiles of a version are the same from its first
 * moment. A layer for which they cannot be made is published all the same: its tiles are made when they are asked for.
 */
async function makePyramid(ctx: TaskContext, { table, layer, has_geometry, columns }: Target, rows: number) {
  if (!has_geometry || rows <= pyramid_caps[0]!.most_features) return;
  const request = { layer, columns, zooms: pyramid_caps, extent: tile_extent, buffer: tile_buffer };
  const made = await ctx.db(async (session) => {
    await session.sql`select set_config('statement_timeout', ${String(pyramid_timeout_ms)}, true)`;
    const [row] = await session.sql<{ made: { why?: string } }>`
      select geo.make_pyramid(${table}::text, ${JSON.stringify(request)}::text::jsonb) as made`;
    return row!.made;
  });
  // The database tells a cancelled statement as one more reason; what was asked of this task is known here.
  ctx.signal.throwIfAborted();
  if (made.why !== undefined) ctx.log.warn(`low zooms of layer ${layer} were not made: ${made.why}`);
}

/** The layer that rows are added to; null where this load is all of it. */
async function layerBefore(ctx: TaskContext, layer: string, mode: VectorParameters["mode"]) {
  if (mode !== "append" && mode !== "upsert") return null;
  const [row] = await ctx.db(
    (session) => session.sql<{ columns: Target["columns"]; extent: number[] | null }>`
      select l.columns, l.extent from geo.layers l where l.tenant_id = ${ctx.tenant_id}::text and l.name = ${layer}::text`,
  );
  return row ?? null;
}

function joined(one: number[] | null, other: number[] | null): number[] | null {
  if (one === null || other === null) return one ?? other;
  return one.map((edge, place) => (place < 2 ? Math.min : Math.max)(edge, other[place]!));
}

/** The one type that all features have, or Geometry. */
function commonType(types: Readonly<Record<string, number>>): string {
  const names = Object.keys(types);
  return names.length === 1 ? names[0]! : "Geometry";
}
