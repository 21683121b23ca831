// What a tenant does without naming a thing: makes things, lists them, works. What it made is noted, and lists are compared
// with what was noted.
import { expect } from "vitest";
import type { Job } from "../../src/client/index.js";
import { claim, finish, register } from "../engine/floor.js";
import { type Chance, pick } from "./tenant_deeds.js";
import type { Door, Kind, Outcome, Side } from "./tenant_side.js";

/** Something done with nothing to name: makes things, lists them, works. */
export interface Walk {
  name: string;
  doors: Partial<Record<Door, (side: Side, chance: Chance) => Promise<Outcome>>>;
}

const whole = (chance: Chance, most: number) => Math.floor(chance() * most);

function noted(side: Side, kind: Kind, ids: Iterable<string>): void {
  for (const id of ids) side.owned[kind].add(id);
}

export function walks(jobs: readonly Job[]): Walk[] {
  // Few different ones, so that the two tenants often ask for the same.
  const parameters = (chance: Chance) => ({ n: 1 + whole(chance, 2), v: whole(chance, 6) });
  const options = (side: Side) => ({ labels: { marker: side.marker }, correlation_id: side.marker });
  const submitted = (side: Side, outcome: Outcome) => {
    expect(outcome.refused).toBeNull();
    const { job_id, created } = outcome.value;
    expect(created, "a job is new exactly when the tenant had none like it").toBe(!side.owned.job.has(job_id));
    noted(side, "job", [job_id]);
    return outcome;
  };
  const enqueued = (side: Side, key: string, outcome: Outcome) => {
    expect(outcome.refused).toBeNull();
    const task_id: string = outcome.value.task_id ?? outcome.value.task_ids[0];
    const known = side.enqueued.get(key);
    if (known !== undefined) expect(task_id, "the same key is the same task, within the tenant").toBe(known);
    expect(Number(outcome.value.created)).toBe(known === undefined ? 1 : 0);
    side.enqueued.set(key, task_id);
    noted(side, "task", [task_id]);
    return outcome;
  };
  const sees = (side: Side, kind: Kind, outcome: Outcome, ids: string[]) => {
    expect(outcome.refused).toBeNull();
    expect([...new Set(ids)].sort(), `all ${kind}s of ${side.tenant}, and nothing else`).toEqual(
      [...side.owned[kind]].sort(),
    );
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
          return sees(
            side,
            "job",
            outcome,
            outcome.value.jobs.map((job: { job_id: string }) => job.job_id),
          );
        },
        sdk: async (side) => {
          const outcome = await side.sdk((client) => client.jobs({ limit: 7 }).all());
          return sees(
            side,
            "job",
            outcome,
            outcome.value.map((job: { job_id: string }) => job.job_id),
          );
        },
        sql: async (side) => {
          const outcome = await side.rows("jobs");
          return sees(
            side,
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
          return sees(
            side,
            "task",
            outcome,
            outcome.value.tasks.map((task: { task_id: string }) => task.task_id),
          );
        },
        sdk: async (side) => {
          const outcome = await side.sdk((client) => client.tasks({ type: "t.lone", limit: 3 }).all());
          return sees(
            side,
            "task",
            outcome,
            outcome.value.map((task: { task_id: string }) => task.task_id),
          );
        },
      },
    },
    {
      name: "list keys",
      doors: {
        http: (side) => side.http("GET", "/api/keys"),
        sdk: async (side) => {
          const outcome = await side.sdk((client) => client.keys.list().all());
          const made = outcome.value.filter(({ name }: { name: string }) => name !== "test");
          return sees(
            side,
            "key",
            outcome,
            made.map(({ key_id }: { key_id: string }) => key_id),
          );
        },
        sql: (side) => side.sql("list_keys"),
      },
    },
    {
      name: "make a key",
      doors: {
        http: async (side) => {
          const outcome = await side.http("POST", "/api/keys", { name: side.marker, scopes: ["read"] });
          noted(side, "key", [outcome.value.key_id]);
          return outcome;
        },
        sdk: async (side) => {
          const outcome = await side.sdk((client) => client.keys.create({ name: side.marker, scopes: ["read"] }));
          noted(side, "key", [outcome.value.key_id]);
          return outcome;
        },
      },
    },
    {
      name: "make a webhook",
      doors: {
        sdk: async (side) => {
          const url = `https://hooks.example.com/${side.marker}`;
          const outcome = await side.sdk((client) => client.webhooks.create({ url, secret: "secret://hooks" }));
          expect(outcome.refused, outcome.text).toBeNull();
          noted(side, "webhook", [outcome.value.endpoint_id]);
          return outcome;
        },
      },
    },
    {
      name: "list webhooks",
      doors: {
        http: async (side) => {
          const outcome = await side.http("GET", "/api/webhooks");
          return sees(
            side,
            "webhook",
            outcome,
            outcome.value.endpoints.map((one: { endpoint_id: string }) => one.endpoint_id),
          );
        },
        sdk: async (side) => {
          const outcome = await side.sdk((client) => client.webhooks.list());
          return sees(
            side,
            "webhook",
            outcome,
            outcome.value.map((one: { endpoint_id: string }) => one.endpoint_id),
          );
        },
        sql: (side) => side.sql("list_webhooks"),
      },
    },
    {
      name: "save a blueprint",
      doors: {
        sdk: async (side, chance) => {
          const type = `bp_${side.marker}_${whole(chance, 3)}`;
          const stages = [{ name: "a", task: "t.a", description: side.marker }];
          const outcome = await side.sdk((client) => client.blueprints.save(type, { stages }));
          expect(outcome.refused, outcome.text).toBeNull();
          noted(side, "blueprint", [type]);
          return outcome;
        },
      },
    },
    {
      name: "list blueprints",
      doors: {
        http: (side) => side.http("GET", "/api/blueprints"),
        sdk: async (side) => {
          const outcome = await side.sdk((client) => client.blueprints.list());
          const saved = outcome.value.filter(({ source }: { source: string }) => source === "saved");
          return sees(
            side,
            "blueprint",
            outcome,
            saved.map(({ type }: { type: string }) => type),
          );
        },
      },
    },
    {
      name: "make a schedule",
      doors: {
        sdk: async (side, chance) => {
          const name = `nightly.${side.marker}.${whole(chance, 3)}`;
          const cron = { cron: "0 3 1 1 *", description: side.marker };
          const outcome = await side.sdk((client) => client.schedules.put(name, "plain", parameters(chance), cron));
          expect(outcome.refused, outcome.text).toBeNull();
          noted(side, "schedule", [name]);
          return outcome;
        },
      },
    },
    {
      name: "list schedules",
      doors: {
        http: (side) => side.http("GET", "/api/schedules"),
        sdk: async (side) => {
          const outcome = await side.sdk((client) => client.schedules.list({ limit: 2 }).all());
          return sees(
            side,
            "schedule",
            outcome,
            outcome.value.map(({ name }: { name: string }) => name),
          );
        },
      },
    },
    {
      name: "make a group",
      doors: {
        http: async (side, chance) => {
          const id = `g.${side.marker}.${whole(chance, 3)}`;
          const outcome = await side.http("PUT", `/api/groups/${id}`, { name: side.marker });
          noted(side, "group", [id]);
          return outcome;
        },
      },
    },
    {
      name: "list groups",
      doors: {
        http: (side) => side.http("GET", "/api/groups"),
        sdk: async (side) => {
          const outcome = await side.sdk((client) => client.groups.list().all());
          return sees(
            side,
            "group",
            outcome,
            outcome.value.map(({ group_id }: { group_id: string }) => group_id),
          );
        },
      },
    },
    ...["/api/jobs/counts", "/api/workers", "/api/alerts", "/api/limits", "/api/deliveries", "/api/health"].map(
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
              "webhook_endpoints",
              "webhook_deliveries",
              "schedules",
              "schedule_ticks",
              "job_groups",
              "job_dependencies",
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
  const worker = await side.http("POST", "/api/workers/register", { types, host: side.marker });
  const { worker_id } = worker.value;
  noted(side, "worker", [worker_id]);
  const claimed = await side.http("POST", `/api/workers/${worker_id}/claim`, { limit: 1 + whole(chance, 4) });
  side.assertClean(claimed, null);
  if (claimed.value.tasks.length === 0) return claimed;
  const tasks = claimed.value.tasks.map(({ task_id, claim_id, attempt }: Record<string, unknown>) => ({
    ...{ task_id, claim_id, attempt },
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
  const worker_id = await register(side.db, types);
  noted(side, "worker", [worker_id]);
  const held = await claim(side.db, worker_id, types, 1 + whole(chance, 4));
  const outcome: Outcome = { refused: null, value: held, text: JSON.stringify(held) };
  side.assertClean(outcome, null);
  await finish(side.db, worker_id, held, () =>
    fails(chance) ? { category: "permanent", message: `no ${side.marker}` } : { result: { by: side.marker } },
  );
  return outcome;
}
