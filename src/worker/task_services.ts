// What a worker opens once and lends to the contexts of its tasks.
import { Assets } from "../engine/assets.js";
import type { Engine } from "../engine/engine.js";
import { sealedFor } from "../engine/sealing.js";
import { openTaskZones } from "../engine/task_zones.js";
import type { Connections } from "./connections.js";
import type { AttemptZones, TaskContext, TaskServices } from "./context.js";
import type { TaskLogs } from "./logs.js";
import type { WorkerSettings } from "./options.js";
import type { Secrets } from "./secrets.js";

export interface TaskServicesParts {
  engine: Engine;
  settings: WorkerSettings;
  secrets: Secrets;
  connections: Connections;
  logs: TaskLogs;
  /** The scratch folder of this registration. */
  scratch_dir: string;
}

export function openTaskServices(parts: TaskServicesParts): TaskServices {
  const { engine, settings, secrets, connections, logs, scratch_dir } = parts;
  return {
    commands: engine.worker_commands,
    connection: () => connections.burst(settings.burst_connections),
    handler_connection: () => connections.handler(),
    store: engine.shared_store,
    logs,
    scratch_dir,
    outbound: settings.outbound,
    raster: settings.raster,
    zones: (ctx) => zonesOf(parts, ctx),
    secret: (tenant_id, name) => secrets.tell(tenant_id, name),
    unseal: async (tenant_id, sealed, purpose) => {
      const value = engine.sealer.open(sealed, sealedFor(tenant_id, purpose));
      secrets.remember(value);
      return value;
    },
  };
}

function zonesOf({ engine: { zones }, connections }: TaskServicesParts, ctx: TaskContext): AttemptZones {
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
