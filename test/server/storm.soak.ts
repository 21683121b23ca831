import { expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { openService } from "./service.js";

test("a thousand submits of one job at once are one that is made and 999 that exist, and no caller is sent away", async () => {
  const service = await openService({
    jobs: [defineJob({ type: "greet", stages: [{ name: "say", task: "t.say" }] })],
    handlers: [defineHandler("t.say", {}, () => null)],
  });
  try {
    for (let storm = 0; storm < 10; storm++) {
      const body = { parameters: { storm } };
      const submits = Array.from({ length: 1000 }, () => service.call("POST", "/api/jobs/submit/greet", { body }));
      const counted = new Map<number, number>();
      for (const { status } of await Promise.all(submits)) counted.set(status, (counted.get(status) ?? 0) + 1);
      expect([...counted].sort()).toEqual([
        [200, 999],
        [201, 1],
      ]);
    }
  } finally {
    await service.close();
  }
});
