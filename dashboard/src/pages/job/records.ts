// What the API tells of a job, by short names. Types only.
import type { Reply } from "../../api/call.js";

export type Job = Reply<"jobs.get">;
export type Stage = Job["stages"][number];
export type ErrorReport = Reply<"errors">;
export type ErrorGroup = ErrorReport["groups"][number];
export type JobEvent = Reply<"events">["events"][number];
export type Why = Reply<"why">;
export type Repaired = Reply<"resume">;
export type Verified = Reply<"verify">;
