// h3.plan_fold: all tallies are there; which cells are put together in which task.
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import type { LoadedPart } from "../../vector/facts.js";
import type { FoldPart, TallyPlan } from "../facts.js";

const rows_of_a_task = 50_000;

export const h3PlanFold = defineHandler(
  "h3.plan_fold",
  { parameters: z.looseObject({}), timeout_s: 3600 },
  async (_, ctx): Promise<{ parts: FoldPart[] }> => {
    const { targets, tallies } = await ctx.previous("plan").one<TallyPlan<unknown>>();
    const chunks: number[] = [];
    for await (const { result } of ctx.previous("tally")) chunks.push(...(result as LoadedPart).chunks);
    const [row] = await ctx.db(
      (session) => session.sql<{ parts: { from: number; to: number }[] }>`
        select geo.tally_parts(${tallies}::text, ${JSON.stringify(chunks)}::text::jsonb, ${rows_of_a_task}::integer) as parts`,
    );
    const { table } = targets[0]!;
    return { parts: row!.parts.map(({ from, to }, part) => ({ part, table, tallies, from, to })) };
  },
);
