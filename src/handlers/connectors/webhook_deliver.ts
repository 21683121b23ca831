// connector.webhook.deliver: one try at one delivery. It asks the database what to send, signs the very bytes, sends them through
// the guard, and tells how it went; whether and when there is another try is the database's to say. A task that runs again after
// a crash sends the same id again and is counted once.
import { z } from "zod";
import { checkedNarrowing } from "../../core/connector_config.js";
import type { TaskContext } from "../../core/context.js";
import { defineHandler } from "../../core/declare.js";
import { classify } from "../../core/errors.js";
import { retryAfter } from "../../core/foreign_errors.js";
import { narrowed, type OutboundPolicy } from "../../core/outbound.js";
import { signedHeaders, webhookKey, webhookPurpose } from "../../core/webhooks.js";
import { type Body, type GuardedHead, guardedExchange, OutboundRefused } from "./guard/index.js";

interface Order {
  action: "send";
  url: string;
  payload: string;
  endpoint_id: string | null;
  timeout_s: number;
  attempt: number;
  /** The database's clock: the signature's time must not depend on this machine's. */
  now_s: number;
  /** Sealed, or secret://name; the newest first. */
  secrets: string[] | null;
  /** How the tenant narrows what its webhooks may call. */
  outbound: unknown;
}

type Begun = Order | { action: "stop"; why: string };

interface Tried {
  status?: number;
  bytes?: number;
  duration_ms: number;
  error?: string;
  body?: string;
  retry_after_s?: number;
  /** No later try could go better. */
  final?: boolean;
  /** Nothing was sent, for a reason on our side: it waits, and no try is used up. */
  postponed?: boolean;
}

interface Recorded {
  recorded: boolean;
  status: string;
  next_at: string | null;
}

export const webhookDeliver = defineHandler(
  "connector.webhook.deliver",
  {
    parameters: z.object({ delivery_id: z.string(), ticket: z.int() }),
    // Of what a tenant may configure for every connector, `outbound` counts here, under the name "default".
    configuration: z.object({}),
    timeout_s: 120,
  },
  async ({ delivery_id, ticket }, ctx) => {
    const [begun] = await ctx.db(
      (session) =>
        session.sql<{ order: Begun }>`select app.begin_delivery(${delivery_id}::text, ${ticket}::integer) as order`,
    );
    const order = begun!.order;
    if (order.action === "stop") return { delivery_id, sent: false, why: order.why };
    const tried = await tryOnce(delivery_id, order, ctx);
    const request = JSON.stringify({ delivery_id, ticket, ...tried });
    const [told] = await ctx.db(
      (session) => session.sql<{ reply: Recorded }>`select app.record_delivery(${request}::text::json) as reply`,
    );
    const { status, next_at } = told!.reply;
    const { error = null, postponed = false } = tried;
    const went = { delivery_id, sent: !postponed, status, http_status: tried.status ?? null, error, next_at };
    const failed = error !== null || (tried.status ?? 0) >= 300;
    return failed ? withOperatorDetail(went, order, tried) : went;
  },
);

async function tryOnce(delivery_id: string, order: Order, ctx: TaskContext): Promise<Tried> {
  const began = performance.now();
  try {
    const body = Buffer.from(order.payload, "utf8");
    const keys = await keysOf(order, ctx);
    const headers = {
      "content-type": "application/json",
      "user-agent": "fanfold-webhooks",
      ...signedHeaders(delivery_id, order.now_s, body, keys),
    };
    const policy = policyOf(order, ctx.outbound);
    const { url } = order;
    const answer = await guardedExchange(
      { url, method: "POST", headers, body, policy, signal: ctx.signal },
      readAnswer,
    );
    return { ...answer, duration_ms: Math.round(performance.now() - began) };
  } catch (error) {
    // Asked to stop is no verdict about the receiver: the task runs again, and asks again.
    ctx.signal.throwIfAborted();
    const { code, message } = classify(error);
    return {
      duration_ms: Math.round(performance.now() - began),
      error: `${code}: ${message}`.slice(0, 200),
      // What policy forbids today it forbids tomorrow; once it is changed, the delivery can be replayed.
      ...(error instanceof OutboundRefused ? { final: true } : {}),
      ...(error instanceof NoKeys ? { postponed: true, error: error.message.slice(0, 200) } : {}),
    };
  }
}

/** A secret is missing or cannot be opened here: the receiver has no part in it. */
class NoKeys extends Error {
  constructor(why: string) {
    super(`it cannot be signed yet: ${why}`);
  }
}

/** A try that failed stands in the operator's log: not enumerable, so that it is no part of the result, which the tenant reads. */
function withOperatorDetail<Result extends { delivery_id: string }>(
  result: Result,
  order: Order,
  tried: Tried,
): Result {
  const what = tried.error ?? `HTTP ${tried.status}`;
  const origin = URL.canParse(order.url) ? new URL(order.url).origin : "its address";
  const value = `webhook delivery ${result.delivery_id} to ${origin}, try ${order.attempt}: ${what}`;
  return Object.defineProperty(result, "operator_detail", { enumerable: false, value });
}

/** All that can be opened: during a rotation one that is gone must not stop the other. */
async function keysOf({ secrets, endpoint_id }: Order, ctx: TaskContext): Promise<Uint8Array[]> {
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
function policyOf({ timeout_s, outbound }: Order, operators: OutboundPolicy): OutboundPolicy {
  const tenants = narrowed(operators, checkedNarrowing(outbound));
  const policy = narrowed(tenants, { max_redirects: 0, timeout_s, max_response_bytes: read_bytes });
  return { ...policy, headers_timeout_ms: policy.total_timeout_ms };
}

const read_bytes = 64 * 1024;
const read_ms = 3_000;
const excerpt_bytes = 1024;
/** An answer of another kind may be anything: its bytes are counted, not kept. */
const kept_types = /^(text\/plain|application\/json|application\/problem\+json)\s*(;|$)/i;

/** The head is the verdict. The body is read for the log alone, for a moment and a little: it can neither help nor harm. */
async function readAnswer({ status, headers }: GuardedHead, body: Body): Promise<Omit<Tried, "duration_ms">> {
  const pieces: Uint8Array[] = [];
  const reading = (async () => {
    for await (const piece of body) pieces.push(piece);
  })();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, read_ms);
  });
  await Promise.race([reading.catch(() => {}), late]);
  clearTimeout(timer);
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const is_kept = kept_types.test(headers["content-type"] ?? "");
  const retry_after_s = status === 429 || status === 503 ? retryAfter(headers) : undefined;
  return {
    status,
    bytes,
    ...(is_kept && bytes > 0 ? { body: excerpt(Buffer.concat(pieces)) } : {}),
    ...(retry_after_s === undefined ? {} : { retry_after_s }),
  };
}

function excerpt(bytes: Buffer): string {
  // A character cut in half at the end, or bytes that are no text, become one mark that is larger than what it stands for.
  let text = bytes.subarray(0, excerpt_bytes).toString("utf8").replaceAll("\0", "");
  while (Buffer.byteLength(text) > excerpt_bytes) text = text.slice(0, -1);
  return text.toWellFormed();
}
