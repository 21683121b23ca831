// Configurations of connectors, and the hosts they call.

import { connectors_api } from "../core/api/connectors.js";
import type { ReplyOf } from "../core/api/endpoint.js";
import type { Asking } from "./operate.js";
import type { Transport } from "./transport.js";

export type ConnectorConfigRecord = ReplyOf<typeof connectors_api.list>["connectors"][number];

export class Connectors {
  constructor(private readonly transport: Transport) {}

  async list({ connector, ...options }: Asking & { connector?: string } = {}): Promise<ConnectorConfigRecord[]> {
    const query = { connector };
    return (await this.transport.call(connectors_api.list, { query, ...options })).connectors;
  }

  /** New, or in place of the old one; secrets by reference: secret://name. */
  set(
    connector: string,
    name: string,
    config: Record<string, unknown>,
    { actor, ...options }: Asking & { actor?: string } = {},
  ) {
    const body = { config, actor };
    return this.transport.call(connectors_api.set, { params: { connector, name }, body, ...options });
  }

  /** Tasks that name it fail from now on. */
  remove(connector: string, name: string, options: Asking = {}) {
    return this.transport.call(connectors_api.remove, { params: { connector, name }, ...options });
  }

  /** What was called lately, the troubled first. */
  async hosts(options: Asking = {}) {
    return (await this.transport.call(connectors_api.hosts, options)).hosts;
  }
}
