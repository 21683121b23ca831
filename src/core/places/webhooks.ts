// Webhooks as data: what there is to hear of, how a job names its receivers, and the signature of Standard Webhooks over the very
// bytes that are sent. Pure.
import { createHmac } from "node:crypto";
import { Permanent } from "../errors/errors.js";

export const job_events = ["job.completed", "job.partial_success", "job.failed", "job.cancelled"] as const;
export const request_events = [
  "request.completed",
  "request.partial_success",
  "request.failed",
  "request.cancelled",
  "request.approval_wanted",
  "request.approved",
  "request.rejected",
  "request.revoked",
] as const;
/** How groups of jobs end. */
export const group_events = ["group.completed", "group.partial_success", "group.failed", "group.cancelled"] as const;
export const webhook_events = [...job_events, ...request_events, ...group_events, "alert.raised"] as const;
export type WebhookEvent = (typeof webhook_events)[number];

export const delivery_statuses = ["pending", "delivered", "failed", "discarded"] as const;
export type DeliveryStatus = (typeof delivery_statuses)[number];

export const endpoint_id_pattern = /^we_[a-z0-9]{16}$/;

/** Who hears of a job as OGC API Processes has it: without a signature, and in its words. */
export interface JobSubscriber {
  successUri: string;
  inProgressUri?: string | undefined;
  failedUri?: string | undefined;
  /** Where /ogc is, as the caller reaches it. */
  root: string;
  /** The outputs are fields of the result. */
  named: boolean;
  /** By output: how it is sent, and its name in an address. */
  outputs: Record<
    string,
    { mode: "value" | "reference"; path: string; media_type?: string | undefined; encoding?: string | undefined }
  >;
}

/** Who else hears how a job ended: an address with the name of a secret (secret://name), an endpoint of the tenant's, or a subscriber. */
export type JobWebhook =
  | { subscriber: JobSubscriber }
  | { url: string; secret: string; events?: readonly WebhookEvent[] | undefined }
  | { endpoint: string; events?: readonly WebhookEvent[] | undefined };

/** What an endpoint's sealed secret is sealed for. */
export function webhookPurpose(endpoint_id: string): string {
  return `webhook/${endpoint_id}`;
}

const prefix = "whsec_";
export const secret_bytes = { made: 32, least: 24, most: 64 } as const;

export function webhookSecret(random: Uint8Array): string {
  return prefix + Buffer.from(random).toString("base64");
}

/** The key that `whsec_…` stands for. The text itself is never part of the error. */
export function webhookKey(secret: string): Uint8Array {
  const text = secret.trim();
  const bytes = text.startsWith(prefix) ? Buffer.from(text.slice(prefix.length), "base64") : Buffer.alloc(0);
  if (bytes.length >= secret_bytes.least && bytes.length <= secret_bytes.most) return bytes;
  throw new Permanent(
    `the webhook's secret is not ${prefix} and the base64 of ${secret_bytes.least} to ${secret_bytes.most} bytes`,
    { code: "bad_secret" },
  );
}

export interface SignedHeaders {
  "webhook-id": string;
  "webhook-timestamp": string;
  "webhook-signature": string;
}

/** One signature for each key: during a rotation a receiver finds its own among them. */
export function signedHeaders(
  id: string,
  timestamp_s: number,
  body: Uint8Array,
  keys: readonly Uint8Array[],
): SignedHeaders {
  const signatures = keys.map((key) => {
    const mac = createHmac("sha256", key).update(`${id}.${timestamp_s}.`).update(body);
    return `v1,${mac.digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp_s),
    "webhook-signature": signatures.join(" "),
  };
}
