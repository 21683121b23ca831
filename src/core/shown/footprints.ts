// The states of tasks on the map: a task that waits for another attempt, or for its time, is not simply queued. Without zod, for the
// page. Pure.

export const footprint_states = [
  "queued",
  "later",
  "processing",
  "retrying",
  "completed",
  "failed",
  "skipped",
  "cancelled",
] as const;
export type FootprintState = (typeof footprint_states)[number];
/** The letter of each state, in the same order. */
export const footprint_letters = "qlprcfsx";
