// What of a recipe is code runs as a task of type platform.plan.<data_type> on a worker that has the recipe: whether a job of a request runs,
// and with which parameters. Its answer is a transaction of its own, because a request is locked after everything that a finish locks; a task
// that runs again finds that nobody waits any more. What a function throws is the job's failure, unless it says that another attempt may
// go better.
import { z } from "zod";
import { classify } from "../errors/errors.js";
import type { TaskContext } from "../task/context.js";
import { defineHandler, type Handler } from "./declare.js";
import type { Recipe, RecipeContext } from "./recipe.js";

export const planner_type = (data_type: string): string => `platform.plan.${data_type}`;

const last_attempt = 3;

type Asked = (RecipeContext & { recipe_hash: string }) | null;

/** null where all of the recipe is data. */
export function recipePlanner(recipe: Recipe): Handler | null {
  if (recipe.planners.size === 0 && recipe.conditions.size === 0) return null;
  const parameters = z.object({ request_id: z.string(), job: z.string(), recipe_hash: z.string() });
  return defineHandler(planner_type(recipe.data_type), { parameters }, async ({ request_id, job }, ctx) => {
    const context = await ctx.db(async (session) => {
      const [row] = await session.sql<{ facts: Asked }>`
        select platform.plan_facts(${request_id}::text, ${job}::text, ${ctx.task_id}::text) as facts`;
      return row!.facts;
    });
    if (context === null) return { planned: false, why: "no caller waits for it any more" };
    const answer = await answerOf(recipe, job, context, ctx);
    const reply = JSON.stringify(answer);
    await ctx.db(
      (session) =>
        session.sql`select platform.plan_done(${request_id}::text, ${job}::text, ${reply}::text::jsonb, ${ctx.task_id}::text)`,
    );
    return { planned: true, ...("parameters" in answer ? {} : answer) };
  });
}

type Answer =
  | { parameters: Record<string, unknown> | null }
  | { skip: true }
  | { error: { code: string; message: string } };

async function answerOf(recipe: Recipe, job: string, context: RecipeContext, ctx: TaskContext): Promise<Answer> {
  const [planner, condition] = [recipe.planners.get(job), recipe.conditions.get(job)];
  const declared = recipe.recipe.jobs.find(({ name }) => name === job);
  if (declared === undefined || (planner === undefined && condition === undefined)) {
    const message = `the recipe ${recipe.data_type} that workers have now has no function for job "${job}"`;
    return { error: { code: "no_planner", message } };
  }
  try {
    if (condition !== undefined && !(await condition(context))) return { skip: true };
    return { parameters: planner === undefined ? null : await planner(context) };
  } catch (error) {
    const { category, code, message } = classify(error);
    const may_go_better = category === "throttled" || (category === "transient" && code !== "unexpected");
    if (may_go_better && ctx.attempt < last_attempt) throw error;
    return { error: { code, message: message.slice(0, 2_000) } };
  }
}
