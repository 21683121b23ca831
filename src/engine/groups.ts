// Groups of jobs: opened, sealed, looked at, cancelled. A group ends by itself, in the transaction in which its last job does.
import { performance } from "node:perf_hooks";
import type { Queryable } from "./database.js";
import type { JobPage } from "./records.js";
import { asked } from "./reply.js";

export type GroupStatus = "open" | "completed" | "partial_success" | "failed" | "cancelled";

export interface GroupRecord {
  group_id: string;
  name: string | null;
  status: GroupStatus;
  created_at: string;
  created_by: string;
  /** So many jobs it will have. */
  expected: number | null;
  sealed_at: string | null;
  sealed_by: string | null;
  finished_at: string | null;
  total: number;
  open: number;
  completed: number;
  partial_success: number;
  failed: number;
  cancelled: number;
  /** What it waits for, in one sentence. */
  hint: string;
}

export interface GroupPage {
  groups: GroupRecord[];
  next: string | null;
}

export interface GroupCancelReply {
  group_id: string;
  /** Open jobs that were, or would be, cancelled. */
  cancelled: number;
  /** Open jobs that are left: call again. */
  left: number;
  dry_run: boolean;
  changed: boolean;
}

export interface NewGroup {
  group_id: string;
  name?: string | null;
  /** With so many jobs it is sealed. */
  expected?: number | null;
  actor?: string | null;
}

export class Groups {
  constructor(
    private readonly db: Queryable,
    private readonly tenant: string,
  ) {}

  /** Opens a group before its first job; the same again changes nothing. */
  create(group: NewGroup): Promise<{ created: boolean; group: GroupRecord }> {
    const request = JSON.stringify({ ...group, tenant: this.tenant });
    return asked(this.db.sql`select app.create_group(${request}::text::json) as reply`);
  }

  get(group_id: string): Promise<GroupRecord> {
    return asked(this.db.sql`select app.get_group(${group_id}::text, ${this.tenant}::text) as reply`);
  }

  list({
    status = null,
    limit = 50,
    cursor = null,
  }: {
    status?: GroupStatus | null;
    limit?: number;
    cursor?: string | null;
  } = {}): Promise<GroupPage> {
    return asked(
      this.db.sql`select app.list_groups(
        ${status}::text, ${limit}::integer, ${cursor}::text, ${this.tenant}::text) as reply`,
    );
  }

  /** No job joins it any more; it ends when all it has have ended. */
  seal(
    group_id: string,
    { actor = null }: { actor?: string | null } = {},
  ): Promise<{ changed: boolean; group: GroupRecord }> {
    return asked(this.db.sql`select app.seal_group(${group_id}::text, ${this.tenant}::text, ${actor}::text) as reply`);
  }

  jobs(
    group_id: string,
    { open = false, limit = 50, cursor = null }: { open?: boolean; limit?: number; cursor?: string | null } = {},
  ): Promise<JobPage> {
    return asked(
      this.db.sql`select app.list_group_jobs(
        ${group_id}::text, ${open}::boolean, ${limit}::integer, ${cursor}::text, ${this.tenant}::text) as reply`,
    );
  }

  /**
   * Cancels the group's open jobs, one transaction each: ending a job takes locks in an order that holds for one job at a
   * time. After `limit_s` it stops and says how many are left.
   */
  async cancel(
    group_id: string,
    {
      reason = null,
      dry_run = false,
      actor = null,
      limit_s = 20,
    }: { reason?: string | null; dry_run?: boolean; actor?: string | null; limit_s?: number } = {},
  ): Promise<GroupCancelReply> {
    const { open } = await this.get(group_id);
    const reply = { group_id, cancelled: 0, left: open, dry_run, changed: false };
    if (dry_run) return { ...reply, cancelled: open, left: 0 };
    const why = reason ?? `its group ${group_id} was cancelled`;
    const started = performance.now();
    for (let cursor: string | null = null; ; ) {
      const page: JobPage = await this.jobs(group_id, { open: true, limit: 200, cursor });
      for (const { job_id } of page.jobs) {
        if (performance.now() - started > limit_s * 1000) return { ...reply, left: (await this.get(group_id)).open };
        if (await this.#cancelJob(job_id, why, actor)) reply.cancelled++;
        reply.changed = reply.cancelled > 0;
      }
      if (page.next === null) return { ...reply, left: 0 };
      cursor = page.next;
    }
  }

  /** One that ended by itself meanwhile needs no cancelling. */
  async #cancelJob(job_id: string, reason: string, actor: string | null): Promise<boolean> {
    try {
      const { changed } = await asked<{ changed: boolean }>(
        this.db.sql`select app.cancel_job(
          ${job_id}::text, ${reason}::text, ${this.tenant}::text, false, ${actor}::text) as reply`,
      );
      return changed;
    } catch (error) {
      if ((error as { code?: unknown }).code === "not_allowed_now") return false;
      throw error;
    }
  }
}
