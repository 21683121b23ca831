// hello.reply: answers the greeting with the same index in the stage before.
import { defineHandler } from "../../core/declare/declare.js";
import { Permanent } from "../../core/errors/errors.js";
import type { Greeting } from "./greet.js";

export const helloReply = defineHandler("hello.reply", {}, async (_parameters, ctx) => {
  const before = await ctx.predecessor<Greeting>();
  if (!before?.result) throw new Permanent(`${ctx.index} has no greeting to reply to`);
  return { to: before.index, reply: `Hello back! You said: ${before.result.greeting}` };
});
