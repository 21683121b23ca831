// Jobs by the clock, and jobs that belong together.
import type { BodyIn, QueryIn, ReplyOf } from "../core/api/endpoint.js";
import { groups_api } from "../core/api/groups.js";
import { schedules_api } from "../core/api/schedules.js";
import type { Job } from "../core/declare/declare.js";
import { pause } from "./abort.js";
import type { Asking, Listing } from "./operate.js";
import { listed, type Paged } from "./pages.js";
import { type JobInput, typeOf } from "./submit.js";
import type { Transport } from "./transport.js";

export type ScheduleRecord = ReplyOf<typeof schedules_api.get>;
export type TickRecord = ReplyOf<typeof schedules_api.ticks>["ticks"][number];
/** What it is, but for its job. */
export type ScheduleOptions = Omit<BodyIn<typeof schedules_api.put>, "job_type" | "parameters">;
export type GroupRecord = ReplyOf<typeof groups_api.get>;
export type GroupJob = ReplyOf<typeof groups_api.jobs>["jobs"][number];

interface Verb extends Asking {
  reason?: string;
  actor?: string;
}

export class Schedules {
  constructor(private readonly transport: Transport) {}

  /** By name. */
  list(options: Listing = {}): Paged<ScheduleRecord> {
    return listed(this.transport, schedules_api.list, "schedules", options);
  }

  get(name: string, options: Asking = {}): Promise<ScheduleRecord> {
    return this.transport.call(schedules_api.get, { params: { name }, ...options });
  }

  /** Makes it, or replaces it: each time of its pattern gets one job. */
  put<J extends Job | string>(
    name: string,
    job: J,
    parameters: JobInput<J>,
    schedule: ScheduleOptions,
    options: Asking = {},
  ): Promise<ScheduleRecord> {
    const body = { ...schedule, job_type: typeOf(job), parameters: parameters as Record<string, unknown> };
    return this.transport.call(schedules_api.put, { params: { name }, body, ...options });
  }

  /** Changes what is named and keeps the rest. */
  patch(name: string, changes: BodyIn<typeof schedules_api.patch>, options: Asking = {}): Promise<ScheduleRecord> {
    return this.transport.call(schedules_api.patch, { params: { name }, body: changes, ...options });
  }

  /** Its jobs stay. */
  delete(name: string, options: Asking = {}) {
    return this.transport.call(schedules_api.delete, { params: { name }, ...options });
  }

  pause(name: string, { signal, ...body }: Verb = {}) {
    return this.transport.call(schedules_api.pause, { params: { name }, body, signal });
  }

  continue(name: string, { signal, ...body }: Verb = {}) {
    return this.transport.call(schedules_api.continue, { params: { name }, body, signal });
  }

  /** Submits its job now, whatever the clock says. */
  run(name: string, { signal, ...body }: Verb = {}) {
    return this.transport.call(schedules_api.run, { params: { name }, body, signal });
  }

  /** Its times and what became of them, newest first. */
  ticks(name: string, options: Listing = {}): Paged<TickRecord> {
    return listed(this.transport, schedules_api.ticks, "ticks", options, { name });
  }

  /** The next times of a schedule. */
  preview(name: string, query: QueryIn<typeof schedules_api.preview> = {}, options: Asking = {}) {
    return this.transport.call(schedules_api.preview, { params: { name }, query, ...options });
  }

  /** The next times of a pattern, before a schedule is made of it. */
  previewPattern(query: QueryIn<typeof schedules_api.previewPattern>, options: Asking = {}) {
    return this.transport.call(schedules_api.previewPattern, { query, ...options });
  }
}

export class Groups {
  constructor(private readonly transport: Transport) {}

  /** Newest first. */
  list(filter: Omit<QueryIn<typeof groups_api.list>, "limit" | "cursor"> & Listing = {}): Paged<GroupRecord> {
    return listed(this.transport, groups_api.list, "groups", filter);
  }

  /** Opens it before its first job; one also opens by itself when a job names it. */
  create(group_id: string, group: BodyIn<typeof groups_api.create> = {}, options: Asking = {}): Promise<GroupRecord> {
    return this.transport.call(groups_api.create, { params: { group_id }, body: group, ...options });
  }

  get(group_id: string, options: Asking = {}): Promise<GroupRecord> {
    return this.transport.call(groups_api.get, { params: { group_id }, ...options });
  }

  /** No more jobs join it: it ends when all it has have ended. */
  seal(group_id: string, { signal, ...body }: Asking & { actor?: string } = {}) {
    return this.transport.call(groups_api.seal, { params: { group_id }, body, signal });
  }

  /** Newest first. */
  jobs(group_id: string, { open, ...options }: Listing & { open?: boolean } = {}): Paged<GroupJob> {
    const only = open === undefined ? {} : { open: String(open) };
    return listed(this.transport, groups_api.jobs, "jobs", { ...options, ...only }, { group_id });
  }

  /** Cancels its open jobs; of very many it says how many are left. */
  cancel(group_id: string, { signal, ...body }: Verb & { dry_run?: boolean } = {}) {
    return this.transport.call(groups_api.cancel, { params: { group_id }, body, signal });
  }

  /** Resolves with the group at its end; one that nobody seals does not end. */
  async wait(group_id: string, { signal }: Asking = {}): Promise<GroupRecord> {
    for (let pause_ms = 100; ; pause_ms = Math.min(pause_ms * 1.5, 2_000)) {
      const group = await this.get(group_id, { signal });
      if (group.status !== "open") return group;
      await pause(pause_ms, signal);
    }
  }
}
