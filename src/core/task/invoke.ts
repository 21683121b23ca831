// Calls a handler with its checked parameters and checks what it returns, the same in a worker, in a child process and in a
// worker that came over HTTP. Pure.

import type { Handler } from "../declare/declare.js";
import { taskParameters, taskResult } from "../declare/parameters.js";
import type { TaskContext } from "./context.js";

/** A context that knows what its task was given. */
export type InvokedContext = TaskContext & { readonly parameters: unknown };

/** A promise only if the handler gives one, or a schema is asynchronous. */
export function invoke(handler: Handler, ctx: InvokedContext): unknown {
  const schema = handler.options.result;
  const returned = call(handler, ctx);
  if (schema === undefined) return returned;
  if (!isThenable(returned)) return taskResult(schema, handler, returned);
  return Promise.resolve(returned).then((value) => taskResult(schema, handler, value));
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

function call(handler: Handler, ctx: InvokedContext): unknown {
  const parameters = taskParameters(handler, ctx.parameters);
  if (!(parameters instanceof Promise)) return handler.run(parameters, ctx);
  return parameters.then((checked) => {
    // The checks may have taken longer than the task was ours.
    ctx.signal.throwIfAborted();
    return handler.run(checked, ctx);
  });
}
