// Calls a handler with its checked parameters, the same in the worker and in a child process.
import type { Handler } from "../core/declare.js";
import { taskParameters } from "../core/parameters.js";
import type { TaskContext } from "./context.js";

/** A promise only if the handler gives one, or its schema is asynchronous. */
export function invoke(handler: Handler, ctx: TaskContext): unknown {
  const parameters = taskParameters(handler, ctx.parameters);
  if (!(parameters instanceof Promise)) return handler.run(parameters, ctx);
  return parameters.then((checked) => {
    // The checks may have taken longer than the task was ours.
    ctx.signal.throwIfAborted();
    return handler.run(checked, ctx);
  });
}
