// A tenant's configurations of connectors, and the hosts they call. What is written is checked here: no secret by value, and
// what the connector declares where this process knows it.
import { connectors_api } from "../../core/api/connectors.js";
import type { ReplyOf } from "../../core/api/endpoint.js";
import { taskTypeProblem } from "../../core/declare/names.js";
import type { Registry } from "../../core/declare/registry.js";
import { BadRequest } from "../../core/errors/errors.js";
import { quoted } from "../../core/errors/problems.js";
import { checkedConfig, config_name, connector_prefix } from "../../core/places/connector_config.js";
import { narrowed, type OutboundPolicy, refuseAddresses } from "../../core/places/outbound.js";
import type { Queryable } from "../database/database.js";
import { asked } from "./reply.js";
import { Noun } from "./verb.js";

export type ConnectorConfig = ReplyOf<typeof connectors_api.list>["connectors"][number];
export type HostRecord = ReplyOf<typeof connectors_api.hosts>["hosts"][number];

export class Connectors extends Noun {
  constructor(
    db: Queryable,
    tenant: string,
    private readonly registry: Registry,
    /** Where it is known, what it forbids is not kept. */
    private readonly outbound: OutboundPolicy | undefined,
  ) {
    super(db, tenant);
  }

  async list(connector?: string): Promise<ConnectorConfig[]> {
    return (await this.call(connectors_api.list, { connector })).connectors;
  }

  async set(connector: string, name: string, config: unknown, actor: string | null = null): Promise<ConnectorConfig> {
    const bad_type = taskTypeProblem(connector);
    if (bad_type !== null) throw new BadRequest(`the connector ${bad_type}`);
    if (!config_name.test(name)) {
      throw new BadRequest(`${quoted(name)} is not a name of a configuration`, {
        hint: "up to 63 lower-case letters, digits, - and _, starting with a letter or digit",
      });
    }
    const own = this.registry.handlers.get(connector_prefix + connector)?.options.configuration;
    const checked = checkedConfig(config, own);
    const policy = this.outbound && narrowed(this.outbound, checked.outbound ?? {});
    refuseAddresses(addressesOf(checked), policy);
    const request = { tenant: this.tenant, connector, name, actor, config: checked };
    return asked(this.db.sql`select app.set_connector(${JSON.stringify(request)}::text::json) as reply`);
  }

  remove(connector: string, name: string, actor: string | null = null) {
    return this.call(connectors_api.remove, { connector, name, actor });
  }

  async hosts(): Promise<HostRecord[]> {
    return (await this.call(connectors_api.hosts, {})).hosts;
  }
}

/** Where a connector calls by its configuration: the fields that say so by their name. */
function addressesOf(config: Record<string, unknown>): { path: string; url: string }[] {
  return Object.entries(config).flatMap(([key, url]) =>
    /(^|_)url$/.test(key) && typeof url === "string" && /^https?:/i.test(url) ? [{ path: `$.${key}`, url }] : [],
  );
}
