import { keys_api } from "../../core/api/keys.js";
import type { May } from "../../engine/verbs/keys.js";
import type { Principal } from "../access/auth.js";
import { routes } from "../http/route.js";

/** What a caller may hand out: what they have. */
export function mayOf({ scopes, operator }: Principal): May {
  return { scopes: [...scopes], operator };
}

export const keysRoutes = () =>
  routes(keys_api, {
    create: ({ engine, body: { actor: person, ...given }, principal, actor }) =>
      engine.keys.create({ ...given, actor: actor(person), may: mayOf(principal) }),
    rotate: ({ engine, params, body: { actor: person, ...given }, principal, actor }) =>
      engine.keys.rotate(params.key_id, { ...given, actor: actor(person), may: mayOf(principal) }),
    revoke: ({ engine, params, query: { reason, actor: person }, principal, actor }) =>
      engine.keys.revoke(params.key_id, { reason: reason ?? null, actor: actor(person), may: mayOf(principal) }),
  });
