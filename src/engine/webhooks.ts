// Webhook endpoints and their deliveries: secrets are made and sealed here, so that the database never sees one; everything else
// is the database's to decide.
import { randomBytes } from "node:crypto";
import { NotAllowedNow } from "../core/errors.js";
import { type OutboundPolicy, refuseAddresses } from "../core/outbound.js";
import {
  type DeliveryStatus,
  secret_bytes,
  type WebhookEvent,
  webhookPurpose,
  webhookSecret,
} from "../core/webhooks.js";
import type { Queryable } from "./database.js";
import { asked } from "./reply.js";
import { type Sealer, sealedFor } from "./sealing.js";

export interface WebhookRecord {
  endpoint_id: string;
  url: string;
  description: string | null;
  events: WebhookEvent[];
  timeout_s: number;
  status: "enabled" | "paused" | "disabled";
  disabled_at: string | null;
  disabled_reason: string | null;
  failure_streak: number;
  failing_since: string | null;
  paused_until: string | null;
  secrets: { kept: string; since: string; until: string | null }[];
  created_at: string;
  created_by: string;
}

/** `secret` is the one made here, and in no other answer; null where the caller named one. */
export type WebhookWithSecret = WebhookRecord & { secret: string | null };

export interface DeliveryRecord {
  delivery_id: string;
  endpoint_id: string | null;
  url: string | null;
  event_type: string;
  job_id: string | null;
  epoch: number | null;
  status: DeliveryStatus;
  reason: string | null;
  series: number;
  attempts: number;
  next_at: string | null;
  last_status: number | null;
  last_error: string | null;
  created_at: string;
  ended_at: string | null;
}

export interface DeliveryTry {
  at: string;
  series: number;
  duration_ms: number | null;
  status: number | null;
  bytes: number | null;
  error: string | null;
  body: string | null;
}

export type DeliveryWithTries = DeliveryRecord & { payload: string; tries: DeliveryTry[] };

interface WebhookSettings {
  url?: string | undefined;
  events?: readonly WebhookEvent[] | undefined;
  description?: string | undefined;
  timeout_s?: number | undefined;
  actor?: string | undefined;
}

export type NewWebhook = WebhookSettings & { url: string; secret?: string | undefined };
export type WebhookChange = WebhookSettings & { enabled?: boolean | undefined; reason?: string | undefined };

export interface DeliveryFilter {
  endpoint_id?: string | null | undefined;
  job_id?: string | null | undefined;
  status?: DeliveryStatus | null | undefined;
  limit?: number;
  cursor?: string | null | undefined;
}

export interface ReplayRange {
  endpoint_id: string;
  from?: string | undefined;
  to?: string | undefined;
  statuses?: readonly DeliveryStatus[] | undefined;
  dry_run?: boolean | undefined;
  actor?: string | undefined;
}

export interface ReplayReply {
  endpoint_id: string;
  deliveries: number;
  dry_run: boolean;
  more: boolean;
  next_from: string | null;
}

export class Webhooks {
  constructor(
    private readonly db: Queryable,
    private readonly tenant: string,
    private readonly sealer: Sealer,
    /** Where it is known, what it forbids is not kept. */
    private readonly outbound: OutboundPolicy | undefined,
  ) {}

  async create({ secret: named, ...given }: NewWebhook): Promise<WebhookWithSecret> {
    refuseAddresses([{ path: "url", url: given.url }], this.outbound);
    const endpoint_id = newEndpointId(randomBytes(16));
    const { secret, kept } = this.#secret(endpoint_id, named);
    const request = { ...given, endpoint_id, secret: kept, tenant: this.tenant };
    const record = await asked<WebhookRecord>(
      this.db.sql`select app.create_webhook(${JSON.stringify(request)}::text::json) as reply`,
    );
    return { ...record, secret };
  }

  list(): Promise<WebhookRecord[]> {
    return asked(this.db.sql`select app.list_webhooks(${this.tenant}::text) as reply`);
  }

  get(endpoint_id: string): Promise<WebhookRecord> {
    return asked(this.db.sql`select app.get_webhook(${endpoint_id}::text, ${this.tenant}::text) as reply`);
  }

  async update(endpoint_id: string, change: WebhookChange): Promise<WebhookRecord> {
    if (change.url !== undefined) refuseAddresses([{ path: "url", url: change.url }], this.outbound);
    const request = { ...change, endpoint_id, tenant: this.tenant };
    return asked(this.db.sql`select app.update_webhook(${JSON.stringify(request)}::text::json) as reply`);
  }

  remove(
    endpoint_id: string,
    actor: string | null = null,
  ): Promise<{ endpoint_id: string; deleted: boolean; discarded: number }> {
    return asked(
      this.db.sql`select app.delete_webhook(${endpoint_id}::text, ${this.tenant}::text, ${actor}::text) as reply`,
    );
  }

  async rotate(
    endpoint_id: string,
    { secret: named, overlap_s = 86_400, actor }: { secret?: string; overlap_s?: number; actor?: string } = {},
  ): Promise<WebhookWithSecret> {
    const { secret, kept } = this.#secret(endpoint_id, named);
    const record = await asked<WebhookRecord>(
      this.db.sql`select app.rotate_webhook_secret(
        ${endpoint_id}::text, ${kept}::text, ${overlap_s}::double precision, ${this.tenant}::text, ${actor ?? null}::text) as reply`,
    );
    return { ...record, secret };
  }

  ping(endpoint_id: string, actor: string | null = null): Promise<DeliveryRecord> {
    return asked(
      this.db.sql`select app.ping_webhook(${endpoint_id}::text, ${this.tenant}::text, ${actor}::text) as reply`,
    );
  }

  deliveries({ endpoint_id, job_id, status, limit = 50, cursor }: DeliveryFilter = {}): Promise<{
    deliveries: DeliveryRecord[];
    next: string | null;
  }> {
    return asked(
      this.db.sql`select app.list_deliveries(
        ${endpoint_id ?? null}::text, ${job_id ?? null}::text, ${status ?? null}::text, ${limit}::integer,
        ${cursor ?? null}::text, ${this.tenant}::text) as reply`,
    );
  }

  delivery(delivery_id: string): Promise<DeliveryWithTries> {
    return asked(this.db.sql`select app.get_delivery(${delivery_id}::text, ${this.tenant}::text) as reply`);
  }

  replay(delivery_id: string, actor: string | null = null): Promise<DeliveryRecord> {
    return asked(
      this.db.sql`select app.replay_delivery(${delivery_id}::text, ${this.tenant}::text, ${actor}::text) as reply`,
    );
  }

  replayRange(range: ReplayRange): Promise<ReplayReply> {
    const request = JSON.stringify({ ...range, tenant: this.tenant });
    return asked(this.db.sql`select app.replay_deliveries(${request}::text::json) as reply`);
  }

  discard(delivery_id: string, reason: string | null = null, actor: string | null = null): Promise<DeliveryRecord> {
    return asked(
      this.db.sql`select app.discard_delivery(
        ${delivery_id}::text, ${reason}::text, ${this.tenant}::text, ${actor}::text) as reply`,
    );
  }

  /** A name is kept as it is; without one a secret is made, shown to whoever asked, and sealed for this endpoint alone. */
  #secret(endpoint_id: string, named: string | undefined): { secret: string | null; kept: string } {
    if (named !== undefined) return { secret: null, kept: named };
    if (!this.sealer.can_seal) {
      throw new NotAllowedNow("this service has no key to seal a secret with", {
        hint: "whoever runs it sets FANFOLD_SECRET_KEY (openssl rand -base64 32); or name a secret of your own: secret://name",
      });
    }
    const secret = webhookSecret(randomBytes(secret_bytes.made));
    return { secret, kept: this.sealer.seal(secret, sealedFor(this.tenant, webhookPurpose(endpoint_id))) };
  }
}

const letters = "abcdefghijklmnopqrstuvwxyz234567";

function newEndpointId(random: Uint8Array): string {
  return `we_${Array.from(random, (byte) => letters[byte % letters.length]).join("")}`;
}
