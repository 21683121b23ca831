// What a worker opens once and lends to the contexts of its tasks.

import type { Engine } from "../../engine/engine.js";
import { sealedFor } from "../../engine/sealing.js";
import { Assets } from "../../engine/verbs/assets.js";
import { openTaskZones } from "../../engine/work/task_zones.js";
import type { Connections } from "../life/connections.js";
import type { WorkerShared } from "../life/incarnation.js";
import type { AttemptZones, TaskContext, TaskServices } from "./context.js";
import type { TaskLogs } from "./logs.js";

/** `scratch_dir`: the scratch folder of this registration. */
export function openTaskServices(
  { engine, settings, secrets }: WorkerShared,
  connections: Connections,
  logs: TaskLogs,
  scratch_dir: string,
): TaskServices {
  return {
    commands: engine.worker_commands,
    connection: () => connections.burst(settings.burst_connections),
    handler_connection: () => connections.handler(),
    store: engine.shared_store,
    logs,
    scratch_dir,
    outbound: settings.outbound,
    raster: settings.raster,
    zones: (ctx) => zonesOf(engine, connections, ctx),
    secret: (tenant_id, name) => secrets.tell(tenant_id, name),
    unseal: async (tenant_id, sealed, purpose) => {
      const value = engine.sealer.open(sealed, sealedFor(tenant_id, purpose));
      secrets.remember(value);
      return value;
    },
  };
}

function zonesOf({ zones }: Engine, connections: Connections, ctx: TaskContext): AttemptZones {
  const { tenant_id, job_id, ordinal, attempt } = ctx;
  const { stage_id } = ctx.claim.stage;
  return openTaskZones({
    tenant_id,
    job_id,
    ordinal,
    attempt,
    stage_id,
    zones,
    // On the connection that finishes use: nothing of it is urgent, and there are few.
    assets: new Assets(connections.work, tenant_id, zones),
    record: (work) => ctx.db(work, { with_finish: true }),
    signal: () => ctx.signal,
  });
}
