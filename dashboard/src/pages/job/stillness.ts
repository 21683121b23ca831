// Since when the stages of a job have not moved. Pure.
import type { Job } from "./records.js";

type Stage = Pick<Job["stages"][number], "number" | "status" | "completed" | "failed" | "skipped">;

/** By number of a stage that is open: its counts, and when they last changed. */
export type Stills = ReadonlyMap<number, { counts: string; at: number }>;

export function stillsOf(former: Stills, stages: readonly Stage[], now: number): Stills {
  const stills = new Map<number, { counts: string; at: number }>();
  for (const { number, status, completed, failed, skipped } of stages) {
    if (status !== "planning" && status !== "processing") continue;
    const counts = `${status} ${completed} ${failed} ${skipped}`;
    const known = former.get(number);
    stills.set(number, known?.counts === counts ? known : { counts, at: now });
  }
  return stills;
}

/** A job whose one branch runs may have another that waits: the one that has stood still the longest counts. */
export function stillSince(stills: Stills, now: number): number {
  return Math.min(now, ...Array.from(stills.values(), ({ at }) => at));
}
