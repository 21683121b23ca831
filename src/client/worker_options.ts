// What a worker over HTTP is started with, and what it answers to.
import type { Handler, Job } from "../core/declare/declare.js";
import type { OutboundPolicy } from "../core/places/outbound.js";
import type { Store } from "../core/places/store.js";
import type { IsolationUser } from "../handler_processes.js";
import type { ClientOptions } from "./transport.js";

export interface RemoteWorkerOptions extends Pick<ClientOptions, "url" | "key" | "fetch"> {
  handlers: readonly Handler[];
  /** Job types whose function planners and conditions this worker runs. */
  jobs?: readonly Job[];
  /** How many tasks of these types run at the same time at most. */
  slots_by_type?: Readonly<Record<string, number>>;
  /** Tasks that run at the same time. Default: 8. */
  slots?: number;
  /** How long the service waits for a sign of life. Default: 30. */
  lease_s?: number;
  /** How long one question for work waits for an answer, up to 20. Default: 20. */
  wait_s?: number;
  /** How long stop() lets running tasks run. Default: 30. */
  grace_s?: number;
  /** How long a handler may take to stop once ctx.signal is aborted. Default: 5. */
  abort_grace_s?: number;
  /** For ctx.secret: a vault, a file, the environment. null: there is no such secret. */
  secrets?: (name: string) => Promise<string | null> | string | null;
  /** What handlers may call besides the public internet over TLS. */
  outbound?: Partial<OutboundPolicy>;
  /** For ctx.storage; without it, handlers that ask for storage fail. */
  storage?: Store;
  scratch_dir?: string;
  /** What tasks of isolated handlers may declare together: more do not start. Default: three quarters of what the machine or container has. */
  memory_mb?: number;
  /** What keeps isolated handlers away from this worker; see handlers.md. Default: "auto". */
  isolation_user?: IsolationUser;
  /** For isolated handlers beside this process's environment, of which credentials are taken out. */
  isolation_env?: Readonly<Record<string, string>>;
  isolation_node_args?: readonly string[];
  /** Told of trouble that passes by itself. */
  on_trouble?: (error: unknown) => void;
}

export interface RemoteWorkerStats {
  claimed: number;
  completed: number;
  failed: number;
  refused: number;
  /** Ended here when they were no longer held. */
  dropped: number;
  registered: number;
}

export interface RemoteWorker {
  /** The worker's id in its present registration. */
  readonly worker_id: string;
  stats(): RemoteWorkerStats;
  /** Claims no more, waits for what runs, hands back the rest, leaves. */
  stop(): Promise<void>;
  /** The same without waiting for what runs. */
  kill(): Promise<void>;
}
