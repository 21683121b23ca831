// The states of tasks on the map, in the order in which the server counts them, and how they are read. The list stands in
// src/core/api/footprints.ts, which would bring zod into the page.
import type { FootprintState } from "../../../../src/core/api/footprints.js";

export type { FootprintState } from "../../../../src/core/api/footprints.js";

export const footprint_states: readonly FootprintState[] = [
  "queued",
  "later",
  "processing",
  "retrying",
  "completed",
  "failed",
  "skipped",
  "cancelled",
];
export const footprint_letters = "qlprcfsx";
