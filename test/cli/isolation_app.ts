// Handlers for `fanfold up` that do not end by themselves, or end more than themselves.
import { appendFileSync } from "node:fs";
import { defineHandler } from "../../src/core/declare/declare.js";

const isolated = { isolation: "process", module: import.meta.url } as const;
const say = (file: string) => appendFileSync(file, `${process.pid}\n`);
const for_ever = () => new Promise(() => {});

export default {
  handlers: [
    defineHandler("app.calm", isolated, ({ file }) => say(file)),
    defineHandler("app.spin", isolated, ({ file }) => {
      say(file);
      for (;;);
    }),
    defineHandler("app.deaf", isolated, ({ file }) => {
      process.on("SIGTERM", () => {});
      say(file);
      return for_ever();
    }),
    defineHandler("app.exit", {}, () => process.exit(5)),
    defineHandler("app.throw_aside", {}, () => {
      setTimeout(() => {
        throw new Error("out of a timer");
      });
      return for_ever();
    }),
  ],
};
