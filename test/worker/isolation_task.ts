// A task that no database knows of, for tests of processes by themselves.
import type { Handler } from "../../src/core/declare/declare.js";
import type { ClaimedStage, ClaimedTask } from "../../src/engine/work/commands.js";
import { newPace } from "../../src/worker/claim/batch.js";
import { HeldClaim } from "../../src/worker/claim/held.js";
import { TaskContext } from "../../src/worker/run/context.js";
import type { TaskServices } from "../../src/worker/run/task_services.js";

export function taskContext(handler: Handler, parameters: object = {}): TaskContext {
  const stage = {
    stage_id: 1,
    stage: "s",
    task_type: handler.name,
    job_id: null,
    previous: [] as unknown,
  } as ClaimedStage;
  const task: ClaimedTask = [0, null, parameters, null];
  const claim = new HeldClaim({ claim_id: 1, stage_id: 1, attempt: 1, crashes: 0, tasks: [task] }, stage, newPace(), 0);
  const services = { logs: { add: () => {} } } as unknown as TaskServices;
  return new TaskContext(services, claim, task, performance.now());
}
