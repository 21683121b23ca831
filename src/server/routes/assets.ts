// Files that tasks made. What they hold is anybody's: they are handed over to be saved, and a browser that shows one all the same
// runs nothing of it. A file is found through a task of the caller's tenant, and only where that tenant's files lie.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { assets_api } from "../../core/api/files/assets.js";
import { NotFound, StorageError } from "../../core/errors/errors.js";
import { isOfTenant, type Ref } from "../../core/places/store.js";
import type { Engine } from "../../engine/engine.js";
import { routes } from "../http/route.js";

const asset_shape = z.object({
  name: z.string(),
  media_type: z.string(),
  ref: z.object({
    store: z.string(),
    key: z.string(),
    bytes: z.int().min(0),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  }),
});

export const assetsRoutes = () =>
  routes(assets_api, {
    async download({ engine, params, request, reply, principal }) {
      const { result } = await engine.task(params.task_id);
      const found = asset_shape.safeParse((result as { asset?: unknown } | null)?.asset);
      // A result says what its maker wants it to: a key elsewhere would be another tenant's file.
      if (!found.success || !isOfTenant(found.data.ref, principal.tenant_id)) {
        throw new NotFound("this task has made no file", {
          hint: "its result has no asset; see GET /api/tasks/{task_id}",
        });
      }
      await sendFile(engine, found.data, request, reply);
    },
  });

type Asset = z.output<typeof asset_shape>;

/** Streamed, always as a download, and cut off where it is not what its reference says. */
export async function sendFile(
  { store, log }: Engine,
  asset: Asset,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const pieces = store.getStream(asset.ref)[Symbol.asyncIterator]();
  try {
    await sendPieces(pieces, asset, request, reply);
  } catch (error) {
    if (!(error instanceof StorageError) || error.reason === "unavailable") throw error;
    log.warn({ err: error }, "a task's file cannot be read");
    throw gone(asset.ref);
  } finally {
    // The caller may have gone: the file is closed all the same.
    await pieces.return?.();
  }
}

async function sendPieces(
  pieces: AsyncIterator<Uint8Array>,
  { name, media_type, ref }: Asset,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  // Always one ahead: the last piece is handed over when the checksum is known, and a file that is gone or altered is found
  // before anything is promised.
  const begun = [await pieces.next(), await pieces.next()] as const;
  reply.hijack();
  reply.raw.writeHead(200, {
    "content-type": /^[\w.+-]+\/[\w.+-]+(; charset=utf-8)?$/.test(media_type) ? media_type : "application/octet-stream",
    "content-length": ref.bytes,
    "content-disposition": `attachment; filename="${name.replaceAll(/[^\w.-]/g, "_").slice(0, 100)}"`,
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "private, no-store",
    etag: `"${ref.sha256}"`,
    "x-request-id": request.id,
  });
  async function* all(): AsyncGenerator<Uint8Array> {
    let [held, next] = begun;
    while (held.done !== true) {
      yield held.value;
      held = next;
      next = next.done === true ? next : await pieces.next();
    }
  }
  // If it breaks on the way, or its checksum is another, the connection is cut: nobody must take a part for the whole.
  await pipeline(Readable.from(all()), reply.raw).catch(() => reply.raw.destroy());
}

function gone(ref: Ref): NotFound {
  return new NotFound("the file that this task made is not there any more, or is not what it was", {
    hint: `run the task again; it was ${ref.bytes} bytes`,
  });
}
