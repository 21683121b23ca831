// Job types: those the service has in code, and those a tenant saves as data.
import { blueprints_api } from "../../core/api/blueprints.js";
import { max_problems } from "../../core/errors/problems.js";
import type { BlueprintRecord } from "../../engine/verbs/blueprints.js";
import { routes } from "../http/route.js";

export const blueprintsRoutes = () =>
  routes(blueprints_api, {
    list: async ({ engine }) => ({ blueprints: (await engine.blueprints.list()).map(shown) }),
    get: async ({ engine, params }) => shown(await engine.blueprints.get(params.job_type)),
    async save({ engine, params, body, actor, reply }) {
      const { created, blueprint, ...saved } = await engine.blueprints.save(params.job_type, body, { actor: actor() });
      if (created) reply.status(201);
      return { ...saved, blueprint: shown(blueprint) };
    },
    async validate({ engine, body: { type, ...declaration } }) {
      const { problems, warnings } = await engine.blueprints.validate(type, declaration);
      return { ok: problems.length === 0, problems: problems.slice(0, max_problems), warnings };
    },
    // A type in code is not removed, and only the server knows those.
    remove: ({ engine, params, body: { reason, actor: person }, actor }) =>
      engine.blueprints.remove(params.job_type, { reason, actor: actor(person) }),
  });

function shown({ stages, ...blueprint }: BlueprintRecord) {
  return { ...blueprint, stages: stages.map((stage) => ({ ...stage })) };
}
