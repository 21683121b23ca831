// vector.plan: which layers are made of what was inspected, with which columns, and in which parts their rows are loaded. Makes the tables
// that the parts go into, unless it is a dry run.
import { defineHandler } from "../../../core/declare/declare.js";
import { Permanent } from "../../../core/errors/errors.js";
import type { TaskContext } from "../../../core/task/context.js";
import type { Inspection, LoadPlan, Target } from "../facts.js";
import { requireGeo } from "../geo_schema.js";
import { planLayers } from "../plan_layers.js";
import { type VectorParameters, vector_parameters } from "../settings.js";

export const vectorPlan = defineHandler(
  "vector.plan",
  { parameters: vector_parameters },
  async (given: VectorParameters, ctx): Promise<LoadPlan> => {
    await requireGeo(ctx);
    const inspections = await ctx.previous.all<Inspection>();
    const plan = planLayers(inspections, given);
    await refuseTaken(ctx, plan.targets, given);
    if (given.dry_run) return plan;
    const tables = new Map<string, string>();
    for (const target of plan.targets) {
      const source_srids = plan.parts.flatMap((part) =>
        part.table === target.layer && part.source_srid !== null ? [part.source_srid] : [],
      );
      const spec = {
        columns: target.columns.map(({ name, pg_type }) => ({ name, pg_type })),
        srid: target.srid,
        has_geometry: target.has_geometry,
        source_srids: [...new Set(source_srids)],
      };
      const [row] = await ctx.db(
        (session) => session.sql<{ name: string }>`
          select geo.make_candidate(${ctx.job_id}::text, ${target.layer}::text, ${JSON.stringify(spec)}::text::jsonb) as name`,
      );
      tables.set(target.layer, row!.name);
    }
    return {
      ...plan,
      targets: plan.targets.map((target) => ({ ...target, table: tables.get(target.layer)! })),
      parts: plan.parts.map((part) => ({ ...part, table: tables.get(part.table)! })),
    };
  },
);

/** Before any work, because hours later it would be the same; asked again when it is published. */
export async function refuseTaken(
  ctx: TaskContext,
  targets: readonly Pick<Target, "layer">[],
  { mode, split_by }: Pick<VectorParameters, "mode" | "split_by">,
): Promise<void> {
  if (mode !== "create" || split_by !== undefined) return;
  const names = JSON.stringify(targets.map(({ layer }) => layer));
  const taken = await ctx.db(
    (session) => session.sql<{ name: string }>`
      select name from geo.layers
       where tenant_id = ${ctx.tenant_id} and name = any (array(select json_array_elements_text(${names}::text::json)))
         and job_id is distinct from ${ctx.job_id}::text
       order by name limit 20`,
  );
  if (taken.length === 0) return;
  const list = taken.map(({ name }) => name).join(", ");
  throw new Permanent(
    `there are layers of these names already: ${list}. Give mode replace, append or upsert, or another name`,
    {
      code: "layer_exists",
    },
  );
}
