// Holds a call until a lone task has ended.
import { setTimeout as sleep } from "node:timers/promises";
import { isTerminal } from "../../core/shown/statuses.js";
import type { Engine } from "../../engine/engine.js";
import type { TaskRecord } from "../../engine/verbs/records.js";

/** null: not until that moment. */
export async function taskEnded(
  engine: Engine,
  task_id: string,
  until: number,
  signals: readonly AbortSignal[],
): Promise<TaskRecord | null> {
  for (let pause_ms = 25; ; pause_ms = Math.min(pause_ms * 1.5, 500)) {
    const task = await engine.task(task_id);
    if (isTerminal(task.status)) return task;
    if (Date.now() >= until || signals.some((signal) => signal.aborted)) return null;
    await sleep(pause_ms);
  }
}
