// The public API, re-exports only.

export { type NewGeoTiff, writeGeoTiff } from "./cli/demo/geotiff_writer.js";
export { type Scene, syntheticScene } from "./cli/demo/terrain.js";
export * from "./core/index.js";
export { type Database, DatabaseError, type Queryable } from "./engine/database/database.js";
export { openServer } from "./engine/database/server_database.js";
export { Engine } from "./engine/engine.js";
export { type EngineOptions, openEngine } from "./engine/open_engine.js";
export { migrate } from "./engine/schema/migrate.js";
export { Sealer } from "./engine/sealing.js";
export { type Alert, Janitor, type JanitorParts, type Sweep } from "./engine/upkeep/janitor.js";
export { type Round, Scheduler, type SchedulerParts } from "./engine/upkeep/scheduler.js";
export { type AssetPage, type AssetQuery, type AssetRecord, Assets } from "./engine/verbs/assets.js";
export { type ConnectorConfig, Connectors, type HostRecord } from "./engine/verbs/connectors.js";
export {
  type GroupCancelReply,
  type GroupPage,
  type GroupRecord,
  type GroupStatus,
  Groups,
  type NewGroup,
} from "./engine/verbs/groups.js";
export type { CreatedKey, KeyPage, KeyRecord, NewKey, RotatedKey } from "./engine/verbs/keys.js";
export type { LimitsRecord, LimitValues } from "./engine/verbs/limits.js";
export {
  type AlertRecord,
  type ErrorGroup,
  type GateDecision,
  type GateReply,
  type JanitorHealth,
  Operator,
  type PauseReply,
  type RepairReply,
  type SkipReply,
  type VerbOptions,
  type VerifiedStage,
  type VerifyReport,
  type Why,
} from "./engine/verbs/operator.js";
export type {
  AttemptRecord,
  CancelReply,
  DeliverableRecord,
  DependencyRecord,
  EnqueueItem,
  EnqueueOptions,
  EnqueueReply,
  EventRecord,
  JobCounts,
  JobFilter,
  JobListing,
  JobPage,
  JobRecord,
  JobSummary,
  ListedJob,
  ListedJobs,
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
} from "./engine/verbs/records.js";
export type { ScheduleGiven, ScheduleOptions, ScheduleRecord, TickRecord } from "./engine/verbs/schedule_records.js";
export { type PutOptions, Schedules } from "./engine/verbs/schedules.js";
export type { TenantPage, TenantRecord } from "./engine/verbs/tenants.js";
export {
  type DeliveryRecord,
  type DeliveryWithTries,
  type WebhookRecord,
  Webhooks,
  type WebhookWithSecret,
} from "./engine/verbs/webhooks.js";
export type { Call, CallRequest, CallResponse } from "./handlers/connectors/caller.js";
export { type Connection, type ConnectorDeclaration, defineConnector } from "./handlers/connectors/connector.js";
export {
  default_policy,
  type GuardedRequest,
  type GuardedResponse,
  guardedRequest,
  type OutboundPolicy,
  OutboundRefused,
} from "./handlers/connectors/guard/index.js";
export { reportGenerate } from "./handlers/connectors/report_generate.js";
export { webhookDeliver } from "./handlers/connectors/webhook_deliver.js";
export { webhookTell } from "./handlers/connectors/webhook_tell.js";
export { builtinRegistry } from "./jobs/index.js";
export type { Authenticator, Principal } from "./server/access/auth.js";
export { type AuthenticationParts, createAuthentication } from "./server/access/authentication.js";
export type { JwtSettings } from "./server/access/jwt.js";
export { type Server, type ServerOptions, startServer } from "./server/server.js";
export { openFolderStore } from "./storage/index.js";
export type { WorkerOptions } from "./worker/options.js";
export { stopOnSignals } from "./worker/signals.js";
export { startWorker, type Worker, type WorkerStats } from "./worker/worker.js";
