import { package_version } from "../../config.js";
import { scopes } from "../../core/api/endpoint.js";
import { sessions_api } from "../../core/api/sessions.js";
import { BadRequest, Forbidden, OverLimit, Unauthenticated } from "../../core/errors/errors.js";
import { isLinkCode } from "../../core/values/session_token.js";
import {
  createSignInLink,
  endSession,
  type OpenedSession,
  openSession,
  takeSignInLink,
} from "../../engine/verbs/sessions.js";
import type { Principal } from "../access/auth.js";
import { sessionTokenOf, setSessionCookie } from "../access/credentials.js";
import { sessionAuthorization } from "../access/sessions.js";
import { leaveWith } from "../http/call_places.js";
import { type Call, routes } from "../http/route.js";

type Calling = Pick<Call, "service" | "request" | "reply">;

export const sessionsRoutes = () =>
  routes(sessions_api, {
    async open({ service, request, reply, body: { key, code } }) {
      // Nobody is signed in by another's page as somebody they are not.
      service.assertOwnPage(request);
      if ((key === undefined) === (code === undefined)) {
        throw new BadRequest("a key signs in, or the code of a link: one of the two", {
          hint: '{"key":"ff_…"} or {"code":"ffl_…"}',
        });
      }
      const opened =
        key === undefined ? await byCode({ service, request }, code!) : await byKey({ service, request, reply }, key);
      // The browser forgets it now: nobody else shall find it.
      const before = sessionTokenOf(request);
      if (before !== null) await endSession(service.engine.db, before);
      setSessionCookie(request, reply, opened.token, service.basePath(request));
      const principal = await service.authenticator.authenticate(sessionAuthorization(opened.token));
      return described(service, principal);
    },
    async get({ service, request, reply }) {
      const principal = await known({ service, request, reply }, service.authorizationOf(request));
      return described(service, principal);
    },
    async end({ service, request, reply }) {
      // Asked for what it checks: another's page signs nobody out.
      service.authorizationOf(request);
      const token = sessionTokenOf(request);
      if (token !== null) await endSession(service.engine.db, token);
      setSessionCookie(request, reply, null, service.basePath(request));
    },
    async link({ service, request, principal: { key_id, tenant_id, session } }) {
      if (session !== undefined) {
        throw new Forbidden("a session makes no links: it would outlive itself", { hint: "ask with the key" });
      }
      if (key_id === null) {
        throw new Forbidden("links are made for API keys, and this call came with a token", {
          hint: "make a key",
          action: { verb: "keys.create" },
        });
      }
      const { code, expires_at } = await createSignInLink(service.engine.db, { tenant_id, key_id });
      return { url: `${service.signInUrl(request)}/sign-in#code=${code}`, key_id, expires_at };
    },
  });

/** The caller takes a place among the calls of their tenant, as with every other call. */
async function known({ service, request, reply }: Calling, authorization: string | undefined): Promise<Principal> {
  const principal = await service.authenticator.authenticate(authorization, request.ip);
  leaveWith(reply.raw, service.calls.take(principal.tenant_id));
  return principal;
}

async function byKey(calling: Calling, key: string): Promise<OpenedSession> {
  const { service } = calling;
  const { tenant_id, key_id } = await known(calling, `Bearer ${key}`);
  if (key_id === null) {
    throw new Forbidden("a browser signs in with an API key, and this is a token", {
      hint: "make a key",
      action: { verb: "keys.create" },
    });
  }
  return openSession(service.engine.db, { tenant_id, key_id });
}

async function byCode({ service, request }: Omit<Calling, "reply">, code: string): Promise<OpenedSession> {
  const wait_s = service.wrong_codes.wait(request.ip);
  if (wait_s > 0) {
    throw new OverLimit("too many links that did not work came from this address", {
      hint: "come back later, or sign in with a key",
      retry_after_s: wait_s,
    });
  }
  const opened = isLinkCode(code) ? await takeSignInLink(service.engine.db, code) : null;
  if (opened !== null) return opened;
  service.wrong_codes.failed(request.ip);
  throw new Unauthenticated("this link signs in no more: it was used, or is older than ten minutes", {
    hint: "get another: fanfold dashboard; or sign in with a key",
  });
}

async function described(service: Call["service"], principal: Principal) {
  const { tenant_id, actor, key_id, operator, session } = principal;
  const engine = service.engine.forTenant(tenant_id);
  const [tenant, key, catalog] = await Promise.all([
    engine.tenants.get(tenant_id),
    key_id === null ? null : engine.keys.get(key_id),
    service.catalogs.of(engine),
  ]);
  return {
    tenant_id,
    tenant_name: tenant.name,
    actor,
    key_id,
    key_name: key?.name ?? null,
    scopes: scopes.filter((one) => principal.scopes.has(one)),
    operator,
    expires_at: session?.expires_at ?? null,
    version: package_version,
    catalog: catalog !== null,
  };
}
