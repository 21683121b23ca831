// The records of schedules, with the names they have in SQL. Types only.
import type { z } from "zod";
import type { ReplyOf } from "../../core/api/endpoint.js";
import type { schedule_record, schedules_api } from "../../core/api/schedules.js";
import type { MissedPolicy } from "../../core/time/schedule.js";
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

export type TickRecord = ReplyOf<typeof schedules_api.ticks>["ticks"][number];
export type ScheduleRecord = Omit<z.output<typeof schedule_record>, "options"> & { options: ScheduleOptions };
/** With how its job stands by now; null: there is none. */
export type RecentTick = NonNullable<ScheduleRecord["recent"]>[number];

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
