// fanfold/client: everything a program without database access needs. Re-exports only.
export type { Caller, CallOptions } from "./call.js";
