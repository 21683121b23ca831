// Rates and remaining times out of successive looks at a job: for readers, on the terminal or in the browser. Pure: the
// caller says what time it is.

export interface PacedStage {
  number: number;
  status: string;
  total: number | null;
  completed: number;
  failed: number;
  skipped: number;
  cancelled: number;
}

/** What one look at a job told, reduced to what a rate needs. */
export interface Sample {
  at_ms: number;
  done: ReadonlyMap<number, number>;
}

export interface Pace {
  per_s: number;
  eta_s: number | null;
}

const window_ms = 10_000;

export function doneOf(stage: PacedStage): number {
  return stage.completed + stage.failed + stage.skipped + stage.cancelled;
}

/** Appends a sample and forgets what is older than the window, but always keeps one sample to measure against. */
export function remember(
  samples: readonly Sample[],
  { stages }: { stages: readonly PacedStage[] },
  at_ms: number,
): Sample[] {
  const done = new Map(stages.map((stage) => [stage.number, doneOf(stage)]));
  const recent = samples.filter((sample) => at_ms - sample.at_ms <= window_ms);
  return [...(recent.length > 0 ? recent : samples.slice(-1)), { at_ms, done }];
}

/** The pace of each running stage over the window. A stage that has not moved yet has none. */
export function paces(samples: readonly Sample[], { stages }: { stages: readonly PacedStage[] }): Map<number, Pace> {
  const result = new Map<number, Pace>();
  const last = samples.at(-1);
  if (!last) return result;
  for (const stage of stages) {
    if (stage.status !== "processing") continue;
    const done = last.done.get(stage.number) ?? 0;
    // Measure from the last sample in which the stage stood still at its start: waiting time is not working time.
    const since = samples.findLast((sample) => (sample.done.get(stage.number) ?? 0) === 0) ?? samples[0];
    if (!since || since.at_ms >= last.at_ms) continue;
    const per_s = ((done - (since.done.get(stage.number) ?? 0)) * 1000) / (last.at_ms - since.at_ms);
    if (per_s <= 0) continue;
    const left = stage.total === null ? null : Math.max(0, stage.total - done);
    result.set(stage.number, { per_s, eta_s: left === null ? null : left / per_s });
  }
  return result;
}
