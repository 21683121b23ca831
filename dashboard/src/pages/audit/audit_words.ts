// What somebody did, in words, and where the thing is that it was done to. Pure.

import type { Reply } from "../../api/call.js";

export type AuditEntry = Reply<"audit.list">["deeds"][number];

const verbs: Record<string, string> = {
  "job.submitted": "submitted a job",
  "job.cancelled": "cancelled a job",
  "job.paused": "paused a job",
  "job.continued": "let a job go on",
  "job.resumed": "resumed a job",
  "job.retried": "ran part of a job again",
  "stage.approved": "approved a stage",
  "stage.rejected": "rejected a stage",
  "task.retried": "ran a task again",
  "task.skipped": "skipped a task",
  "task.cancelled": "cancelled a task",
  "task.rescheduled": "moved a task",
  "type.paused": "paused a task type",
  "type.continued": "let a task type go on",
  "schedule.created": "made a schedule",
  "schedule.changed": "changed a schedule",
  "schedule.deleted": "deleted a schedule",
  "schedule.paused": "paused a schedule",
  "schedule.continued": "let a schedule go on",
  "webhook.created": "made a webhook endpoint",
  "webhook.updated": "changed a webhook endpoint",
  "webhook.enabled": "enabled a webhook endpoint",
  "webhook.disabled": "disabled a webhook endpoint",
  "webhook.deleted": "deleted a webhook endpoint",
  "webhook.secret_rotated": "rotated a webhook's secret",
  "webhook.pinged": "pinged a webhook endpoint",
  "webhook.replayed": "replayed deliveries",
  "webhook.discarded": "discarded a delivery",
  "key.signed_in": "signed in",
  "key.link_made": "made a link to sign in with",
  "key.created": "made a key",
  "key.rotated": "rotated a key",
  "key.revoked": "revoked a key",
  "tenant.created": "made the tenant",
  "tenant.renamed": "renamed the tenant",
  "tenant.limited": "set limits",
  "connector.configured": "configured a connector",
  "connector.removed": "removed a connector's configuration",
  "blueprint.saved": "saved a job type",
  "blueprint.removed": "removed a job type",
  "layer.styled": "set how a layer is drawn",
  "group.created": "opened a group",
  "group.sealed": "sealed a group",
};

/** Kinds to choose from: all of one sort, or one. */
export const kind_choices: { value: string; text: string }[] = [
  ...[
    "job",
    "stage",
    "task",
    "type",
    "schedule",
    "webhook",
    "key",
    "tenant",
    "connector",
    "blueprint",
    "group",
    "layer",
  ].map((sort) => ({
    value: `${sort}.`,
    text: `anything about a ${sort === "type" ? "task type" : sort === "blueprint" ? "job type" : sort}`,
  })),
  ...Object.entries(verbs).map(([value, text]) => ({ value, text })),
];

export function wordsOf({ kind }: AuditEntry): string {
  return verbs[kind] ?? kind.replaceAll(/[._]/g, " ");
}

export type Target =
  | { to: "job"; id: string }
  | { to: "task"; id: string }
  | { to: "schedule"; id: string }
  | { to: "webhook"; id: string }
  | { to: "keys" | "limits" | "none"; id: string };

/** The most exact thing it names; what was deleted is named, and leads nowhere. */
export function targetOf({ kind, job_id, data }: AuditEntry): Target {
  const text = (name: string) => {
    const value = data?.[name];
    return typeof value === "string" ? value : null;
  };
  const task = text("task_id");
  if (task !== null && kind.startsWith("task.")) return { to: "task", id: task };
  if (job_id !== null) return { to: "job", id: job_id };
  const schedule = text("schedule");
  if (schedule !== null) return { to: kind === "schedule.deleted" ? "none" : "schedule", id: schedule };
  const endpoint = text("endpoint_id");
  if (endpoint !== null) return { to: kind === "webhook.deleted" ? "none" : "webhook", id: endpoint };
  const key = text("key_id") ?? text("new_key_id");
  if (key !== null) return { to: "keys", id: text("name") ?? key };
  if (kind === "tenant.limited") return { to: "limits", id: "limits" };
  const named =
    text("layer") ??
    text("task_type") ??
    text("type") ??
    text("job_type") ??
    text("group_id") ??
    text("connector") ??
    text("name");
  return { to: "none", id: named ?? "" };
}
