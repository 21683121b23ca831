// vector.remove: layers out of the catalogue, with their STAC items, in the transaction that ends this task; in a dry run only told. Running
// it again finds nothing left and says so.
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import { catalogOf } from "../../stac/catalog_of.js";
import { requireGeo } from "../geo_schema.js";
import { layer_name } from "../settings.js";

export const removal_fields = {
  layers: z.array(layer_name).min(1).max(500).optional().describe("these layers, by name"),
  job_id: z
    .string()
    .regex(/^[0-9a-f]{64}$/, "is not a whole job id: 64 characters of 0-9 and a-f")
    .optional()
    .describe("the layers whose present version this job made"),
  dry_run: z.boolean().default(true).describe("only say what would be removed"),
  reason: z.string().max(1000).optional().describe("why, for the record"),
};

interface Found {
  name: string;
  version: number;
  feature_count: number;
  item_id: string | null;
  collection: string | null;
}

export const vectorRemove = defineHandler(
  "vector.remove",
  { parameters: z.object(removal_fields) },
  async (given, ctx) => {
    await requireGeo(ctx);
    const names = JSON.stringify(given.layers ?? []);
    const found = await ctx.db(
      (session) => session.sql<Found>`
      select name, version::float8 as version, feature_count::float8 as feature_count, item_id, collection from geo.layers
       where tenant_id = ${ctx.tenant_id}
         and (name = any (array(select json_array_elements_text(${names}::text::json))) or job_id = ${given.job_id ?? null}::text)
       order by name limit 1000`,
    );
    const missing = (given.layers ?? []).filter((name) => !found.some((layer) => layer.name === name));
    const layers = found.map(({ name, version, feature_count }) => ({ layer: name, version, feature_count }));
    if (given.dry_run) return { dry_run: true, layers, missing };
    const items = found.filter(({ item_id, collection }) => item_id !== null && collection !== null);
    const catalog = items.length === 0 ? null : await catalogOf(ctx);
    for (const { name, version } of found) {
      await ctx.db((session) => session.sql`select geo.unpublish_layer(${name}::text, ${version}::bigint)`, {
        with_finish: true,
      });
    }
    for (const { collection, item_id } of items) {
      await ctx.db((session) => catalog!.deleteItems(session as never, collection!, [item_id!]), { with_finish: true });
    }
    return { dry_run: false, layers, missing };
  },
);
