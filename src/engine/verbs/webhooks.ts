// Webhook endpoints and their deliveries: secrets are made and sealed here, so that the database never sees one; everything else
// is the database's to decide.
import { randomBytes } from "node:crypto";
import type { BodyIn, ReplyOf } from "../../core/api/endpoint.js";
import { deliveries_api, webhooks_api } from "../../core/api/webhooks.js";
import { NotAllowedNow } from "../../core/errors/errors.js";
import { type OutboundPolicy, refuseAddresses } from "../../core/places/outbound.js";
import { secret_bytes, webhookPurpose, webhookSecret } from "../../core/places/webhooks.js";
import type { Queryable } from "../database/database.js";
import { type Sealer, sealedFor } from "../sealing.js";
import { asked } from "./reply.js";
import { Noun, type VerbFields } from "./verb.js";

export type WebhookRecord = ReplyOf<typeof webhooks_api.get>;
/** `secret` is the one made here, and in no other answer; null where the caller named one. */
export type WebhookWithSecret = ReplyOf<typeof webhooks_api.rotate>;
export type DeliveryRecord = ReplyOf<typeof deliveries_api.list>["deliveries"][number];
export type DeliveryWithTries = ReplyOf<typeof deliveries_api.get>;

export type NewWebhook = BodyIn<typeof webhooks_api.create>;
export type WebhookChange = BodyIn<typeof webhooks_api.update>;
export type DeliveryFilter = VerbFields<typeof deliveries_api.list>;

export class Webhooks extends Noun {
  constructor(
    db: Queryable,
    tenant: string,
    private readonly sealer: Sealer,
    /** Where it is known, what it forbids is not kept. */
    private readonly outbound: OutboundPolicy | undefined,
  ) {
    super(db, tenant);
  }

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

  async list(): Promise<WebhookRecord[]> {
    return (await this.call(webhooks_api.list, {})).endpoints;
  }

  get(endpoint_id: string): Promise<WebhookRecord> {
    return this.call(webhooks_api.get, { endpoint_id });
  }

  async update(endpoint_id: string, change: WebhookChange): Promise<WebhookRecord> {
    if (change.url !== undefined) refuseAddresses([{ path: "url", url: change.url }], this.outbound);
    const request = { ...change, endpoint_id, tenant: this.tenant };
    return asked(this.db.sql`select app.update_webhook(${JSON.stringify(request)}::text::json) as reply`);
  }

  remove(endpoint_id: string, actor: string | null = null) {
    return this.call(webhooks_api.remove, { endpoint_id, actor });
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
    return this.call(webhooks_api.ping, { endpoint_id, actor });
  }

  deliveries(filter: DeliveryFilter = {}) {
    return this.call(deliveries_api.list, filter);
  }

  delivery(delivery_id: string): Promise<DeliveryWithTries> {
    return this.call(deliveries_api.get, { delivery_id });
  }

  replay(delivery_id: string, actor: string | null = null): Promise<DeliveryRecord> {
    return this.call(deliveries_api.replay, { delivery_id, actor });
  }

  replayRange(range: VerbFields<typeof webhooks_api.replay>) {
    return this.call(webhooks_api.replay, range);
  }

  discard(delivery_id: string, reason: string | null = null, actor: string | null = null): Promise<DeliveryRecord> {
    return this.call(deliveries_api.discard, { delivery_id, reason, actor });
  }

  /** A name is kept as it is; without one a secret is made, shown to the caller, and sealed for this endpoint alone. */
  #secret(endpoint_id: string, named: string | undefined): { secret: string | null; kept: string } {
    if (named !== undefined) return { secret: null, kept: named };
    if (!this.sealer.can_seal) {
      throw new NotAllowedNow("this service has no key to seal a secret with", {
        hint: "its operator sets FANFOLD_SECRET_KEY (openssl rand -base64 32); or name a secret of your own: secret://name",
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
