// How far a task has come in its worker, and what may follow what. Pure.

/**
 * running: its handler has not returned. storing: it has, and its result is being written to storage, here or by its process.
 * committing: the database writes its result together with what it kept for its finish. settled: its end is recorded, and its
 * slot free. given_up: the same, but its handler did not stop when asked and may still run.
 */
const followers = {
  running: ["storing", "committing", "settled", "given_up"],
  storing: ["committing", "settled", "given_up"],
  committing: ["settled", "given_up"],
  settled: [],
  given_up: [],
} as const;

export type Phase = keyof typeof followers;
/** A phase that a task can enter: all but the one it starts with. */
export type LaterPhase = (typeof followers)[Phase][number];

export function mayFollow(phase: Phase, next: LaterPhase): boolean {
  return (followers[phase] as readonly Phase[]).includes(next);
}
