// Declared effects: what a handler in a worker over HTTP has written with the finish of its task, where one on the database would use ctx.db.
import type { Effect } from "../core/api/work/effects.js";
import { Permanent } from "../core/errors/errors.js";
import type { TaskContext } from "../core/task/context.js";

export type { Effect } from "../core/api/work/effects.js";

/** Its worker came over HTTP, whether the handler runs in that process or in one of its own. */
function declares(ctx: TaskContext): ctx is TaskContext & { effect(effect: Effect): void } {
  return "effect" in ctx && typeof ctx.effect === "function";
}

/** Written in the transaction of the task's finish, in the order they were declared, all or none; nothing if the task fails or is lost. */
export function declareEffect(ctx: TaskContext, effect: Effect): void {
  if (declares(ctx)) {
    ctx.effect(effect);
    return;
  }
  throw new Permanent("effects are declared in workers over HTTP; here use ctx.db(…, { with_finish: true })", {
    code: "has_database",
  });
}
