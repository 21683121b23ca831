// What a tenant does without naming a thing: makes things, lists them, works. What it made is noted, and lists are compared
// with what was noted.
import { expect } from "vitest";
import type { Job } from "../../src/client/index.js";
import { claim, finish, register } from "../engine/floor.js";
import { type Chance, pick, whole } from "./tenant_deeds.js";
import type { Outcome, Side } from "./tenant_side.js";
import { things, type Walk } from "./tenant_things.js";

/** Those that make things come first. */
export function walks(jobs: readonly Job[]): Walk[] {
  // Few different ones, so that the two tenants often ask for the same.
  const parameters = (chance: Chance) => ({ n: 1 + whole(chance, 2), v: whole(chance, 6) });
  const options = (side: Side) => ({ labels: { marker: side.marker }, correlation_id: side.marker });
  const submitted = (side: Side, outcome: Outcome) => {
    expect(outcome.refused).toBeNull();
    const { job_id, created } = outcome.value;
    expect(created, "a job is new exactly when the tenant had none like it").toBe(!side.owned.job.has(job_id));
    side.note("job", job_id);
    return outcome;
  };
  const enqueued = (side: Side, key: string, outcome: Outcome) => {
    expect(outcome.refused).toBeNull();
    const task_id: string = outcome.value.task_id ?? outcome.value.task_ids[0];
    const known = side.enqueued.get(key);
    if (known !== undefined) expect(task_id, "the same key is the same task, within the tenant").toBe(known);
    expect(Number(outcome.value.created)).toBe(known === undefined ? 1 : 0);
    side.enqueued.set(key, task_id);
    side.note("task", task_id);
    return outcome;
  };
  const lone = (side: Side, key: string) => ({ parameters: { marker: side.marker }, idempotency_key: key });
  return [
    {
      name: "submit",
      doors: {
        http: async (side, chance) =>
          submitted(
            side,
            await side.http("POST", `/api/jobs/submit/${pick(chance, jobs).type}`, {
              parameters: parameters(chance),
              ...options(side),
            }),
          ),
        sdk: async (side, chance) => {
          const job = pick(chance, jobs);
          return submitted(
            side,
            await side.sdk((client) => client.submit(job.type, parameters(chance), options(side))),
          );
        },
        sql: async (side, chance) => {
          const { blueprint } = pick(chance, jobs);
          return submitted(
            side,
            await side.sql("submit", { blueprint, parameters: parameters(chance), options: options(side) }),
          );
        },
      },
    },
    {
      name: "enqueue",
      doors: {
        http: async (side, chance) => {
          const key = `key-${whole(chance, 8)}`;
          return enqueued(side, key, await side.http("POST", "/api/tasks/enqueue/t.lone", lone(side, key)));
        },
        sdk: async (side, chance) => {
          const key = `key-${whole(chance, 8)}`;
          const { parameters: given, ...more } = lone(side, key);
          return enqueued(side, key, await side.sdk((client) => client.enqueue("t.lone", given, more)));
        },
        sql: async (side, chance) => {
          const key = `key-${whole(chance, 8)}`;
          return enqueued(side, key, await side.sql("enqueue", { task_type: "t.lone", ...lone(side, key) }));
        },
      },
    },
    {
      name: "list jobs",
      doors: {
        http: async (side) => {
          const outcome = await side.http("GET", "/api/jobs?limit=1000");
          return side.expectAll(
            "job",
            outcome,
            outcome.value.jobs.map((job: { job_id: string }) => job.job_id),
          );
        },
        sdk: async (side) => {
          const outcome = await side.sdk((client) => client.jobs({ limit: 7 }).all());
          return side.expectAll(
            "job",
            outcome,
            outcome.value.map((job: { job_id: string }) => job.job_id),
          );
        },
        sql: async (side) => {
          const outcome = await side.rows("jobs");
          return side.expectAll(
            "job",
            outcome,
            outcome.value.map((job: { job_id: string }) => job.job_id),
          );
        },
      },
    },
    {
      name: "list lone tasks",
      doors: {
        http: async (side) => {
          const outcome = await side.http("GET", "/api/tasks?type=t.lone&limit=1000");
          return side.expectAll(
            "task",
            outcome,
            outcome.value.tasks.map((task: { task_id: string }) => task.task_id),
          );
        },
        sdk: async (side) => {
          const outcome = await side.sdk((client) => client.tasks({ type: "t.lone", limit: 3 }).all());
          return side.expectAll(
            "task",
            outcome,
            outcome.value.map((task: { task_id: string }) => task.task_id),
          );
        },
      },
    },
    ...things,
    ...[
      "/api/jobs/counts",
      "/api/jobs/facets",
      "/api/views",
      "/api/workers",
      "/api/queues",
      "/api/janitor",
      "/api/alerts",
      "/api/limits",
      "/api/deliveries",
      "/api/health",
    ].map(
      (path): Walk => ({
        name: path,
        doors: { http: (side) => side.http("GET", path) },
      }),
    ),
    {
      name: "read tables",
      doors: {
        sql: (side, chance) =>
          side.rows(
            pick(chance, [
              "stages",
              "tasks",
              "ready",
              "claims",
              "results",
              "attempts",
              "workers",
              "events",
              "blueprints",
              "limits",
              "idempotency_keys",
              "task_states",
              "tenants",
              "api_keys",
              "sessions",
              "webhook_endpoints",
              "webhook_deliveries",
              "schedules",
              "schedule_ticks",
              "job_groups",
              "job_dependencies",
              "job_tallies",
              "saved_views",
            ]),
          ),
      },
    },
    { name: "work", doors: { http: workOverHttp, sql: workOverSql } },
  ];
}

const types = ["t.a", "t.checked", "t.fold", "t.lone"];
const fails = (chance: Chance) => chance() < 0.3;

/** Registers, takes tasks, and says what became of them. Each must be the tenant's own. */
async function workOverHttp(side: Side, chance: Chance): Promise<Outcome> {
  const worker = await side.http("POST", "/api/workers/register", { types, host: side.marker, lease_s: 600 });
  const { worker_id } = worker.value;
  side.note("worker", worker_id);
  const claimed = await side.http("POST", `/api/workers/${worker_id}/claim`, { limit: 1 + whole(chance, 4) });
  side.assertClean(claimed, null);
  if (claimed.value.tasks.length === 0) return claimed;
  const tasks = claimed.value.tasks.map(({ task_id, claim_id, attempt }: Record<string, unknown>) => ({
    task_id,
    claim_id,
    attempt,
    ...(fails(chance)
      ? { error: { message: `no ${side.marker}`, category: "permanent" } }
      : { result: { by: side.marker } }),
  }));
  const finished = await side.http("POST", `/api/workers/${worker_id}/finish`, { tasks });
  expect(finished.value).toMatchObject({ accepted: tasks.length, refused: [] });
  // The other's worker is not one's own, whatever one holds.
  const theirs = [...side.other.owned.worker].at(-1);
  if (theirs !== undefined) {
    const forged = await side.http("POST", `/api/workers/${theirs}/finish`, { tasks });
    expect(forged.refused).toBe("stale_worker");
  }
  return finished;
}

async function workOverSql(side: Side, chance: Chance): Promise<Outcome> {
  const worker_id = await register(side.db, types, 600);
  side.note("worker", worker_id);
  const held = await claim(side.db, worker_id, types, 1 + whole(chance, 4));
  const outcome: Outcome = { refused: null, value: held, text: JSON.stringify(held) };
  side.assertClean(outcome, null);
  await finish(side.db, worker_id, held, () =>
    fails(chance) ? { category: "permanent", message: `no ${side.marker}` } : { result: { by: side.marker } },
  );
  return outcome;
}
