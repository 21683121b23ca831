// Handlers of another process that ask for a secret and then do everything one must not do with it.
import { defineHandler } from "../../src/core/declare/declare.js";
import { Permanent } from "../../src/core/errors/errors.js";
import type { TaskContext } from "../../src/index.js";

async function leak(ctx: TaskContext): Promise<string> {
  const value = await ctx.secret("stripe_key");
  const basic = Buffer.from(`user:${value}`).toString("base64");
  ctx.log.info(`the key is ${value}, as basic ${basic}`, {
    url: `https://x/?k=${encodeURIComponent(value)}`,
    list: [value],
  });
  ctx.log.warn(`${"x".repeat(8185)}${value}`);
  ctx.progress(0.5, `with ${value}`);
  ctx.next_stage_params({ value });
  ctx.deliver({ name: `of ${value}` });
  return value;
}

export async function leaks(parameters: Record<string, unknown>, ctx: TaskContext): Promise<unknown> {
  const value = await leak(ctx);
  if (parameters.how === "throws") throw new Permanent(`refused ${value} ${"y".repeat(4060)} ${value}`);
  if (parameters.how === "returns_failure") return { success: false, retry: false, error: `no ${value}` };
  return { value, nested: [{ [value]: Buffer.from(value).toString("base64url") }], untouched: "sk" };
}

const isolated = { isolation: "process", module: import.meta.url } as const;

export const leaks_apart = defineHandler("leaks_apart", isolated, leaks);

export const dies_with_secret = defineHandler("dies_with_secret", isolated, async (_, ctx) => {
  const value = await leak(ctx);
  process.stderr.write(`last words: ${value}\n`);
  setTimeout(() => {
    throw new Error(`nobody catches ${value}`);
  });
  await new Promise(() => {});
});

export const opens = defineHandler("opens", isolated, async ({ sealed }, ctx) => {
  const value = await ctx.unseal(sealed, "webhook/1");
  return { length: value.length, value };
});
