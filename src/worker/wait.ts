// Waiting with an end: for a promise, but not longer than a time and not past a signal.

/** Whether the promise settled first. Its error, if any, is not reported here. */
export async function settlesWithin(promise: Promise<unknown>, ms: number, signal?: AbortSignal): Promise<boolean> {
  // Before anything else: an error that comes after the waiting must not be nobody's.
  const settled = promise.then(
    () => true,
    () => true,
  );
  if (signal?.aborted) return false;
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const given_up = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.min(ms, 2 ** 31 - 1));
    onAbort = () => resolve(false);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([settled, given_up]);
  } finally {
    clearTimeout(timer);
    if (onAbort !== undefined) signal?.removeEventListener("abort", onAbort);
  }
}

/** The promise, or the signal's reason if that comes first. What the promise comes to afterwards is ignored. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort!);
  }
}

/** A promise that is kept when a condition, looked at whenever something changes, holds. */
export class Moment {
  private waiters: (() => void)[] = [];

  constructor(private readonly holds: () => boolean) {}

  look(): void {
    if (this.waiters.length === 0 || !this.holds()) return;
    const { waiters } = this;
    this.waiters = [];
    for (const resolve of waiters) resolve();
  }

  reached(): Promise<void> {
    return this.holds() ? Promise.resolve() : new Promise((resolve) => this.waiters.push(resolve));
  }
}
