// How long history is kept, from a program.
import type { BodyIn } from "../core/api/endpoint.js";
import { retention_api } from "../core/api/retention.js";
import type { Asking } from "./operate.js";
import type { Transport } from "./transport.js";

export class Retention {
  constructor(private readonly transport: Transport) {}

  /** The rules that hold for the key's tenant, and what would go now. */
  own(options: Asking = {}) {
    return this.transport.call(retention_api.own, options);
  }

  /** For operators: of any tenant. */
  get(tenant_id: string, options: Asking = {}) {
    return this.transport.call(retention_api.get, { params: { tenant_id }, ...options });
  }

  /** For operators: a rule that is named is set, one with `remove` goes. */
  change(tenant_id: string, body: BodyIn<typeof retention_api.change>, options: Asking = {}) {
    return this.transport.call(retention_api.change, { params: { tenant_id }, body, ...options });
  }

  /** For operators: the rules of all tenants that have none of their own. */
  changeDefault(body: BodyIn<typeof retention_api.change_default>, options: Asking = {}) {
    return this.transport.call(retention_api.change_default, { body, ...options });
  }
}
