// The handler that a lone task is checked by, if it is known here at all.
import type { Handler } from "../../core/declare/declare.js";
import { taskTypeProblem } from "../../core/declare/names.js";
import { findHandler, type Registry } from "../../core/declare/registry.js";
import type { Queryable } from "../database/database.js";
import { asked } from "./reply.js";

/**
 * null: a worker that runs elsewhere, perhaps in another language, checks the task. A type that is unknown here is refused when this
 * registry has any, and no live worker serves it.
 */
export async function handlerFor(
  db: Queryable,
  registry: Registry,
  tenant: string,
  task_type: string,
): Promise<Handler | null> {
  if (registry.handlers.size === 0) return null;
  if (!registry.handlers.has(task_type) && taskTypeProblem(task_type) === null) {
    const asking = JSON.stringify({ stages: [{ task: task_type }] });
    const { unserved } = await asked<{ unserved: string[] }>(
      db.sql`select app.check_blueprint(${asking}::text::jsonb, ${tenant}::text) as reply`,
    );
    if (unserved.length === 0) return null;
  }
  return findHandler(registry, task_type);
}
