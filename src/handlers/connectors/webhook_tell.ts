// webhook.deliver: a task of one's own that tells a webhook endpoint of the tenant's something, signed with its secret like every
// delivery. It is a task like any other: what the receiver answers decides whether it is tried again, and its result is kept.
import { createHash } from "node:crypto";
import { z } from "zod";
import { defineHandler } from "../../core/declare/declare.js";
import { task_type_pattern } from "../../core/declare/names.js";
import { Permanent, Throttled, Transient } from "../../core/errors/errors.js";
import { endpoint_id_pattern } from "../../core/places/webhooks.js";
import { answerError } from "./answers.js";
import { NoKeys, sendSigned, type Target } from "./webhook_signed.js";

/** Types of Fanfold's own messages: a receiver takes these for what became of a job. */
const own_types = /^(job|webhook)(\.|$)/;

export const webhookTell = defineHandler(
  "webhook.deliver",
  {
    parameters: z.strictObject({
      endpoint: z
        .string()
        .regex(endpoint_id_pattern, "is not a webhook endpoint: we_…, as fanfold webhooks create told it")
        .describe("Which of the tenant's webhook endpoints gets the message"),
      type: z
        .string()
        .max(63)
        .regex(task_type_pattern, "words of small letters, digits and _ joined by dots")
        .refine(
          (type) => !own_types.test(type),
          "job.… and webhook.… are told by the service itself: use a word of yours",
        )
        .describe("What happened, in a word of yours: tiles.published"),
      data: z.unknown().optional().describe("Whatever the receiver is to know"),
    }),
    timeout_s: 120,
  },
  async ({ endpoint, type, data = null }, ctx) => {
    const [row] = await ctx.db(
      (session) =>
        session.sql<{ target: Target & { disabled: string | null; paused_s: number | null } }>`
          select app.webhook_target(${endpoint}::text) as target`,
    );
    const { disabled, paused_s, ...target } = row!.target;
    if (disabled !== null)
      throw new Permanent(`the endpoint ${endpoint} is disabled: ${disabled}`, { code: "disabled" });
    if (paused_s !== null)
      throw new Throttled(paused_s, `the endpoint ${endpoint} is paused after failures`, { code: "paused" });
    // The same on every attempt, so that a receiver can drop what it has heard already.
    const webhook_id = `msg_${createHash("sha256").update(ctx.effect_key).digest("hex").slice(0, 40)}`;
    const { job_id, task_id, stage, index } = ctx;
    const payload = JSON.stringify({ type, data, job_id, task_id, stage, index });
    const { host } = new URL(target.url);
    try {
      return await sendSigned(target, webhook_id, payload, ctx, async (head, body) => {
        const pieces: Uint8Array[] = [];
        for await (const piece of body) pieces.push(piece);
        if (head.status < 200 || head.status > 299) throw answerError(head, host, Buffer.concat(pieces));
        return { endpoint, webhook_id, status: head.status };
      });
    } catch (error) {
      if (error instanceof NoKeys) throw new Transient(error.message, { code: "no_key", cause: error });
      throw error;
    }
  },
);
