import { deliveries_api, webhooks_api } from "../../core/api/webhooks.js";
import { addressWarnings } from "../address_warnings.js";
import { routes } from "../route.js";

export const webhooksRoutes = () => [
  ...routes(webhooks_api, {
    async create({ engine, body, actor }) {
      const made = await engine.webhooks.create({ ...body, actor: actor(body.actor) });
      return { ...made, warnings: addressWarnings(made.url, engine.outbound) };
    },
    list: async ({ engine }) => ({ endpoints: await engine.webhooks.list() }),
    get: ({ engine, params }) => engine.webhooks.get(params.endpoint_id),
    async update({ engine, params, body, actor }) {
      const changed = await engine.webhooks.update(params.endpoint_id, { ...body, actor: actor(body.actor) });
      return { ...changed, warnings: addressWarnings(changed.url, engine.outbound) };
    },
    remove: ({ engine, params, actor }) => engine.webhooks.remove(params.endpoint_id, actor()),
    rotate: ({ engine, params, body: { secret, overlap_s, actor: person }, actor }) =>
      engine.webhooks.rotate(params.endpoint_id, {
        ...(secret === undefined ? {} : { secret }),
        ...{ overlap_s, actor: actor(person) },
      }),
    ping: ({ engine, params, actor }) => engine.webhooks.ping(params.endpoint_id, actor()),
    replay: ({ engine, params, body, actor }) =>
      engine.webhooks.replayRange({ ...body, endpoint_id: params.endpoint_id, actor: actor(body.actor) }),
  }),
  ...routes(deliveries_api, {
    list: ({ engine, query }) => engine.webhooks.deliveries(query),
    get: ({ engine, params }) => engine.webhooks.delivery(params.delivery_id),
    replay: ({ engine, params, actor }) => engine.webhooks.replay(params.delivery_id, actor()),
    discard: ({ engine, params, body, actor }) =>
      engine.webhooks.discard(params.delivery_id, body.reason ?? null, actor(body.actor)),
  }),
];
