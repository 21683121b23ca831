// What a worker and the child process of an isolated handler say to each other, over a channel of their own. Results and
// log lines travel as JSON text, so that nothing a handler made is looked at twice. Types, and errors on their way there.

import type { Effect } from "../../core/api/work/effects.js";
import { FanfoldError, isFanfoldError } from "../../core/errors/errors.js";
import type { Failure } from "../../core/errors/failures.js";
import type { OutboundPolicy } from "../../core/places/outbound.js";
import type { RasterSettings } from "../../core/task/raster_settings.js";
import { DatabaseError, type DatabaseErrorFields, type Scalar } from "../../engine/database/database.js";
import type { ClaimedStage, ClaimedTask, WorkerCommands } from "../../engine/work/commands.js";
import type { Done } from "../finish/outcome.js";
import type { SentStatement } from "../finish/recorded.js";
import type { StopKind } from "../run/attempt.js";
import type { Progress } from "../run/progress.js";
import type { CopyCall } from "./copy_calls.js";
import type { StoreCall } from "./store_calls.js";
import type { ZoneCall } from "./zone_calls.js";

export type ReadRequest = Parameters<WorkerCommands["read_results"]>[1];

/** Everything a child must know about a task; `run` tells apart the tasks of one child. */
export interface TaskOrder {
  run: number;
  handler: string;
  claim_id: number;
  attempt: number;
  stage: ClaimedStage;
  task: ClaimedTask;
  worker_id: string;
  /** For the calls its handler makes. */
  traceparent: string | null;
  outbound: OutboundPolicy;
  raster: RasterSettings;
  /** Its worker has no database: effects are declared, and a large result is sent as it is. */
  is_remote: boolean;
}

export type ToChild =
  | { t: "run"; order: TaskOrder }
  | { t: "abort"; run: number; kind: StopKind; message: string; timeout_s: number | null }
  | { t: "reply"; id: number; value?: unknown; error?: PackedError };

/** `returned`: the handler settled, and this is what the finish will say. `threw`: it did not return. */
export type End = { returned: string | Done | Failure } | { threw: Failure };

/** An error nobody caught. */
export interface Escaped {
  name: string;
  message: string;
  stack: string;
}

export type FromChild =
  | { t: "ready"; rss_mb: number }
  | { t: "started"; run: number }
  | { t: "log"; run: number; line: string }
  | { t: "progress"; run: number; made: Progress }
  | { t: "effect"; run: number; effect: Effect }
  | { t: "storing"; run: number }
  | { t: "call"; run: number; id: number; call: Call }
  | { t: "end"; run: number; end: End; rss_mb: number }
  /** An error of the running task, which ends with it. */
  | { t: "escaped"; run: number; error: Escaped }
  /** An error of an earlier task of this child, or of no task. */
  | { t: "late"; error: Escaped };

/** What a handler asks of the worker. Its transaction is held open there, between begin and commit or rollback. */
export type Call =
  | { what: "read_results"; request: ReadRequest }
  | { what: "predecessor" }
  | { what: "scratch" }
  | { what: "secret"; name: string }
  | { what: "unseal"; sealed: string; purpose: string }
  | { what: "begin" }
  | { what: "sql"; strings: readonly string[]; values: readonly Scalar[] }
  | { what: "commit" }
  | { what: "rollback" }
  | { what: "zone"; call: ZoneCall }
  | { what: "store"; call: StoreCall }
  | { what: "copy"; call: CopyCall }
  /** Kept for the finish. */
  | { what: "record"; statements: readonly SentStatement[] };

export interface PackedError {
  name: string;
  message: string;
  stack: string | undefined;
  /** For a database error: its SQLSTATE and what came with it. */
  database?: DatabaseErrorFields & { code: string };
  /** For one of Fanfold's errors: what it means, so that it means the same in the child. */
  own?: Pick<FanfoldError, "code" | "category" | "sqlstate" | "http_status" | "title" | "problems" | "hint">;
}

export function packError(error: unknown): PackedError {
  if (!(error instanceof Error)) return { name: "Error", message: String(error), stack: undefined };
  const { name, message, stack } = error;
  if (isFanfoldError(error)) {
    const { code, category, sqlstate, http_status, title, problems, hint } = error;
    return { name, message, stack, own: { code, category, sqlstate, http_status, title, problems, hint } };
  }
  if (!(error instanceof DatabaseError)) return { name, message, stack };
  const { code, detail, hint, where, schema, table, column, constraint, position } = error;
  return {
    name,
    message,
    stack,
    database: { code, detail, hint, where, schema, table, column, constraint, position },
  };
}

export function unpackError(packed: PackedError): Error {
  const error = emptyError(packed);
  if (packed.stack !== undefined) error.stack = packed.stack;
  return error;
}

function emptyError({ name, message, database, own }: PackedError): Error {
  if (database !== undefined) return new DatabaseError(database.code, message, database);
  // Whatever its class was: who reads it goes by its fields.
  return Object.assign(own === undefined ? new Error(message) : new FanfoldError("transient", message), own, { name });
}
