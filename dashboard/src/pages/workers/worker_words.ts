// How workers are told in words, and in which order. Pure.
import type { Reply } from "../../api/call.js";

type Told = Reply<"workers">;
export type Worker = Told["workers"][number];
export type GoneWorker = Told["gone"][number];
export type WorkerState = "silent" | "draining" | "live";

export function stateOf({ status, draining_at }: Worker): WorkerState {
  if (status === "silent") return "silent";
  return draining_at === null ? "live" : "draining";
}

const order: Record<WorkerState, number> = { silent: 0, draining: 1, live: 2 };

/** Those that need a look first; else as they came. */
export function inOrder(workers: readonly Worker[]): Worker[] {
  return [...workers].sort((a, b) => order[stateOf(a)] - order[stateOf(b)]);
}

export function nameOf({
  host,
  pid,
  shared,
  worker_id,
}: Pick<Worker, "host" | "pid" | "shared" | "worker_id">): string {
  if (host !== null && host !== "") return pid === null || pid === 0 ? host : `${host}:${pid}`;
  return shared ? `shared worker ${worker_id.slice(0, 8)}` : `worker ${worker_id.slice(0, 8)}`;
}

/** Workers of each version, most first; one entry when all run the same. */
export function versionsOf(workers: readonly Worker[]): { version: string; workers: number }[] {
  const counts = new Map<string, number>();
  for (const { version } of workers) counts.set(version ?? "unknown", (counts.get(version ?? "unknown") ?? 0) + 1);
  return [...counts].map(([version, n]) => ({ version, workers: n })).sort((a, b) => b.workers - a.workers);
}

/** Handlers, and whether it plans stages: the names that begin with # are no task types of anybody. */
export function typesOf(types: readonly string[]): { handlers: string[]; plans: boolean } {
  return {
    handlers: types.filter((type) => !type.startsWith("#")).sort(),
    plans: types.some((type) => type.startsWith("#plan")),
  };
}

const count = (n: number, one: string, many = `${one}s`) => `${n.toLocaleString("en-US")} ${n === 1 ? one : many}`;

/** One sentence about all of them. */
export function summary(workers: readonly Worker[]): string {
  const of = (state: WorkerState) => workers.filter((one) => stateOf(one) === state).length;
  const alive = workers.filter((one) => stateOf(one) !== "silent");
  const slots = alive.reduce((sum, { slots: own }) => sum + own, 0);
  const running = alive.reduce((sum, { running: own }) => sum + own, 0);
  const parts = [
    count(of("live"), "live worker"),
    ...(of("draining") > 0 ? [`${of("draining")} draining`] : []),
    ...(of("silent") > 0 ? [`${of("silent")} silent`] : []),
    `${running.toLocaleString("en-US")} of ${count(slots, "slot")} at work`,
  ];
  return parts.join(" · ");
}

/** What happened to one that is gone, without when. */
export function farewell({ status, went_back }: GoneWorker): string {
  const back =
    went_back === 0
      ? "it held nothing"
      : `${count(went_back, "task")} ${went_back === 1 ? "goes" : "go"} to other workers`;
  return status === "lost" ? `stopped answering; ${back}` : `left as told; ${back}`;
}

/** What a handler reports: a share, or so many of so many, and a message. */
export function progressText(progress: unknown): string | null {
  if (typeof progress !== "object" || progress === null) return null;
  const { share, done, total, message } = progress as Record<string, unknown>;
  const parts: string[] = [];
  if (typeof done === "number") {
    const of = typeof total === "number" ? ` of ${total.toLocaleString("en-US")}` : "";
    parts.push(`${done.toLocaleString("en-US")}${of}`);
  } else if (typeof share === "number") parts.push(`${Math.round(share * 100)} %`);
  if (typeof message === "string" && message !== "") parts.push(message.slice(0, 120));
  return parts.length === 0 ? null : parts.join(", ");
}
