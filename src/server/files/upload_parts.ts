// PUT /api/files/<upload>/parts/<part>: the bytes of one part go to where uploads are gathered, as they come. Nothing of a body is taken whose
// caller is not known, whose upload is not there, or whose length is not the one that was announced.
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ParamsOf } from "../../core/api/endpoint.js";
import { upload_parts_api } from "../../core/api/files/uploads.js";
import { BadRequest } from "../../core/errors/errors.js";
import type { Engine } from "../../engine/engine.js";
import { type Authenticator, assertScope } from "../access/auth.js";
import { leaveWith } from "../http/call_places.js";
import { checked } from "../http/request_problems.js";
import type { Service } from "../service.js";

export interface UploadPartsParts {
  authenticator: Authenticator;
  service: Service;
  engines: { of(tenant: string): Engine };
}

const { put } = upload_parts_api;

export function registerUploadParts(app: FastifyInstance, { authenticator, service, engines }: UploadPartsParts): void {
  app.register(async (inner) => {
    inner.removeAllContentTypeParsers();
    // As it comes: whatever it is said to be, it is bytes to us.
    inner.addContentTypeParser("*", (_request, payload, done) => done(null, payload));
    const tenants = new WeakMap<FastifyRequest, string>();
    inner.route({
      method: "PUT",
      url: put.path.replaceAll(/\{(\w+)\}/g, ":$1"),
      onRequest: async (request, reply) => {
        const principal = await authenticator.authenticate(service.authorizationOf(request), request.ip);
        assertScope(principal, "submit", false);
        leaveWith(reply.raw, service.calls.take(principal.tenant_id));
        tenants.set(request, principal.tenant_id);
      },
      handler: async (request, reply) => {
        const { upload_id, part } = checked(put, request).params as ParamsOf<typeof put>;
        const { uploads } = engines.of(tenants.get(request)!);
        const expected = await uploads.expected(upload_id, part);
        const told = request.headers["content-length"];
        if (told !== String(expected)) {
          reply.header("connection", "close");
          throw new BadRequest(`part ${part} has ${expected} bytes, and Content-Length is ${told ?? "not told"}`, {
            hint: `see \`parts\` of GET /api/files/${upload_id}`,
          });
        }
        const body = (request.body ?? []) as IncomingMessage | Iterable<Uint8Array>;
        const stored = await uploads.putPart(upload_id, part, expected, pieces(body));
        return reply.type("application/json; charset=utf-8").send(JSON.stringify(stored));
      },
    });
  });
}

/** A caller that is gone in the middle is no fault of the store's. */
async function* pieces(body: IncomingMessage | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw new BadRequest("the part broke off on its way", { hint: "send it again", cause: error });
  }
}
