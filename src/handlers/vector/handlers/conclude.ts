// vector.conclude: the last task of a vector job: what was made, or in a dry run would be, in one answer; the STAC collection's extent.
import { defineHandler } from "../../../core/declare/declare.js";
import type { TaskContext } from "../../../core/task/context.js";
import { catalogOf } from "../../stac/catalog_of.js";
import type { LoadPlan, PublishedLayer } from "../facts.js";
import { vector_parameters } from "../settings.js";
import type { PublishResult } from "./publish.js";

interface ServedLayer extends PublishedLayer {
  version: number | null;
  links: { features: string; tiles: string };
}

export const vectorConclude = defineHandler(
  "vector.conclude",
  { parameters: vector_parameters },
  async (given, ctx) => {
    const plan = await ctx.previous("plan").one<LoadPlan>();
    const told = { findings: plan.findings, renamed: plan.renamed };
    if (given.dry_run) {
      const layers = plan.targets.map(({ table: _, ...target }) => target);
      return { dry_run: true, layers, ...told };
    }
    const published: PublishedLayer[] = [];
    for await (const { result } of ctx.previous("publish")) published.push(...(result as PublishResult).layers);
    const versions = await versionsOf(ctx, published);
    if (given.register && published.length > 0) {
      const catalog = await catalogOf(ctx);
      await ctx.db((session) => catalog.refreshCollection(session, given.collection));
    }
    const layers = published.map((layer): ServedLayer => {
      const path = `/ogc/collections/${layer.layer}`;
      const now = versions.get(layer.layer);
      return {
        ...layer,
        feature_count: now?.feature_count ?? layer.feature_count,
        version: now?.version ?? null,
        links: { features: `${path}/items`, tiles: `${path}/tiles` },
      };
    });
    return { dry_run: false, layers, links: linksOf(layers), ...told };
  },
);

/** Where to look at what was made; of several layers, the list they are in. */
function linksOf(layers: readonly ServedLayer[]): Record<string, string> {
  const [only, ...others] = layers;
  if (only === undefined) return {};
  if (others.length > 0) return { ogc_collections: "/ogc/collections" };
  const { features, tiles } = only.links;
  return { ogc_features: features, ogc_tiles: tiles };
}

async function versionsOf(ctx: TaskContext, layers: readonly PublishedLayer[]) {
  const names = JSON.stringify(layers.map(({ layer }) => layer));
  const rows = await ctx.db(
    (session) => session.sql<{ name: string; version: number; feature_count: number }>`
      select name, version::float8 as version, feature_count::float8 as feature_count from geo.layers
       where tenant_id = ${ctx.tenant_id} and name = any (array(select json_array_elements_text(${names}::text::json)))`,
  );
  return new Map(rows.map((row) => [row.name, row]));
}
