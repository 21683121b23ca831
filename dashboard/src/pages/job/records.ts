// What the API tells of a job, by short names. Types only.
import type { ReplyOf } from "../../../../src/core/api/endpoint.js";
import type { jobs_api } from "../../../../src/core/api/jobs.js";
import type { operations_api } from "../../../../src/core/api/operations.js";

export type Job = ReplyOf<typeof jobs_api.get>;
export type Stage = Job["stages"][number];
export type ErrorReport = ReplyOf<typeof operations_api.errors>;
export type ErrorGroup = ErrorReport["groups"][number];
export type JobEvent = ReplyOf<typeof operations_api.events>["events"][number];
export type Why = ReplyOf<typeof operations_api.why>;
export type Repaired = ReplyOf<typeof operations_api.resume>;
export type Verified = ReplyOf<typeof operations_api.verify>;
