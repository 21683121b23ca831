// A worker that crashes as soon as it has started, and a process manager that starts it again and again, all within one lease.
import { expect } from "vitest";
import { fault } from "./fault.js";

const restarts = 12;

fault(
  "F1 kill -9 and restart of one worker, twelve times within its lease",
  async (scene) => {
    await scene.submit({ ms: 20 });
    const options = { lease_s: 30 };
    for (let n = 0; n < restarts; n++) {
      const worker = await scene.worker({ options });
      // Refused for want of connections, it would have ended without a word.
      expect([n, worker.lines.some((line) => line.startsWith("ready"))]).toEqual([n, true]);
      await worker.kill();
    }
    await scene.worker({ options });
    await scene.settle();
  },
  { limit_s: 180 },
);
