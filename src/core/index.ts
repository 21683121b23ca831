// What of core is public: declaring, errors, words and ids. Re-exports only.
export type { Blueprint, StageBlueprint } from "./declare/blueprint.js";
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
} from "./declare/declare.js";
export { type ValidParameters, validateParameters } from "./declare/parameters.js";
export type { PlanData } from "./declare/plan_data.js";
export {
  type Accepted,
  defineRecipe,
  type Recipe,
  type RecipeCondition,
  type RecipeContext,
  type RecipeData,
  type RecipeDeclaration,
  type RecipeJobDeclaration,
  type RecipePlanner,
} from "./declare/recipe.js";
export { createRegistry, findHandler, findJob, type Registry, type RegistryParts } from "./declare/registry.js";
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
} from "./errors/errors.js";
export type { Failure, FailureDetail } from "./errors/failures.js";
export type { Problem } from "./errors/problems.js";
export type { Ref, Store } from "./places/store.js";
export type { DeliveryStatus, JobWebhook, WebhookEvent } from "./places/webhooks.js";
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
} from "./places/zones.js";
export {
  type Category,
  type Importance,
  isTerminal,
  type JobStatus,
  type OnTaskFailure,
  type Parallelism,
  type StageStatus,
  type TaskStatus,
} from "./shown/statuses.js";
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
} from "./task/context.js";
export { canonicalJson } from "./values/canonical.js";
export { contentHash, jobId } from "./values/ids.js";
export { parseJson } from "./values/json.js";
