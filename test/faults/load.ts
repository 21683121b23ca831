// Load that does not end before the fault does.
import { setTimeout as sleep } from "node:timers/promises";
import type { Scene } from "./scene.js";

/** Submits small jobs one after the other until told to stop; what is not answered is asked again, with the same content. */
export function keepSubmitting(scene: Scene): { stop(): Promise<number> } {
  let stopped = false;
  const all = (async () => {
    let count = 0;
    for (; !stopped; count++) {
      await scene.patiently(() => scene.submit({ n: 2, ms: 1, name: `small ${count}` }));
      await sleep(50);
    }
    return count;
  })();
  return {
    stop: () => {
      stopped = true;
      return all;
    },
  };
}
