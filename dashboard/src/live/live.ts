// What happens, as it happens: the tab's side of the stream that all tabs of a browser share.
import { useEffect, useRef, useSyncExternalStore } from "react";
import type { StreamedEvent } from "../../../src/core/api/stream.js";
import { urlOf } from "../api/call.js";
import { type FromHub, Hub, type LiveState, type StageCounts, type ToHub } from "./hub.js";

export type { LiveState, StageCounts } from "./hub.js";

interface Snapshot {
  state: LiveState;
  since: number;
}

let snapshot: Snapshot = { state: "connecting", since: Date.now() };
let say: ((message: ToHub) => void) | null = null;
let user_paused = false;
const state_listeners = new Set<() => void>();
const event_listeners = new Set<(event: StreamedEvent) => void>();
const progress_listeners = new Set<() => void>();
/** The latest counts by job and stage. Bounded: the jobs heard of longest ago go first. */
const progress = new Map<string, ReadonlyMap<number, StageCounts>>();
const MOST_JOBS = 2_000;

/** Once, after sign-in. `who` keeps the streams of different sign-ins apart. */
export function startLive(who: string): void {
  if (say !== null) return;
  const url = urlOf("/api/stream");
  if (typeof SharedWorker === "function") {
    const worker = new SharedWorker(new URL("./shared_hub.ts", import.meta.url), {
      type: "module",
      name: `${who} ${url}`,
    });
    worker.port.onmessage = ({ data }) => hear(data as FromHub);
    say = (message) => worker.port.postMessage(message);
  } else {
    say = new Hub(url).join(hear);
  }
  const tell = () => say?.({ type: "visible", visible: document.visibilityState === "visible" });
  document.addEventListener("visibilitychange", tell);
  // A page that is kept for the back button comes back with the same port.
  window.addEventListener("pagehide", ({ persisted }) =>
    say?.(persisted ? { type: "visible", visible: false } : { type: "leave" }),
  );
  window.addEventListener("pageshow", tell);
  tell();
}

function hear(message: FromHub): void {
  if (message.type === "state") {
    snapshot = { state: message.state, since: message.since };
    for (const listener of state_listeners) listener();
    return;
  }
  for (const stage of message.stages) {
    const known = progress.get(stage.job_id);
    progress.delete(stage.job_id);
    progress.set(stage.job_id, new Map(known).set(stage.stage_id, stage));
  }
  for (const job_id of progress.keys()) {
    if (progress.size <= MOST_JOBS) break;
    progress.delete(job_id);
  }
  if (message.stages.length > 0) for (const listener of progress_listeners) listener();
  for (const event of message.events) for (const listener of event_listeners) listener(event);
}

function listenToState(listener: () => void): () => void {
  state_listeners.add(listener);
  return () => state_listeners.delete(listener);
}

export function useLive(): { state: LiveState; since: number; toggle(): void } {
  const { state, since } = useSyncExternalStore(listenToState, () => snapshot);
  return { state, since, toggle };
}

/** Pauses for all tabs, or goes on. */
function toggle(): void {
  user_paused = snapshot.state !== "paused";
  say?.({ type: "pause", paused: user_paused });
}

export function useEvents(listener: (event: StreamedEvent) => void): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const hearEvent = (event: StreamedEvent) => latest.current(event);
    event_listeners.add(hearEvent);
    return () => void event_listeners.delete(hearEvent);
  }, []);
}

function listenToProgress(listener: () => void): () => void {
  progress_listeners.add(listener);
  return () => progress_listeners.delete(listener);
}

const nothing: ReadonlyMap<number, StageCounts> = new Map();

/** The latest counts of the job's stages, by stage_id, as far as they were told. */
export function useProgress(job_id: string): ReadonlyMap<number, StageCounts> {
  return useSyncExternalStore(listenToProgress, () => progress.get(job_id) ?? nothing);
}
