// The claim of a worker that came over HTTP: one call, of its tenant alone, with what such a worker bounds by itself.
import type { Queryable } from "../database/database.js";
import { replied } from "../verbs/reply.js";
import type { ClaimedBatch, ClaimReply } from "./commands.js";

/** What a worker over HTTP asks for, for its tenant. */
interface ClaimForRequest {
  worker_id: string;
  limit: number;
  /** At most so many of these types. */
  per_type?: Readonly<Record<string, number>> | undefined;
  known: readonly number[];
  turns: Readonly<Record<string, number>>;
}

interface ClaimForReply {
  /** A stage whose plan is data: the server that asks carries it out, and asks again. */
  plan: ClaimedBatch | null;
  /** It was written idle before this look: whatever is enqueued after it is told of. */
  idle?: boolean;
  replies?: ClaimReply[];
  turns?: Record<string, number>;
}

export function claimFor(db: Queryable, request: ClaimForRequest): Promise<ClaimForReply> {
  return replied(db.sql`select app.claim_for(${JSON.stringify(request)}::text::json) as reply`);
}
