// API keys, what the tenant may use, and, for operators of the service, the tenants themselves.
import type { BodyIn, QueryIn, ReplyOf } from "../core/api/endpoint.js";
import { keys_api } from "../core/api/keys.js";
import { limits_api } from "../core/api/limits.js";
import { tenants_api } from "../core/api/tenants.js";
import type { Asking, Listing } from "./operate.js";
import { listed, type Paged } from "./pages.js";
import type { Transport } from "./transport.js";

export type KeyRecord = ReplyOf<typeof keys_api.get>;
export type NewKey = BodyIn<typeof keys_api.create>;
export type TenantRecord = ReplyOf<typeof tenants_api.get>;

export class Keys {
  constructor(private readonly transport: Transport) {}

  /** Newest first. */
  list(options: Listing = {}): Paged<KeyRecord> {
    return listed(this.transport, keys_api.list, "keys", options);
  }

  /** The whole key is in this answer and in no other. */
  create(key: NewKey, options: Asking = {}) {
    return this.transport.call(keys_api.create, { body: key, ...options });
  }

  get(key_id: string, options: Asking = {}): Promise<KeyRecord> {
    return this.transport.call(keys_api.get, { params: { key_id }, ...options });
  }

  /** A new key in its place; both are valid for `overlap_s`. */
  rotate(key_id: string, body: BodyIn<typeof keys_api.rotate> = {}, options: Asking = {}) {
    return this.transport.call(keys_api.rotate, { params: { key_id }, body, ...options });
  }

  /** Refused everywhere within five seconds. */
  revoke(key_id: string, query: QueryIn<typeof keys_api.revoke> = {}, options: Asking = {}): Promise<KeyRecord> {
    return this.transport.call(keys_api.revoke, { params: { key_id }, query, ...options });
  }
}

export class Limits {
  constructor(private readonly transport: Transport) {}

  /** What the key's tenant may use at most, and what it uses now. */
  own(options: Asking = {}) {
    return this.transport.call(limits_api.own, options);
  }

  /** For operators: of any tenant. */
  get(tenant_id: string, options: Asking = {}) {
    return this.transport.call(limits_api.get, { params: { tenant_id }, ...options });
  }

  /** For operators: what is named is set, null lifts it, and what is left out stays. */
  change(tenant_id: string, limits: BodyIn<typeof limits_api.change>, options: Asking = {}) {
    return this.transport.call(limits_api.change, { params: { tenant_id }, body: limits, ...options });
  }
}

/** For operators. */
export class Tenants {
  constructor(private readonly transport: Transport) {}

  list(options: Listing = {}): Paged<TenantRecord> {
    return listed(this.transport, tenants_api.list, "tenants", options);
  }

  create(tenant_id: string, more: Omit<BodyIn<typeof tenants_api.create>, "tenant_id"> = {}, options: Asking = {}) {
    return this.transport.call(tenants_api.create, { body: { tenant_id, ...more }, ...options });
  }

  get(tenant_id: string, options: Asking = {}): Promise<TenantRecord> {
    return this.transport.call(tenants_api.get, { params: { tenant_id }, ...options });
  }

  rename(tenant_id: string, name: string | null, options: Asking = {}): Promise<TenantRecord> {
    return this.transport.call(tenants_api.rename, { params: { tenant_id }, body: { name }, ...options });
  }

  /** With everything, for good: `confirm` is its id again. While the answer says `more`, the same call goes on. */
  remove(tenant_id: string, request: BodyIn<typeof tenants_api.remove>, options: Asking = {}) {
    return this.transport.call(tenants_api.remove, { params: { tenant_id }, body: request, ...options });
  }

  /** The first key of a tenant, usually: from then on it makes its own. */
  createKey(tenant_id: string, key: NewKey, options: Asking = {}) {
    return this.transport.call(tenants_api.create_key, { params: { tenant_id }, body: key, ...options });
  }
}
