// Platform requests as the load of a fault: what was answered exists once, every request ends, and of each there are three jobs with the right
// total, opened one after the other, and one end that was told.
import { expect } from "vitest";
import { eventually } from "../worker/shop.js";
import { expectedTotal } from "./job.js";
import type { Scene } from "./scene.js";

export const TASKS = 4;

export type Ask = (request: { dataset_id: string; resource_id: string; version_id: string }) => Promise<string>;

export class RequestLoad {
  /** By dataset. */
  readonly answered = new Map<string, string>();

  constructor(
    private readonly scene: Scene,
    private readonly ms = 5,
    private readonly ask: Ask = (request) => this.#engine(request),
  ) {}

  async #engine(request: { dataset_id: string; resource_id: string; version_id: string }): Promise<string> {
    const parameters = { n: TASKS, ms: this.ms };
    const sent = { ...request, data_type: "chained", parameters };
    return (await this.scene.patiently(() => this.scene.engine.requests.submit(sent))).request_id;
  }

  async submit(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const dataset_id = `d${this.answered.size}`;
      this.answered.set(dataset_id, await this.ask({ dataset_id, resource_id: "r", version_id: "1" }));
    }
  }

  readonly settled = async (): Promise<boolean> => {
    const [row] = await this.scene.patiently(
      () =>
        this.scene.db.sql<{
          n: number;
        }>`select count(*)::int as n from platform.requests where finished_at is not null`,
    );
    return row!.n >= this.answered.size;
  };

  /** 0 stuck, 0 lost, 0 doubled. */
  async settle(): Promise<void> {
    await eventually(this.settled);
    const { db } = this.scene;
    const requests = await db.sql<{ dataset_id: string; request_id: string; status: string; told: number }>`
      select r.dataset_id, r.request_id, r.status, (
          select count(*)::int from app.events e where e.request_id = r.request_id and e.kind = 'request.completed') as told
        from platform.requests r`;
    expect(new Map(requests.map(({ dataset_id, request_id }) => [dataset_id, request_id]))).toEqual(this.answered);
    expect(requests.filter(({ status, told }) => status !== "completed" || told !== 1)).toEqual([]);
    const jobs = await db.sql<{ name: string; status: string; total: number; runs: number; in_order: boolean }>`
      select j.name, q.status, (app.job_result(q.tenant_id, q.job_id) ->> 'value')::int as total, (
          select count(*)::int from app.jobs a where a.request_id = j.request_id and a.job_type = q.job_type and a.parameters = q.parameters) as runs,
          not exists (
            select from platform.request_jobs b join app.jobs p on p.job_id = b.job_id
             where b.request_id = j.request_id and b.number = j.number - 1 and p.finished_at > q.created_at) as in_order
        from platform.request_jobs j join app.jobs q on q.tenant_id = j.tenant_id and q.job_id = j.job_id`;
    expect(jobs).toHaveLength(3 * requests.length);
    const right = { status: "completed", total: expectedTotal(TASKS), runs: 1, in_order: true };
    expect(jobs.filter(({ name: _, ...job }) => JSON.stringify(job) !== JSON.stringify(right))).toEqual([]);
    this.scene.notes.push(`${requests.length} requests`);
  }
}
