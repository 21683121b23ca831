// PUT /api/workers/<worker>/files/upload: the bytes of a task's file go to where it lies, as they come. Nothing of a body is taken whose caller is not
// known, or whose length is not told.
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ParamsOf, QueryOf } from "../../core/api/endpoint.js";
import { upload_api } from "../../core/api/work/files.js";
import { largest_part } from "../../core/api/work/limits.js";
import { BadRequest, TooLarge } from "../../core/errors/errors.js";
import type { Engine } from "../../engine/engine.js";
import { type Authenticator, assertScope } from "../access/auth.js";
import { leaveWith } from "../http/call_places.js";
import { checked } from "../http/request_problems.js";
import type { Service } from "../service.js";

export interface WorkerUploadsParts {
  authenticator: Authenticator;
  service: Service;
  engines: { of(tenant: string): Engine };
}

const { upload } = upload_api;

export function registerWorkerUploads(app: FastifyInstance, parts: WorkerUploadsParts): void {
  const { authenticator, service, engines } = parts;
  app.register(async (inner) => {
    inner.removeAllContentTypeParsers();
    // As it comes: whatever it is said to be, it is bytes to us.
    inner.addContentTypeParser("*", (_request, payload, done) => done(null, payload));
    const tenants = new WeakMap<FastifyRequest, string>();
    inner.route({
      method: "PUT",
      url: upload.path.replaceAll(/\{(\w+)\}/g, ":$1"),
      onRequest: async (request, reply) => {
        if (Number(request.headers["content-length"]) > largest_part) {
          reply.header("connection", "close");
          throw new TooLarge(`one call takes at most ${largest_part} bytes`, { hint: "send the file in parts" });
        }
        const principal = await authenticator.authenticate(service.authorizationOf(request), request.ip);
        assertScope(principal, "work", false);
        leaveWith(reply.raw, service.calls.take(principal.tenant_id));
        tenants.set(request, principal.tenant_id);
      },
      handler: async (request, reply) => {
        try {
          const { params, query } = checked(upload, request);
          const target = query as QueryOf<typeof upload>;
          const { worker_id } = params as ParamsOf<typeof upload>;
          const part = partOf(request, target.bytes);
          const pieces = (request.body ?? []) as IncomingMessage | Iterable<Uint8Array>;
          const { work } = engines.of(tenants.get(request)!);
          const arrived = await work.files.receive(worker_id, target, { ...part, pieces: asPieces(pieces) });
          return await reply.type("application/json; charset=utf-8").send(JSON.stringify(arrived));
        } catch (error) {
          // The rest of the body is not read: the connection is of no more use.
          reply.header("connection", "close");
          throw error;
        }
      },
    });
  });
}

async function* asPieces(body: IncomingMessage | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* body;
}

/** Which bytes of the file the body is. */
function partOf({ headers }: FastifyRequest, total: number): { offset: number; bytes: number } {
  const length = Number(headers["content-length"] ?? Number.NaN);
  if (!Number.isSafeInteger(length))
    throw new BadRequest("Content-Length is missing", { hint: "say how long the body is" });
  const range = headers["content-range"];
  const [, first, last, all] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(range ?? "")?.map(Number) ?? [];
  if (range !== undefined && first === undefined) {
    throw new BadRequest("Content-Range cannot be read", { hint: `write it so: bytes 0-${length - 1}/${total}` });
  }
  const part = { offset: first ?? 0, bytes: length };
  const is_right =
    first === undefined ? length === total : all === total && last === first + length - 1 && last < total;
  if (!is_right) {
    throw new BadRequest(`the file has ${total} bytes, and the body ${length}, which is not what Content-Range says`, {
      hint: `send Content-Range: bytes FIRST-LAST/${total}`,
    });
  }
  return part;
}
