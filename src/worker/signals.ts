// SIGTERM and SIGINT: the first asks the worker to leave in peace, the second to leave at once, and who called decides what
// follows. Only the third ends the process: whoever sends it has seen that nothing else helps.
import type { Worker } from "./worker.js";

export interface SignalWatch {
  /** Resolves when the worker has left because of a signal; with whether it had to be told twice. */
  readonly stopped: Promise<"gracefully" | "at once">;
  /** Stops watching; signals have their usual effect again. */
  dispose(): void;
}

const watched = ["SIGTERM", "SIGINT"] as const;

/** `onThird`: for tests, which must outlive the third signal. */
export function stopOnSignals(worker: Worker, onThird: () => void = () => process.exit(1)): SignalWatch {
  let signals = 0;
  let resolve: (how: "gracefully" | "at once") => void;
  let reject: (error: unknown) => void;
  const stopped = new Promise<"gracefully" | "at once">((yes, no) => {
    resolve = yes;
    reject = no;
  });
  // A caller may never look at the promise.
  stopped.catch(() => {});
  const onSignal = (): void => {
    signals++;
    if (signals > 2) {
      onThird();
      return;
    }
    const leaving = signals === 1 ? worker.stop() : worker.kill();
    leaving.then(() => resolve(signals === 1 ? "gracefully" : "at once"), reject);
  };
  for (const signal of watched) process.on(signal, onSignal);
  return {
    stopped,
    dispose: () => {
      for (const signal of watched) process.off(signal, onSignal);
    },
  };
}
