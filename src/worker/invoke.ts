// Calls a handler with its checked parameters and checks what it returns, the same in the worker and in a child process.
import type { Handler } from "../core/declare.js";
import { taskParameters, taskResult } from "../core/parameters.js";
import type { TaskContext } from "./context.js";

/** A promise only if the handler gives one, or a schema is asynchronous. */
export function invoke(handler: Handler, ctx: TaskContext): unknown {
  const schema = handler.options.result;
  const returned = call(handler, ctx);
  if (schema === undefined) return returned;
  const is_later = typeof (returned as { then?: unknown } | null | undefined)?.then === "function";
  if (!is_later) return taskResult(schema, handler, returned);
  return Promise.resolve(returned).then((value) => taskResult(schema, handler, value));
}

function call(handler: Handler, ctx: TaskContext): unknown {
  const parameters = taskParameters(handler, ctx.parameters);
  if (!(parameters instanceof Promise)) return handler.run(parameters, ctx);
  return parameters.then((checked) => {
    // The checks may have taken longer than the task was ours.
    ctx.signal.throwIfAborted();
    return handler.run(checked, ctx);
  });
}
