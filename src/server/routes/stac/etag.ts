// What an answer is, in a few characters. The first part is of the record as it is stored, so that a change can name what it was made
// of; the second of the answer as it was served, so that signed addresses are not taken for fresh ones.
import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { FanfoldError } from "../../../core/errors/errors.js";

class ChangedMeanwhile extends FanfoldError {
  override readonly http_status = 412;
  override readonly code = "changed_meanwhile";
}

function hash(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 16);
}

export function setTag(reply: FastifyReply, answer: unknown, stored: unknown = answer): string {
  const etag = `"${hash(stored)}.${hash(answer)}"`;
  reply.header("etag", etag).header("cache-control", "private, no-cache");
  return etag;
}

/** Sets the ETag; undefined, with 304, when the caller has this very answer. */
export function unlessKnown<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: T,
  stored: unknown = answer,
): T | undefined {
  const etag = setTag(reply, answer, stored);
  const given = request.headers["if-none-match"];
  if (given === undefined || !(given.trim() === "*" || listed(given).includes(etag))) return answer;
  reply.status(304);
  return undefined;
}

/** Throws when the caller's change was made of something else than what is there. */
export function assertUnchanged(request: FastifyRequest, stored: unknown): void {
  const given = request.headers["if-match"];
  if (given === undefined || given.trim() === "*") return;
  const now = hash(stored);
  if (listed(given).some((one) => one.startsWith(`"${now}.`))) return;
  throw new ChangedMeanwhile("conflict", "it was changed since it was read", {
    hint: "read it again, and change that",
  });
}

/** Proxies that pack an answer make its ETag a weak one. */
function listed(header: string): string[] {
  return header.split(",").map((one) => one.trim().replace(/^W\//, ""));
}
