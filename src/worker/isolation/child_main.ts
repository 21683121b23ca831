// The child process of isolated handlers: imports the module it was told to, runs one task after the other, and sends what
// came of each. Started by handler_process.ts with the module's URL and the worker's pid.
import { AsyncLocalStorage } from "node:async_hooks";
import { Socket } from "node:net";
import type { Handler } from "../../core/declare/declare.js";
import { classify, Permanent, TimeoutError, Transient } from "../../core/errors/errors.js";
import { invoke } from "../../core/task/invoke.js";
import { importModule } from "../../import_module.js";
import { outcomeOf } from "../finish/outcome.js";
import { type Channel, ChildContext } from "./child_context.js";
import { joinTrace } from "./child_tracing.js";
import { endGroup, endWithParent } from "./child_watchdog.js";
import { findExported } from "./exported.js";
import { type End, type Escaped, type FromChild, type TaskOrder, type ToChild, unpackError } from "./messages.js";
import { RemoteChildContext } from "./remote_child_context.js";
import { CHANNEL_FD, readMessages, writeMessage } from "./wire.js";

/** For the last word to be sent before this process ends. */
const FAREWELL_MS = 1000;

// Taken away: a module that looks at its arguments would take them for its own.
const [module = "", parent = ""] = process.argv.splice(2);
const to_worker = new Socket({ fd: CHANNEL_FD, readable: true, writable: true });

endWithParent(Number(parent));
to_worker.on("close", endGroup);
to_worker.on("error", endGroup);

const waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
/** Which task a piece of code belongs to, however late it runs. */
const origin = new AsyncLocalStorage<number>();
let calls = 0;
let current: ChildContext | null = null;
let current_run = 0;

const channel: Channel = {
  send: (message) => say(message),
  call: (run, call) =>
    new Promise((resolve, reject) => {
      // Nobody would answer: the worker has done with that task.
      if (current === null || run !== current_run) throw new Permanent("the task is over: await what ctx gives you");
      const id = ++calls;
      waiting.set(id, { resolve, reject });
      say({ t: "call", run, id, call });
    }),
};

function say(message: FromChild, then?: () => void): void {
  writeMessage(to_worker, message, then);
}

// Begun before the first task comes; whether it succeeds is that task's to hear.
const imported = importModule(module);
imported.catch(() => {});

readMessages(to_worker, (message) => told(message as ToChild), endGroup);

function told(message: ToChild): void {
  if (message.t === "run") void origin.run(message.order.run, execute, message.order);
  else if (message.t === "reply") answered(message);
  else if (message.run === current_run) {
    const { kind, message: why, timeout_s } = message;
    const reason = timeout_s === null ? new DOMException(why, "AbortError") : new TimeoutError(timeout_s);
    current?.abort(kind, reason);
  }
}

function answered({ id, value, error }: ToChild & { t: "reply" }): void {
  const asker = waiting.get(id);
  waiting.delete(id);
  if (error === undefined) asker?.resolve(value);
  else asker?.reject(unpackError(error));
}

async function execute(order: TaskOrder): Promise<void> {
  const { run, worker_id } = order;
  const ctx = order.is_remote ? new RemoteChildContext(order, channel) : new ChildContext(order, channel);
  current = ctx;
  current_run = run;
  let end: End;
  try {
    const handler = await load(order.handler);
    say({ t: "started", run });
    const value = await settled(handler, ctx);
    ctx.enter("storing");
    const outcome = outcomeOf(value, ctx, order.is_remote ? null : { store: ctx.services.store, worker_id });
    if (outcome instanceof Promise) say({ t: "storing", run });
    // A file that could not be written is a failure like any the handler returns.
    end = { returned: await Promise.resolve(outcome).catch(classify) };
  } catch (error) {
    end = { threw: classify(error) };
  }
  ctx.enter("settled");
  current = null;
  say({ t: "end", run, end, rss_mb: process.memoryUsage.rss() / 2 ** 20 });
}

async function settled(handler: Handler, ctx: ChildContext): Promise<unknown> {
  const within = await joinTrace(ctx.traceparent);
  let returned: unknown;
  try {
    returned = within(() => invoke(handler, ctx));
  } catch (error) {
    throw error ?? new Error("threw nothing");
  }
  try {
    return await returned;
  } catch (error) {
    throw error ?? new Error("rejected with nothing");
  }
}

async function load(name: string): Promise<Handler> {
  let exports: Record<string, unknown>;
  try {
    exports = await imported;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Transient(`the handler's process could not import ${module}: ${why}`, {
      code: "no_handler",
      cause: error,
    });
  }
  const found = findExported(exports, name);
  if (found !== null) return found;
  const fix = "export it under any name, or in the handlers of its default export";
  throw new Transient(`${module} exports no handler "${name}": ${fix}`, { code: "no_handler" });
}

/** Node would end the process. So does this, unless the error is of a task that has ended and another one runs by now. */
process.on("uncaughtException", (thrown: unknown) => {
  const error = escaped(thrown);
  const run = origin.getStore() ?? current_run;
  const exit = () => process.exit(1);
  if (current !== null && run === current_run) say({ t: "escaped", run, error }, exit);
  else if (current !== null) return say({ t: "late", error });
  else say({ t: "late", error }, exit);
  setTimeout(exit, FAREWELL_MS);
});

function escaped(thrown: unknown): Escaped {
  if (!(thrown instanceof Error)) return { name: "thrown", message: String(thrown), stack: "" };
  const { name, message, stack = "" } = thrown;
  return { name: String(name), message: String(message), stack: String(stack) };
}

say({ t: "ready", rss_mb: process.memoryUsage.rss() / 2 ** 20 });
