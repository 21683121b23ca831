// Webhook endpoints and what was delivered to them.
import type { BodyIn, QueryIn, ReplyOf } from "../core/api/endpoint.js";
import { deliveries_api, webhooks_api } from "../core/api/webhooks.js";
import type { Asking, Listing } from "./operate.js";
import { listed, type Paged } from "./pages.js";
import type { Transport } from "./transport.js";

export type WebhookRecord = ReplyOf<typeof webhooks_api.get>;
export type DeliveryRecord = ReplyOf<typeof deliveries_api.list>["deliveries"][number];
export type DeliveryFilter = Omit<QueryIn<typeof deliveries_api.list>, "limit" | "cursor"> & Listing;

export class Webhooks {
  readonly deliveries: Deliveries;

  constructor(private readonly transport: Transport) {
    this.deliveries = new Deliveries(transport);
  }

  /** `secret` is in this answer and in no other. */
  create(webhook: BodyIn<typeof webhooks_api.create>, options: Asking = {}) {
    return this.transport.call(webhooks_api.create, { body: webhook, ...options });
  }

  async list(options: Asking = {}): Promise<WebhookRecord[]> {
    return (await this.transport.call(webhooks_api.list, options)).endpoints;
  }

  get(endpoint_id: string, options: Asking = {}): Promise<WebhookRecord> {
    return this.transport.call(webhooks_api.get, { params: { endpoint_id }, ...options });
  }

  /** Also enables and disables. */
  update(
    endpoint_id: string,
    changes: BodyIn<typeof webhooks_api.update>,
    options: Asking = {},
  ): Promise<WebhookRecord> {
    return this.transport.call(webhooks_api.update, { params: { endpoint_id }, body: changes, ...options });
  }

  /** What waits for it is discarded. */
  remove(endpoint_id: string, options: Asking = {}) {
    return this.transport.call(webhooks_api.remove, { params: { endpoint_id }, ...options });
  }

  /** A new secret; for `overlap_s` deliveries are signed with both. */
  rotate(endpoint_id: string, body: BodyIn<typeof webhooks_api.rotate> = {}, options: Asking = {}) {
    return this.transport.call(webhooks_api.rotate, { params: { endpoint_id }, body, ...options });
  }

  /** Sends it something to try it out with. */
  ping(endpoint_id: string, options: Asking = {}): Promise<DeliveryRecord> {
    return this.transport.call(webhooks_api.ping, { params: { endpoint_id }, ...options });
  }

  /** Sends deliveries of a span of time again. */
  replay(endpoint_id: string, body: BodyIn<typeof webhooks_api.replay> = {}, options: Asking = {}) {
    return this.transport.call(webhooks_api.replay, { params: { endpoint_id }, body, ...options });
  }
}

class Deliveries {
  constructor(private readonly transport: Transport) {}

  /** Newest first. */
  list(filter: DeliveryFilter = {}): Paged<DeliveryRecord> {
    return listed(this.transport, deliveries_api.list, "deliveries", filter);
  }

  /** With its payload and every try. */
  get(delivery_id: string, options: Asking = {}) {
    return this.transport.call(deliveries_api.get, { params: { delivery_id }, ...options });
  }

  /** The same id and bytes again. */
  replay(delivery_id: string, options: Asking = {}): Promise<DeliveryRecord> {
    return this.transport.call(deliveries_api.replay, { params: { delivery_id }, ...options });
  }

  discard(
    delivery_id: string,
    { signal, ...body }: Asking & { reason?: string; actor?: string } = {},
  ): Promise<DeliveryRecord> {
    return this.transport.call(deliveries_api.discard, { params: { delivery_id }, body, signal });
  }
}
