import { deliveries_api, webhooks_api } from "../../core/api/webhooks.js";
import { addressWarnings } from "../http/address_warnings.js";
import { routes } from "../http/route.js";

export const webhooksRoutes = () => [
  ...routes(webhooks_api, {
    async create({ engine, body, actor }) {
      const made = await engine.webhooks.create({ ...body, actor: actor(body.actor) });
      return { ...made, warnings: addressWarnings(made.url, engine.outbound) };
    },
    async update({ engine, params, body, actor }) {
      const changed = await engine.webhooks.update(params.endpoint_id, { ...body, actor: actor(body.actor) });
      return { ...changed, warnings: addressWarnings(changed.url, engine.outbound) };
    },
    rotate: ({ engine, params, body: { secret, overlap_s, actor: person }, actor }) =>
      engine.webhooks.rotate(params.endpoint_id, { secret, overlap_s, actor: actor(person) }),
  }),
  ...routes(deliveries_api, {}),
];
