// What of core is public: declaring, errors, words and ids. Re-exports only.
export type { Blueprint, StageBlueprint } from "./blueprint.js";
export { canonicalJson } from "./canonical.js";
export type {
  Deliverable,
  JobFacts,
  PlanContext,
  Predecessor,
  Previous,
  PreviousItem,
  RecordingSession,
  SqlSession,
  TaskContext,
  TaskLog,
} from "./context.js";
export {
  type Condition,
  defineHandler,
  defineJob,
  type Handler,
  type HandlerOptions,
  type Input,
  type Job,
  type JobDeclaration,
  type Output,
  type PlannedTask,
  type Planner,
  type StageDeclaration,
} from "./declare.js";
export {
  BadRequest,
  BeyondLimit,
  Conflict,
  ContractViolation,
  classify,
  DeclarationError,
  type ErrorCode,
  FanfoldError,
  Forbidden,
  isFanfoldError,
  NotAllowedNow,
  NotFound,
  OverLimit,
  ParameterError,
  Permanent,
  StaleWorker,
  Stopping,
  StorageError,
  Throttled,
  TooLarge,
  Transient,
  Unauthenticated,
  Unavailable,
  ValueProblems,
} from "./errors.js";
export type { Failure, FailureDetail } from "./failures.js";
export { contentHash, jobId } from "./ids.js";
export { parseJson } from "./json.js";
export { type ValidParameters, validateParameters } from "./parameters.js";
export type { PlanData } from "./plan_data.js";
export type { Problem } from "./problems.js";
export { createRegistry, findHandler, findJob, type Registry, type RegistryParts } from "./registry.js";
export {
  type Category,
  type Importance,
  isTerminal,
  type JobStatus,
  type OnTaskFailure,
  type Parallelism,
  type StageStatus,
  type TaskStatus,
} from "./statuses.js";
export type { Ref, Store } from "./store.js";
export type { DeliveryStatus, JobWebhook, WebhookEvent } from "./webhooks.js";
export {
  type BlobEntry,
  type BlobPage,
  type BlobStat,
  formatZoneRef,
  type NewAsset,
  parseZoneRef,
  type TaskZones,
  type ZoneAsset,
  type ZoneName,
  type ZoneRef,
  zone_names,
} from "./zones.js";
