// hello.greet: says hello, with its number.
import { z } from "zod";
import { defineHandler } from "../../core/declare/declare.js";

export interface Greeting {
  greeting: string;
}

export const helloGreet = defineHandler(
  "hello.greet",
  { parameters: z.object({ number: z.int() }) },
  async ({ number }, ctx): Promise<Greeting> => {
    const greeting = `Hello, world! This is greeting ${number + 1}.`;
    ctx.log.info(greeting);
    return { greeting };
  },
);
