// Declared effects: what a handler in a worker over HTTP has written with the finish of its task, where one on the database would use ctx.db.
import type { Effect } from "../core/api/work/effects.js";
import { Permanent } from "../core/errors/errors.js";
import type { TaskContext } from "../core/task/context.js";
import { RemoteContext } from "./remote_context.js";

export type { Effect } from "../core/api/work/effects.js";

/** Written in the transaction of the task's finish, in the order they were declared, all or none; nothing if the task fails or is lost. */
export function declareEffect(ctx: TaskContext, effect: Effect): void {
  if (ctx instanceof RemoteContext) {
    ctx.effect(effect);
    return;
  }
  throw new Permanent("effects are declared in workers over HTTP; here use ctx.db(…, { with_finish: true })", {
    code: "has_database",
  });
}
