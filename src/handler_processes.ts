// Processes of handlers, for workers that have no database: the one door from fanfold/client to them, opened by a worker only that has
// handlers for it.
export type { IsolationUser } from "./worker/isolation/fence.js";
export type { Returned } from "./worker/isolation/handler_process.js";
export type { IsolatedTask } from "./worker/isolation/isolated_task.js";
export { openRemoteProcesses, type RemoteProcesses } from "./worker/isolation/remote_processes.js";
