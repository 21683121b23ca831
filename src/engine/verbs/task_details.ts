// What is read of one task when somebody looks closely, and of a job over time. Values that handlers made are handed on as the text
// the database gives: a number of twenty digits would not survive being parsed.
import type { ReplyOf } from "../../core/api/endpoint.js";
import type { timeline_api } from "../../core/api/timeline.js";
import { NotFound } from "../../core/errors/errors.js";
import type { Ref } from "../../core/places/store.js";
import { asked } from "./reply.js";
import { Noun } from "./verb.js";

export interface LogQuery {
  attempt?: number | undefined;
  /** At least so grave. */
  level?: string | undefined;
  text?: string | undefined;
  after?: string | undefined;
  before?: string | undefined;
  rows?: number | undefined;
}

export interface TimelineQuery {
  stage?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  retried?: boolean | undefined;
  most?: number | undefined;
}

export type Timeline = Omit<ReplyOf<typeof timeline_api.of_job>, "path">;

export class TaskDetails extends Noun {
  /** The whole record as JSON text. `machines`: also where workers run that serve every tenant. */
  text(
    task_id: string,
    { largest, machines }: { largest?: number | undefined; machines?: boolean } = {},
  ): Promise<string> {
    const request = JSON.stringify({ task_id, largest, machines, tenant: this.tenant });
    return asked(this.db.sql`select app.read_task(${request}::text::json)::text as reply`);
  }

  /** A value as JSON text, or where it lies. Throws NotFound where there is none. */
  async value(task_id: string, name: string): Promise<{ text: string } | { ref: Ref }> {
    const { value, spill } = await asked<{ value: string | null; spill: Ref | null }>(
      this.db.sql`select app.task_value(${task_id}::text, ${name}::text, ${this.tenant}::text) as reply`,
    );
    if (spill !== null) return { ref: spill };
    if (value !== null) return { text: value };
    throw new NotFound(`task "${task_id}" has no ${name}`, { hint: "see GET /api/tasks/{task_id}" });
  }

  /** A page as JSON text. */
  logs(task_id: string, query: LogQuery = {}): Promise<string> {
    const request = JSON.stringify({ ...query, task_id, tenant: this.tenant });
    return asked(this.db.sql`select app.page_logs(${request}::text::json)::text as reply`);
  }

  timeline(job_id: string, query: TimelineQuery = {}, machines = false): Promise<Timeline> {
    const request = JSON.stringify({ ...query, job_id, machines, tenant: this.tenant });
    return asked(this.db.sql`select app.job_timeline(${request}::text::json) as reply`);
  }
}
