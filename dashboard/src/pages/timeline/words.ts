// A timeline in words: durations, the steps of the slowest path, and what it was spent on. Pure.
import type { SegmentKind } from "../../../../src/core/shown/timeline.js";
import type { Step } from "./layout.js";

export function durationWords(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = ms / 1000;
  if (s < 10) return `${s.toFixed(1)} s`;
  if (s < 60) return `${Math.round(s)} s`;
  const minutes = Math.floor(Math.round(s) / 60);
  if (minutes < 60) return Math.round(s) % 60 === 0 ? `${minutes} m` : `${minutes} m ${Math.round(s) % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} m`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Below this a part of the way is not worth a word. */
const WORTH = 0.02;

/** One step in words: "waited 41 s, failed once, ran 2 m 50 s (3.1 times the median)". */
export function stepWords(step: Step, whole_ms: number): string {
  const least = Math.max(whole_ms * WORTH, 1);
  const words: string[] = [];
  if (step.approval_ms >= least) words.push(`waited ${durationWords(step.approval_ms)} for approval`);
  if (step.planning_ms >= least) words.push(`was planned in ${durationWords(step.planning_ms)}`);
  if (step.waiting_ms >= least) words.push(`waited ${durationWords(step.waiting_ms)} for a worker`);
  if (step.failures > 0) {
    const times = step.failures === 1 ? "once" : step.failures === 2 ? "twice" : `${step.failures} times`;
    const lost = step.lost_ms + step.retry_ms;
    words.push(`failed ${times}${lost >= least ? ` (${durationWords(lost)} lost)` : ""}`);
  }
  const ratio = step.median_ms !== null && step.median_ms > 0 ? step.running_ms / step.median_ms : 0;
  const slow = ratio >= 2 && step.running_ms >= least ? ` (${ratio.toFixed(ratio < 10 ? 1 : 0)} times the median)` : "";
  if (step.status === "processing") words.push(`has run ${durationWords(step.running_ms)}${slow}`);
  else if (step.status === "queued") words.push("waits still");
  else words.push(`ran ${durationWords(step.running_ms)}${slow}`);
  return words.join(", ");
}

const advice: Record<Step["largest"], string> = {
  approval: "Most of it was spent waiting for a person.",
  planning: "Most of it was spent on planning a stage.",
  waiting: "Most of it was spent waiting for a worker: more slots would shorten it.",
  retry: "Most of it was spent between failures and the next try.",
  lost: "Most of it was spent in attempts that came to nothing.",
  running: "Most of it was spent running.",
};

/** What the whole path was spent on most. */
export function pathAdvice(path: readonly Step[]): string | null {
  if (path.length === 0) return null;
  const parts: Record<Step["largest"], number> = {
    approval: 0,
    planning: 0,
    waiting: 0,
    retry: 0,
    lost: 0,
    running: 0,
  };
  for (const step of path) {
    for (const part of Object.keys(parts) as Step["largest"][]) parts[part] += step[`${part}_ms`];
  }
  const [largest] = Object.entries(parts).reduce((best, one) => (one[1] > best[1] ? one : best));
  return advice[largest as Step["largest"]];
}

export const segment_words: Record<SegmentKind, string> = {
  waiting: "waiting for a worker",
  retry_gap: "waiting to be tried again",
  running: "running",
  completed: "completed",
  failed: "failed",
  lost: "lost with its worker",
  released: "given back",
  late: "too late: refused",
};
