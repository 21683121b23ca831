// Groups of jobs: opened, sealed, looked at, cancelled. A group ends by itself, in the transaction in which its last job does.
import { performance } from "node:perf_hooks";
import type { ReplyOf } from "../../core/api/endpoint.js";
import { groups_api } from "../../core/api/groups.js";
import { operations_api } from "../../core/api/operations.js";
import type { JobPage } from "./records.js";
import { asked } from "./reply.js";
import { Noun } from "./verb.js";
import { worded } from "./worded.js";

export type GroupRecord = ReplyOf<typeof groups_api.get>;
export type GroupStatus = GroupRecord["status"];
export type GroupPage = ReplyOf<typeof groups_api.list>;
export type GroupCancelReply = ReplyOf<typeof groups_api.cancel>;

export interface NewGroup {
  group_id: string;
  name?: string | null;
  /** With so many jobs it is sealed. */
  expected?: number | null;
  actor?: string | null;
}

interface Page {
  limit?: number;
  cursor?: string | null;
}

export class Groups extends Noun {
  /** Opens a group before its first job; the same again changes nothing. */
  async create(group: NewGroup): Promise<{ created: boolean; group: GroupRecord }> {
    const request = JSON.stringify({ ...group, tenant: this.tenant });
    const reply = await asked(this.db.sql`select app.create_group(${request}::text::json) as reply`);
    return worded("create_group", reply, this.words);
  }

  get(group_id: string): Promise<GroupRecord> {
    return this.call(groups_api.get, { group_id });
  }

  list(page: Page & { status?: GroupStatus | null } = {}): Promise<GroupPage> {
    return this.call(groups_api.list, page);
  }

  /** No job joins it any more; it ends when all it has have ended. */
  seal(group_id: string, given: { actor?: string | null } = {}) {
    return this.call(groups_api.seal, { group_id, ...given });
  }

  jobs(group_id: string, page: Page & { open?: boolean } = {}): Promise<JobPage> {
    return this.call(groups_api.jobs, { group_id, ...page });
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
      return (await this.call(operations_api.cancel, { job_id, reason, actor })).changed;
    } catch (error) {
      if ((error as { code?: unknown }).code === "not_allowed_now") return false;
      throw error;
    }
  }
}
