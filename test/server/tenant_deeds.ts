// What a tenant may do to a thing, through which doors: each is tried on its own things, on the other tenant's, and on one that
// never was.
import { randomBytes, randomUUID } from "node:crypto";
import type { Client } from "../../src/client/index.js";
import type { Door, Kind, Outcome, Side } from "./tenant_side.js";

export type Chance = () => number;
export const whole = (chance: Chance, most: number): number => Math.floor(chance() * most);
export const pick = <T>(chance: Chance, from: readonly T[]): T => from[Math.floor(chance() * from.length)] as T;

/** Something done to a thing that exists: by its id. */
export interface Deed {
  name: string;
  kind: Kind;
  /** What it is refused with when the thing is not there. */
  refusal: string;
  doors: Partial<Record<Door, (side: Side, id: string) => Promise<Outcome>>>;
  /** Its own thing is gone after it was done. */
  removes?: boolean;
}

type Doors = {
  http?: [string, string, ((side: Side) => unknown)?];
  sdk?: (client: Client, id: string, side: Side) => Promise<unknown>;
  sql?: [string, string, ((side: Side) => Record<string, unknown>)?];
};

function deed(name: string, kind: Kind, { http, sdk, sql }: Doors, more: Partial<Deed> = {}): Deed {
  return {
    name,
    kind,
    refusal: kind === "worker" ? "stale_worker" : "not_found",
    doors: {
      ...(http && { http: (side, id) => side.http(http[0], http[1].replace("{id}", id), http[2]?.(side)) }),
      ...(sdk && { sdk: (side, id) => side.sdk((client) => sdk(client, id, side)) }),
      ...(sql && { sql: (side, id) => side.sql(sql[0], { [sql[1]]: id, ...sql[2]?.(side) }) }),
    },
    ...more,
  };
}

const why = (side: Side) => ({ reason: `because of ${side.marker}` });
const soon = () => new Date(Date.now() + 60_000);

const job_deeds = [
  deed("status", "job", {
    http: ["GET", "/api/jobs/status/{id}"],
    sdk: (client, id) => client.status(id),
    sql: ["get_job", "job_id"],
  }),
  deed("result", "job", { http: ["GET", "/api/jobs/{id}/result"] }),
  deed("tasks", "job", {
    http: ["GET", "/api/jobs/{id}/tasks"],
    sdk: (client, id) => client.tasks({ job_id: id }).all(),
    sql: ["list_tasks", "job_id"],
  }),
  deed("results", "job", {
    http: ["GET", "/api/dbadmin/tasks/{id}"],
    sdk: (client, id) => client.results({ job_id: id }).all(),
  }),
  deed("events", "job", {
    http: ["GET", "/api/jobs/{id}/events"],
    sdk: (client, id) => client.events(id).all(),
    sql: ["list_events", "job_id"],
  }),
  deed("errors", "job", {
    http: ["GET", "/api/jobs/{id}/errors"],
    sdk: (client, id) => client.errors(id),
    sql: ["error_groups", "job_id"],
  }),
  deed("why", "job", { http: ["GET", "/api/jobs/{id}/why"], sdk: (client, id) => client.why(id), sql: ["why", "id"] }),
  deed("verify", "job", {
    http: ["GET", "/api/jobs/{id}/verify"],
    sdk: (client, id) => client.verify(id),
    sql: ["verify_job", "job_id"],
  }),
  deed("cancel", "job", {
    http: ["POST", "/api/jobs/{id}/cancel", why],
    sdk: (client, id, side) => client.cancel(id, why(side)),
    sql: ["cancel_job", "job_id", why],
  }),
  deed("pause", "job", {
    http: ["POST", "/api/jobs/{id}/pause", why],
    sdk: (client, id, side) => client.pause(id, why(side)),
    sql: ["pause_job", "job_id", why],
  }),
  deed("continue", "job", {
    http: ["POST", "/api/jobs/{id}/continue", why],
    sdk: (client, id, side) => client.continue(id, why(side)),
    sql: ["continue_job", "job_id", why],
  }),
  deed("resume", "job", {
    http: ["POST", "/api/jobs/{id}/resume", why],
    sdk: (client, id, side) => client.resume(id, why(side)),
    sql: ["resume_job", "job_id", why],
  }),
  deed("retry stage", "job", {
    http: ["POST", "/api/jobs/retry-stage/{id}/1", why],
    sdk: (client, id, side) => client.retryStage(id, 1, why(side)),
    sql: ["retry_stage", "job_id", (side) => ({ stage: "1", ...why(side) })],
  }),
  deed("retry group", "job", {
    http: ["POST", "/api/jobs/{id}/retry-group", (side) => ({ signature: "abc", ...why(side) })],
    sdk: (client, id, side) => client.retryGroup(id, "abc", why(side)),
  }),
  deed("cells", "job", {
    http: ["GET", "/api/jobs/{id}/stages/1/cells"],
    sdk: (client, id) => client.cells(id, 1),
  }),
  deed("retry tasks", "job", {
    http: ["POST", "/api/jobs/{id}/stages/1/tasks/retry", (side) => ({ ranges: [[0, 9]], ...why(side) })],
    sdk: (client, id, side) => client.retryTasks(id, 1, { ranges: [[0, 9]], ...why(side) }),
  }),
  deed("skip tasks", "job", {
    http: ["POST", "/api/jobs/{id}/stages/1/tasks/skip", (side) => ({ ranges: [[7, 9]], ...why(side) })],
    sdk: (client, id, side) => client.skipTasks(id, 1, { ranges: [[7, 9]], ...why(side) }),
  }),
  deed("approve", "job", {
    http: ["POST", "/api/jobs/{id}/approve", why],
    sdk: (client, id, side) => client.approve(id, why(side)),
    sql: ["decide_gate", "job_id", (side) => ({ stage: "checked", approved: true, ...why(side) })],
  }),
  deed("reject", "job", {
    http: ["POST", "/api/jobs/{id}/reject", why],
    sdk: (client, id, side) => client.reject(id, why(side)),
  }),
  deed("timeline", "job", { http: ["GET", "/api/jobs/{id}/timeline"] }),
  deed("stream", "job", { sdk: (client, id) => firstOfStream(client, id) }),
  deed("deliveries of", "job", {
    http: ["GET", "/api/deliveries?job_id={id}"],
    sdk: (client, id) => client.webhooks.deliveries.list({ job_id: id }).all(),
    sql: ["list_deliveries", "job_id"],
  }),
];

const task_deeds = [
  deed("task", "task", {
    http: ["GET", "/api/tasks/{id}"],
    sdk: (client, id) => client.task(id),
    sql: ["get_task", "task_id"],
  }),
  deed("why of task", "task", {
    http: ["GET", "/api/tasks/{id}/why"],
    sdk: (client, id) => client.why(id),
    sql: ["why", "id"],
  }),
  deed("cancel task", "task", {
    http: ["POST", "/api/tasks/{id}/cancel", why],
    sdk: (client, id, side) => client.cancelTask(id, why(side)),
    sql: ["cancel_task", "task_id", why],
  }),
  deed("reschedule", "task", {
    http: ["POST", "/api/tasks/{id}/reschedule", () => ({ run_at: soon().toISOString() })],
    sdk: (client, id) => client.rescheduleTask(id, soon()),
    sql: ["reschedule_task", "task_id", () => ({ run_at: soon() })],
  }),
  deed("retry task", "task", {
    http: ["POST", "/api/tasks/{id}/retry", why],
    sdk: (client, id, side) => client.retryTask(id, why(side)),
    sql: ["retry_task", "task_id", why],
  }),
  deed("redo task", "task", {
    http: ["POST", "/api/tasks/{id}/redo", why],
    sdk: (client, id, side) => client.redoTask(id, why(side)),
    sql: ["redo_task", "task_id", why],
  }),
  deed("skip", "task", {
    http: ["POST", "/api/tasks/{id}/skip", why],
    sdk: (client, id, side) => client.skip(id, why(side)),
    sql: ["skip_task", "task_id", why],
  }),
  deed("logs", "task", { http: ["GET", "/api/tasks/{id}/logs"] }),
  deed("value", "task", {
    http: ["GET", "/api/tasks/{id}/value?of=parameters"],
    sql: ["task_value", "task_id", () => ({ name: "parameters" })],
  }),
  deed("lineage", "task", { http: ["GET", "/api/tasks/{id}/lineage"], sql: ["task_lineage", "task_id"] }),
  deed("asset", "task", { http: ["GET", "/api/tasks/{id}/asset"] }),
];

const other_deeds = [
  deed("key", "key", {
    http: ["GET", "/api/keys/{id}"],
    sdk: (client, id) => client.keys.get(id),
    sql: ["get_key", "key"],
  }),
  deed("revoke", "key", {
    http: ["DELETE", "/api/keys/{id}"],
    sdk: (client, id, side) => client.keys.revoke(id, why(side)),
  }),
  deed("webhook", "webhook", {
    http: ["GET", "/api/webhooks/{id}"],
    sdk: (client, id) => client.webhooks.get(id),
    sql: ["get_webhook", "endpoint_id"],
  }),
  deed("change webhook", "webhook", {
    http: ["PATCH", "/api/webhooks/{id}", (side) => ({ description: `now ${side.marker}` })],
    sdk: (client, id, side) => client.webhooks.update(id, { description: `then ${side.marker}` }),
  }),
  deed("ping", "webhook", {
    http: ["POST", "/api/webhooks/{id}/ping"],
    sdk: (client, id) => client.webhooks.ping(id),
    sql: ["ping_webhook", "endpoint_id"],
  }),
  deed("replay", "webhook", {
    http: ["POST", "/api/webhooks/{id}/replay", () => ({})],
    sdk: (client, id) => client.webhooks.replay(id),
  }),
  deed(
    "remove webhook",
    "webhook",
    {
      http: ["DELETE", "/api/webhooks/{id}"],
      sdk: (client, id) => client.webhooks.remove(id),
      sql: ["delete_webhook", "endpoint_id"],
    },
    { removes: true },
  ),
  deed("blueprint", "blueprint", {
    http: ["GET", "/api/blueprints/{id}"],
    sdk: (client, id) => client.blueprints.get(id),
  }),
  deed("submit saved", "blueprint", { http: ["POST", "/api/jobs/submit/{id}", () => ({ parameters: { probe: 1 } })] }),
  deed(
    "remove blueprint",
    "blueprint",
    { http: ["DELETE", "/api/blueprints/{id}"], sdk: (client, id) => client.blueprints.remove(id) },
    { removes: true },
  ),
  deed("heartbeat", "worker", { http: ["POST", "/api/workers/{id}/heartbeat", () => ({})] }),
  deed("claim", "worker", { http: ["POST", "/api/workers/{id}/claim", () => ({ limit: 2 })] }),
  deed("stop worker", "worker", { http: ["POST", "/api/workers/{id}/stop"] }, { removes: true }),
  deed("schedule", "schedule", {
    http: ["GET", "/api/schedules/{id}"],
    sdk: (client, id) => client.schedules.get(id),
    sql: ["get_schedule", "name"],
  }),
  deed("ticks", "schedule", { sdk: (client, id) => client.schedules.ticks(id).all() }),
  deed("pause schedule", "schedule", {
    http: ["POST", "/api/schedules/{id}/pause", why],
    sdk: (client, id, side) => client.schedules.pause(id, why(side)),
  }),
  deed("run schedule", "schedule", { sdk: (client, id, side) => client.schedules.run(id, why(side)) }),
  deed(
    "delete schedule",
    "schedule",
    { http: ["DELETE", "/api/schedules/{id}"], sdk: (client, id) => client.schedules.delete(id) },
    { removes: true },
  ),
  deed("group", "group", {
    http: ["GET", "/api/groups/{id}"],
    sdk: (client, id) => client.groups.get(id),
    sql: ["get_group", "group_id"],
  }),
  deed("jobs of group", "group", { sdk: (client, id) => client.groups.jobs(id).all() }),
  deed("cancel group", "group", {
    http: ["POST", "/api/groups/{id}/cancel", why],
    sdk: (client, id, side) => client.groups.cancel(id, why(side)),
  }),
];

export const deeds: Deed[] = [...job_deeds, ...task_deeds, ...other_deeds];

/** Opens the stream and reads what it says at once. */
async function firstOfStream(client: Client, job_id: string): Promise<unknown> {
  const opened = new AbortController();
  const over = new Error("read enough");
  const told: unknown[] = [];
  try {
    const stream = client.stream({ job_id, signal: opened.signal, on_open: () => opened.abort(over) });
    for await (const one of stream) told.push(one);
  } catch (error) {
    if (error !== over) throw error;
  }
  return told;
}

/** The id of a thing that never was, as the kind's ids look. */
export function neverId(kind: Kind): string {
  const letters = (length: number) =>
    Array.from(randomBytes(length), (byte) => "abcdefghijkmnpqrstuvwxyz23456789"[byte % 32]).join("");
  if (kind === "job") return randomBytes(32).toString("hex");
  if (kind === "task") return `${900_000_000 + Math.floor(Math.random() * 1e6)}-0`;
  if (kind === "key") return letters(12);
  if (kind === "webhook") return `we_${letters(16)}`;
  if (kind === "worker") return randomUUID();
  return `never_${letters(10)}`;
}
