// Requests without a worker process: recipes are told to the database as a worker would, jobs have one task each, and tests claim and finish
// by hand.
import type { Queryable } from "../../src/engine/database/database.js";
import { one } from "../engine/floor.js";

export interface RecipeJob {
  name: string;
  job?: string;
  [setting: string]: unknown;
}

export interface SeenRequest {
  request_id: string;
  status: string;
  run: number;
  epoch: number;
  created: boolean;
  resumed: boolean;
  error: { message: string; job: string; code?: string } | null;
  result_data: { counts: Record<string, number>; outputs: Record<string, unknown> } | null;
  jobs: {
    name: string;
    job_id: string | null;
    status: string;
    sequence: number;
    skip_reason: string | null;
    error: { code: string; message: string } | null;
    superseded: string[];
  }[];
}

/** Job types j_<name>, each of one stage with one task t.<name>. */
export async function recipe(db: Queryable, data_type: string, jobs: RecipeJob[], more: object = {}): Promise<void> {
  const declared: (RecipeJob & { job: string })[] = jobs.map((job, place) => ({
    job: `j_${job.name}`,
    number: place + 1,
    ...job,
  }));
  const blueprints = declared.map(({ name, job, stages }) => ({
    type: job,
    stages: stages ?? [{ name: "only", task: `t.${name}` }],
  }));
  await db.sql`select app.register_blueprints(${JSON.stringify(blueprints)}::text::jsonb)`;
  const recipes = [{ data_type, jobs: declared.map(({ stages: _, ...job }) => job), ...more }];
  await db.sql`select platform.register_recipes(${JSON.stringify(recipes)}::text::jsonb)`;
}

let number = 0;

export async function ask(
  db: Queryable,
  data_type: string,
  more: object = {},
  tenant = "default",
): Promise<SeenRequest> {
  const request = { dataset_id: `d${number++}`, resource_id: "r", version_id: "1", data_type, ...more };
  const { reply } = await one(
    db.sql<{ reply: SeenRequest }>`select platform.submit(${JSON.stringify(request)}::text::jsonb, ${tenant}) as reply`,
  );
  return reply;
}

export async function seen(db: Queryable, id: string, tenant = "default") {
  const { reply } = await one(db.sql<{ reply: SeenRequest }>`select platform.get_request(${id}, ${tenant}) as reply`);
  return { ...reply, job: (name: string) => reply.jobs.find((job) => job.name === name)! };
}

export async function statuses(db: Queryable, id: string): Promise<string[]> {
  const { status, jobs } = await seen(db, id);
  return [status, ...jobs.map((job) => job.status)];
}
