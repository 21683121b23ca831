// Signals and time limits. AbortSignal.any came after Node 20.0, so signals are joined by hand.

export interface Deadline {
  /** Aborted when the time is over or the outer signal is. */
  signal: AbortSignal;
  ms: number;
  passed(): boolean;
  /** No time limit any more; the outer signal is still followed. */
  stopClock(): void;
  clear(): void;
}

export function deadline(ms: number, outer?: AbortSignal): Deadline {
  const controller = new AbortController();
  let passed = false;
  const timer = setTimeout(() => {
    passed = true;
    controller.abort();
  }, ms);
  const follow = () => controller.abort(outer?.reason);
  outer?.addEventListener("abort", follow, { once: true });
  if (outer?.aborted === true) follow();
  return {
    signal: controller.signal,
    ms,
    passed: () => passed,
    stopClock: () => clearTimeout(timer),
    clear() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", follow);
    },
  };
}

/** Rejects with the signal's reason when it is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
