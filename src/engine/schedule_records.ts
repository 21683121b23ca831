// The records of schedules, with the names they have in SQL. Types only.
import type { MissedPolicy } from "../core/schedule.js";
import type { JobStatus } from "../core/statuses.js";
import type { SubmitOptions } from "./records.js";

/** Submit options of a schedule's jobs. */
export type ScheduleOptions = Pick<
  SubmitOptions,
  "priority" | "labels" | "deadline_s" | "deadline_from" | "correlation_id" | "group_id" | "retry"
>;

/** What a schedule is made of. */
export interface ScheduleGiven {
  cron: string;
  time_zone?: string;
  job_type: string;
  /** A string that is exactly "{{tick_at}}" becomes the time it is submitted for. */
  parameters?: Record<string, unknown>;
  options?: ScheduleOptions;
  missed?: MissedPolicy;
  description?: string | null;
}

export interface TickRecord {
  tick_at: string;
  outcome: "submitted" | "failed" | "missed";
  job_id: string | null;
  /** So many earlier times it stands for; counted no further than a thousand. */
  missed: number;
  by_hand: boolean;
  actor: string | null;
  reason: string | null;
  at: string;
}

/** With how its job stands by now; null: there is none. */
export interface RecentTick extends TickRecord {
  job_status: JobStatus | null;
}

export interface ScheduleRecord {
  name: string;
  description: string | null;
  cron: string;
  time_zone: string;
  /** The cron pattern in words. */
  words: string;
  job_type: string;
  parameters: Record<string, unknown>;
  options: ScheduleOptions;
  missed: MissedPolicy;
  /** One more with each change. */
  version: number;
  paused_at: string | null;
  paused_by: string | null;
  pause_reason: string | null;
  /** Null while it is paused, and when there is no further time. */
  next_at: string | null;
  last_at: string | null;
  last: TickRecord | null;
  created_at: string;
  created_by: string;
  updated_at: string;
  updated_by: string;
  /** Its last times, newest first, where the list was asked for them. */
  recent?: RecentTick[];
  /** Its next times, where the list was asked for them. */
  fires?: string[];
}

/** What a scheduler learns of a schedule that is due. */
export interface DueSchedule {
  schedule_id: number;
  tenant_id: string;
  name: string;
  cron: string;
  time_zone: string;
  job_type: string;
  parameters: Record<string, unknown>;
  options: ScheduleOptions;
  missed: MissedPolicy;
  version: number;
  next_at: string;
}
