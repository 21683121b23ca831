// A handler's context without an engine: enough to test what a handler does with files and previous results.
import type { Predecessor, Previous, PreviousItem, TaskContext } from "../../src/core/task/context.js";

export function fakeContext(previous: Record<string, unknown[]> = {}, more: Partial<TaskContext> = {}): TaskContext {
  const quiet = () => {};
  return {
    tenant_id: "default",
    task_type: "test",
    stage: "test",
    ordinal: 0,
    index: "0",
    attempt: 1,
    metadata: null,
    job: null,
    previous: fakePrevious(previous),
    predecessor: async () => null as Predecessor<never> | null,
    progress: quiet,
    signal: new AbortController().signal,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    effect_key: "key",
    ...more,
  } as TaskContext;
}

/** Results by stage name; without a name, those of the only stage. */
function fakePrevious(stages: Record<string, unknown[]>): Previous {
  const reader = (results: unknown[]): Previous =>
    Object.assign((name: string) => reader(stages[name] ?? []), {
      one: async () => results[0],
      all: async () => results,
      async *[Symbol.asyncIterator](): AsyncGenerator<PreviousItem> {
        for (const [ordinal, result] of results.entries()) {
          yield { ordinal, index: String(ordinal), result, next_stage_params: null };
        }
      },
    }) as unknown as Previous;
  return reader(Object.values(stages)[0] ?? []);
}
