// connector.webhook.deliver: one try at one delivery. It asks the database what to send, signs the very bytes, sends them through
// the guard, and tells how it went; whether and when there is another try is the database's to say. A task that runs again after
// a crash sends the same id again and is counted once.
import { z } from "zod";
import { defineHandler } from "../../core/declare/declare.js";
import { classify } from "../../core/errors/errors.js";
import { retryAfter } from "../../core/errors/foreign_errors.js";
import type { TaskContext } from "../../core/task/context.js";
import { type Body, type GuardedHead, OutboundRefused } from "./guard/index.js";
import { NoKeys, sendSigned, type Target } from "./webhook_signed.js";

interface Order extends Target {
  action: "send";
  payload: string;
  attempt: number;
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
    // What a tenant may configure for every connector is `outbound`; here it counts under the name "default".
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
    const answer = await sendSigned(order, delivery_id, order.payload, ctx, readAnswer);
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
  return { status, bytes, ...(is_kept && bytes > 0 ? { body: excerpt(Buffer.concat(pieces)) } : {}), retry_after_s };
}

function excerpt(bytes: Buffer): string {
  // A character cut in half at the end, or bytes that are no text, become one mark that is larger than what it stands for.
  let text = bytes.subarray(0, excerpt_bytes).toString("utf8").replaceAll("\0", "");
  while (Buffer.byteLength(text) > excerpt_bytes) text = text.slice(0, -1);
  return text.toWellFormed();
}
