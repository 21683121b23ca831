// What the process of a handler needs of the attempt that runs in it, whose worker may be one on the database or one over HTTP.
import type { Effect } from "../../core/api/work/effects.js";
import type { HeldClaim } from "../claim/held.js";
import type { TaskContext } from "../run/context.js";
import type { TaskServices } from "../run/task_services.js";

type Given = "tenant_id" | "ordinal" | "task" | "signal" | "stop" | "traceparent" | "outbound" | "raster" | "log";
type Asked = "storage" | "zones" | "secret" | "unseal" | "scratch" | "progress";

export interface IsolatedTask
  extends Pick<TaskContext, Given | Asked | "kill" | "timed_from" | "owner" | "recorded" | "lost_connection"> {
  readonly claim: Pick<HeldClaim, "claim_id" | "attempt" | "stage">;
  readonly services: Pick<TaskServices, "connection" | "handler_connection"> & {
    commands: {
      [Verb in "read_results" | "predecessor"]: (
        ...asked: Parameters<TaskServices["commands"][Verb]>
      ) => Promise<unknown>;
    };
  };
  enter(phase: "storing"): unknown;
  /** There where the worker has no database. */
  readonly remote?: {
    declare(effect: Effect): void;
    noDatabase(): Error;
  };
}
