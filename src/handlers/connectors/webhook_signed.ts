// A message to a webhook's receiver: signed with its secrets over the very bytes, sent through the guard, without redirects.

import { classify } from "../../core/errors/errors.js";
import { checkedNarrowing } from "../../core/places/connector_config.js";
import { narrowed, type OutboundPolicy } from "../../core/places/outbound.js";
import { signedHeaders, webhookKey, webhookPurpose } from "../../core/places/webhooks.js";
import type { TaskContext } from "../../core/task/context.js";
import { type Body, type GuardedHead, guardedExchange } from "./guard/index.js";

export interface Target {
  url: string;
  /** null: a receiver that a job names itself. */
  endpoint_id: string | null;
  timeout_s: number;
  /** The database's clock: the signature's time must not depend on this machine's. */
  now_s: number;
  /** Sealed, or secret://name; the newest first. */
  secrets: string[] | null;
  /** How the tenant narrows what its webhooks may call. */
  outbound: unknown;
}

/** `id`: sent as webhook-id, the same on every try. */
export async function sendSigned<Answer>(
  target: Target,
  id: string,
  payload: string,
  ctx: TaskContext,
  read: (head: GuardedHead, body: Body) => Promise<Answer>,
): Promise<Answer> {
  const body = Buffer.from(payload, "utf8");
  const about = { "content-type": "application/json", "user-agent": "fanfold-webhooks" };
  const headers = isSubscriber(target)
    ? { ...about, "webhook-id": id }
    : { ...about, ...signedHeaders(id, target.now_s, body, await keysOf(target, ctx)) };
  const policy = policyOf(target, ctx.outbound);
  const { url } = target;
  return guardedExchange({ url, method: "POST", headers, body, policy, signal: ctx.signal }, read);
}

/** A receiver of OGC API Processes, which a job names itself, has no secret to be told with. */
function isSubscriber({ endpoint_id, secrets }: Target): boolean {
  return endpoint_id === null && secrets === null;
}

/** A secret is missing or cannot be opened here: the receiver has no part in it. */
export class NoKeys extends Error {
  constructor(why: string) {
    super(`it cannot be signed yet: ${why}`);
  }
}

/** All that can be opened: during a rotation one that is gone must not stop the other. */
async function keysOf({ secrets, endpoint_id }: Target, ctx: TaskContext): Promise<Uint8Array[]> {
  const keys: Uint8Array[] = [];
  let failure: unknown = new Error("the delivery has no secret to be signed with");
  for (const secret of secrets ?? []) {
    try {
      const is_name = secret.startsWith("secret://");
      const plain = is_name ? await ctx.secret(secret) : await ctx.unseal(secret, webhookPurpose(endpoint_id ?? ""));
      keys.push(webhookKey(plain));
    } catch (error) {
      if (keys.length === 0) failure = error;
    }
  }
  if (keys.length === 0) throw new NoKeys(classify(failure).message);
  return keys;
}

/** Redirects are answers that failed; of the answer, no more than the log keeps is worth waiting for. */
function policyOf({ timeout_s, outbound }: Target, operators: OutboundPolicy): OutboundPolicy {
  const tenants = narrowed(operators, checkedNarrowing(outbound));
  const policy = narrowed(tenants, { max_redirects: 0, timeout_s, max_response_bytes: read_bytes });
  return { ...policy, headers_timeout_ms: policy.total_timeout_ms };
}

const read_bytes = 64 * 1024;
