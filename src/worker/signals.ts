// SIGTERM and SIGINT: the first asks whatever runs to leave in peace, the second to leave at once, and who called decides what
// follows. Only the third ends the process: the person who sends it has seen that nothing else helps.

/** A worker, a server, or both together. */
export interface Leaver {
  stop(): Promise<void>;
  kill(): Promise<void>;
}

export interface SignalWatch {
  /** Resolves when it has left because of a signal; with whether it had to be told twice. */
  readonly stopped: Promise<"gracefully" | "at once">;
  /** Stops watching; signals have their usual effect again. */
  dispose(): void;
}

/** Calls back at each signal; returns how to stop listening. */
export type SignalSource = (listener: (signal: string) => void) => () => void;

const watched = ["SIGTERM", "SIGINT"] as const;

function processSignals(listener: (signal: string) => void): () => void {
  for (const signal of watched) process.on(signal, listener);
  return () => {
    for (const signal of watched) process.off(signal, listener);
  };
}

export interface SignalOptions {
  /** For tests, which must outlive the third signal. */
  onThird?: () => void;
  onFirst?: (signal: string) => void;
  source?: SignalSource;
}

export function stopOnSignals(leaver: Leaver, options: SignalOptions = {}): SignalWatch {
  const { onThird = () => process.exit(1), onFirst, source = processSignals } = options;
  let signals = 0;
  let resolve: (how: "gracefully" | "at once") => void;
  let reject: (error: unknown) => void;
  const stopped = new Promise<"gracefully" | "at once">((yes, no) => {
    resolve = yes;
    reject = no;
  });
  // A caller may never look at the promise.
  stopped.catch(() => {});
  const dispose = source((signal) => {
    signals++;
    if (signals > 2) {
      onThird();
      return;
    }
    if (signals === 1) onFirst?.(signal);
    const leaving = signals === 1 ? leaver.stop() : leaver.kill();
    leaving.then(() => resolve(signals === 1 ? "gracefully" : "at once"), reject);
  });
  return { stopped, dispose };
}
