// What a worker opens once and lends to the contexts of its tasks.

import type { OutboundPolicy } from "../../core/places/outbound.js";
import type { Store } from "../../core/places/store.js";
import type { TaskZones } from "../../core/places/zones.js";
import type { RasterSettings } from "../../core/task/raster_settings.js";
import type { Database } from "../../engine/database/database.js";
import type { Engine } from "../../engine/engine.js";
import { sealedFor } from "../../engine/sealing.js";
import { Assets } from "../../engine/verbs/assets.js";
import { openTaskZones } from "../../engine/work/task_zones.js";
import type { Connections } from "../life/connections.js";
import type { WorkerShared } from "../life/incarnation.js";
import type { ResultSource } from "../plan/previous.js";
import type { TaskContext } from "./context.js";
import type { TaskLogs } from "./logs.js";

/** What contexts share: opened by the worker, lent to its tasks. */
export interface TaskServices extends ResultSource {
  /** For the SQL of handlers in processes of their own. */
  handler_connection(): Promise<Database>;
  /** It holds the files of all tenants. */
  store: Store;
  logs: Pick<TaskLogs, "add">;
  scratch_dir: string;
  outbound: OutboundPolicy;
  raster: RasterSettings;
  /** The zones as this attempt sees them; left out where there are none. */
  zones?: (ctx: TaskContext) => AttemptZones;
  secret(tenant_id: string, name: string): Promise<string>;
  unseal(tenant_id: string, sealed: string, purpose: string): Promise<string>;
}

/** The zones hear of the attempt's end. */
export interface AttemptZones extends TaskZones {
  /** Its finish was taken. */
  finished?(): Promise<void>;
  /** It will certainly not be finished: what it has put there can be removed. */
  failed?(): Promise<void>;
}

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
