// How far a group of jobs is. Pure.
import type { z } from "zod";
import type { group_record } from "../../../../src/core/api/groups.js";
import { count } from "../../../../src/core/shown/figures.js";

export type Group = z.output<typeof group_record>;

export const ended_as = ["completed", "partial_success", "failed", "cancelled"] as const;

/** "3 of 40 jobs have ended, 2 failed": of those that are expected, or else that it has. */
export function standing(group: Group): string {
  const ended = ended_as.reduce((sum, status) => sum + group[status], 0);
  const whole = Math.max(group.expected ?? 0, group.total);
  if (whole === 0) return "no job yet";
  const wrong = (["partial_success", "failed", "cancelled"] as const)
    .filter((status) => group[status] > 0)
    .map((status) => `, ${count(group[status])} ${status.replace("_", " ")}`);
  return `${count(ended)} of ${whole === 1 ? "1 job" : `${count(whole)} jobs`} ended${wrong.join("")}`;
}

/** What keeps an open group open. */
export function waitsFor(group: Group): string | null {
  if (group.status !== "open") return null;
  if (group.sealed_at === null) {
    return group.expected === null
      ? "It takes more jobs. Once it is sealed, it ends with the last of them."
      : `It takes more jobs. With the last of ${count(group.expected)} it is sealed.`;
  }
  return `It is sealed, and ends with the last of ${group.open === 1 ? "1 open job" : `${count(group.open)} open jobs`}.`;
}
