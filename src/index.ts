// The public API, re-exports only.
export * from "./core/index.js";
export { type Database, DatabaseError, type Queryable } from "./engine/database.js";
export { Engine } from "./engine/engine.js";
export { type Alert, Janitor, type JanitorParts, type Sweep } from "./engine/janitor.js";
export { migrate } from "./engine/migrate.js";
export { type EngineOptions, openEngine } from "./engine/open_engine.js";
export type {
  AttemptRecord,
  CancelReply,
  DeliverableRecord,
  EnqueueItem,
  EnqueueOptions,
  EnqueueReply,
  EventRecord,
  JobFilter,
  JobPage,
  JobRecord,
  JobSummary,
  OutcomeRecord,
  StageRecord,
  SubmitItem,
  SubmitOptions,
  SubmitReply,
  TaskError,
  TaskFilter,
  TaskPage,
  TaskRecord,
  TaskSummary,
} from "./engine/records.js";
export { Recovery, type VerbOptions } from "./engine/recovery.js";
export type {
  AlertRecord,
  ErrorGroup,
  GateDecision,
  GateReply,
  JanitorHealth,
  PauseReply,
  RepairReply,
  SkipReply,
  VerifiedStage,
  VerifyReport,
  Why,
} from "./engine/recovery_records.js";
export { openServer } from "./engine/server_database.js";
export { builtinRegistry } from "./jobs/index.js";
export { type Server, type ServerOptions, startServer } from "./server/server.js";
export { openFolderStore } from "./storage/index.js";
export type { WorkerOptions } from "./worker/options.js";
export { stopOnSignals } from "./worker/signals.js";
export { startWorker, type Worker, type WorkerStats } from "./worker/worker.js";
