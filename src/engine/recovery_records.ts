// What the recovery verbs answer, with the names it has in SQL. Types only.
import type { JobStatus, StageStatus } from "../core/statuses.js";

export interface RepairReply {
  job_id: string;
  status: JobStatus;
  epoch: number;
  resume_count: number;
  from_stage: number;
  /** Tasks that run again in any case; what follows them runs again as far as its input changes. */
  again: number;
  /** Of a dry run: there may be more, of an error group with very many failures. */
  at_least: boolean;
  kept: number;
  stages: { number: number; stage: string; again: number; at_most: number; kept: number; follows: boolean }[];
  dry_run: boolean;
  changed: boolean;
}

export interface SkipReply {
  task_id: string;
  status: string;
  dry_run: boolean;
  changed: boolean;
}

/** What of a selection of tasks a verb touches, and what it leaves as it is. */
export interface Selected {
  stage: string;
  stage_id: number;
  selected: number;
  /** How many of each status. */
  touched: Record<string, number>;
  left: { reason: string; tasks: number; text: string }[];
}

export type RetriedTasks = RepairReply & Selected;

export interface SkippedTasks extends Selected {
  job_id: string;
  tasks: number;
  dry_run: boolean;
  changed: boolean;
}

export interface PauseReply {
  paused: boolean;
  queued: number;
  dry_run: boolean;
  changed: boolean;
}

export interface JobPauseReply extends PauseReply {
  job_id: string;
  status: JobStatus;
}

export interface TypePauseReply extends PauseReply {
  task_type: string;
}

export interface GateDecision {
  approved: boolean;
  by: string;
  why: string | null;
  at: string;
}

export interface GateReply {
  job_id: string;
  stage: string;
  status?: StageStatus;
  decision: GateDecision | null;
  dry_run: boolean;
  changed: boolean;
}

export interface ErrorGroup {
  signature: string;
  category: string;
  code: string;
  /** With paths, ids and numbers masked. */
  message: string;
  sample: string;
  tasks: number;
  quarantined: boolean;
  stages: string[];
  first_at: string;
  last_at: string;
  task_ids: string[];
  /** The command that runs this group again. */
  retry: string;
}

export interface ErrorReport {
  /** Failed tasks of the job. */
  failed: number;
  /** So many of them were looked at and grouped. */
  looked_at: number;
  /** In so many groups; the largest are told. */
  group_count: number;
  groups: ErrorGroup[];
}

export interface VerifiedStage {
  number: number;
  stage: string;
  status: StageStatus;
  total: number;
  ready: number;
  claims: number;
  completed: number;
  failed: number;
  skipped: number;
  absent: number;
  problems: string[];
}

export interface VerifyReport {
  job_id: string;
  job_type: string;
  status: JobStatus;
  epoch: number;
  stages: VerifiedStage[];
  /** Spilled files that were read and compared with their checksums. */
  files: number;
  /** All files of the job: these, and its assets, which are looked after by their own checksums. */
  file_count: number;
  problems: string[];
  ok: boolean;
}

export interface Why {
  /** The job or task that was asked about. */
  id: string;
  status: string;
  /** A word of the closed list, e.g. NO_WORKER_FOR_TYPE. */
  code: string;
  reason: string;
  evidence: Record<string, unknown>;
  since: string | null;
  /** When it changes by itself, as far as rows can tell; null: it does not, or nobody knows. */
  heals_at: string | null;
  heals: string | null;
  /** The one command to run; null when waiting is all there is to do. */
  command: string | null;
}

/** An alert as it was written down; `data.target` is what it is about. */
export interface AlertRecord {
  event_id: number;
  at: string;
  alert: string;
  reason: string | null;
  tenant_id: string;
  job_id: string | null;
  stage_id: number | null;
  actor: string;
  data: Record<string, unknown>;
}

export interface JanitorAction {
  event_id: number;
  at: string;
  run_id: string | null;
  action: string;
  target: string | null;
  reason: string | null;
  job_id: string | null;
  stage_id: number | null;
  data: Record<string, unknown>;
}

export interface JanitorHealth {
  last_run_at: string | null;
  last_success_at: string | null;
  last_error: string | null;
  age_s: number | null;
  late: boolean;
}
