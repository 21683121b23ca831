// One attempt at a task, as its worker sees it: the task it was given, how far it has come (its phase), and whether it was asked to stop.
// There is one for each task at a hundred thousand a second, so all that can be read off the claim and the task is a getter.
import type { ClaimedTask } from "../../engine/work/commands.js";
import type { HeldClaim } from "../claim/held.js";
import type { AttemptTrace } from "./tracing.js";

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

export type StopKind = "timeout" | "lost" | "cancelled" | "stopping";

/** Why a task was asked to stop, and when. */
export interface Stop {
  kind: StopKind;
  reason: Error;
  at: number;
}

export class Attempt {
  phase: Phase = "running";
  stop: Stop | null = null;
  /** Ends the process of an isolated handler at once. */
  kill: (() => void) | undefined;
  /** What its time-out counts from. An isolated handler starts when its process is up. */
  timed_from: number;
  /** Where this process has an OpenTelemetry SDK. */
  trace: AttemptTrace | undefined;
  private controller: AbortController | undefined;

  constructor(
    readonly claim: HeldClaim,
    readonly task: ClaimedTask,
    readonly started_at: number,
  ) {
    this.timed_from = started_at;
  }

  get task_id(): string {
    return `${this.claim.stage.stage_id}-${this.task[0]}`;
  }

  get tenant_id(): string {
    return this.claim.stage.tenant_id;
  }

  get job_id(): string | null {
    return this.claim.stage.job_id;
  }

  get task_type(): string {
    return this.claim.stage.task_type;
  }

  get ordinal(): number {
    return this.task[0];
  }

  get index(): string {
    return this.task[1] ?? String(this.task[0]);
  }

  get attempt(): number {
    return this.claim.attempt;
  }

  /** Null parameters in the database are the job's. */
  get parameters(): unknown {
    return this.task[2] ?? this.claim.stage.parameters ?? {};
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.stop !== null) this.controller.abort(this.stop.reason);
    }
    return this.controller.signal;
  }

  /** The first reason stands: a task that timed out stays timed out when the worker stops afterwards. */
  abort(kind: StopKind, reason: Error, at = performance.now()): void {
    if (this.stop !== null) {
      if (kind === "lost") this.stop.kind = kind;
      return;
    }
    this.stop = { kind, reason, at };
    this.controller?.abort(reason);
  }

  /** False when the task has gone another way meanwhile: then there is nothing left to do for it. */
  enter(next: LaterPhase): boolean {
    if (!(followers[this.phase] as readonly Phase[]).includes(next)) return false;
    this.phase = next;
    return true;
  }

  /** Others have it, or may have it: nothing of it may be finished. */
  get is_lost(): boolean {
    return this.claim.lost || this.stop?.kind === "lost";
  }
}
