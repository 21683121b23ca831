// fanfold/client: everything a program without database access needs. Re-exports only.

export * as api from "../core/api/all.js";
export type { WouldSubmit } from "../core/api/jobs.js";
export * from "../core/index.js";
export { type CellStatus, type Cells, cell_statuses, durationOf, tasksOfCell } from "../core/shown/cells.js";
export type { AuditFilter, DeedRecord } from "./audit.js";
export type { BlueprintDeclaration } from "./blueprints.js";
export type { BulkOptions } from "./bulk.js";
export type { Answered, Caller, CallOptions } from "./call.js";
export { Client, createClient } from "./client.js";
export type { ConnectorConfigRecord } from "./connectors.js";
export { declareEffect, type Effect } from "./effects.js";
export type { KeyRecord, NewKey, TenantRecord } from "./keys.js";
export type {
  EventRecord,
  JobFilter,
  JobSummary,
  JobTaskFilter,
  TaskFilter,
  TaskRecord,
  TaskSelection,
  TaskSummary,
  VerbOptions,
  WhyRecord,
} from "./operate.js";
export type { Paged } from "./pages.js";
export type { DatasetRecord, ReleaseRecord } from "./releases.js";
export type {
  RecipeRecord,
  RequestFilter,
  RequestRecord,
  RequestSubmit,
  RequestSummary,
  SubmittedRequest,
} from "./requests.js";
export type { GroupJob, GroupRecord, ScheduleOptions, ScheduleRecord, TickRecord } from "./schedules.js";
export type { Streamed, StreamOptions } from "./stream.js";
export type { Enqueued, EnqueueOptions, JobInput, JobItem, SubmitOptions, Submitted, TaskItem } from "./submit.js";
export { ConnectionError, ServiceError } from "./told_errors.js";
export type { ClientOptions } from "./transport.js";
export type { Upload, UploadOptions } from "./uploads.js";
export { type JobRecord, StillRunning, type WaitOptions } from "./wait.js";
export {
  type VerifiedWebhook,
  verifyWebhook,
  type WebhookRefusal,
  WebhookRefused,
  type WebhookToVerify,
} from "./webhook.js";
export type { DeliveryFilter, DeliveryRecord, WebhookRecord } from "./webhooks.js";
export { startRemoteWorker } from "./worker.js";
export type { RemoteWorker, RemoteWorkerOptions, RemoteWorkerStats } from "./worker_options.js";
