// How many tasks a worker holds ahead of its slots (surplus.ts says how many it gives back). Pure: durations and counts come in as
// arguments. The aim is that a task waits in a worker about a second at most, because elsewhere a slot may be free.

/** What is waiting should start within this time. */
export const AHEAD_MS = 1000;
/** The same where jobs or tenants share the worker: what has just come waits behind all that is held. */
export const SHARED_AHEAD_MS = 100;
/** A batch may be this many times the last one: no-op tasks reach the largest batch in three claims, surprises stay small. */
const GROWTH = 8;
/** A sample weighs at least this much, so that the estimate follows when a type's tasks change their nature. */
const WEIGHT = 1 / 16;

/** What is known about the tasks of one type. */
export interface HandlerPace {
  /** Wall time of the handler. */
  duration_ms: number;
  /** The part of it that blocked the event loop: slots do not divide that. */
  busy_ms: number;
  samples: number;
}

export function newPace(): HandlerPace {
  return { duration_ms: 0, busy_ms: 0, samples: 0 };
}

export function recordPace(pace: HandlerPace, duration_ms: number, busy_ms: number): void {
  const samples = ++pace.samples;
  const weight = samples < 16 ? 1 / samples : WEIGHT;
  pace.duration_ms += (duration_ms - pace.duration_ms) * weight;
  pace.busy_ms += (busy_ms - pace.busy_ms) * weight;
}

/** Milliseconds between two starts when all slots are busy with such tasks; null when none has been seen. */
export function msPerStart(pace: HandlerPace, slots: number): number | null {
  return pace.samples === 0 ? null : Math.max(pace.duration_ms / slots, pace.busy_ms);
}

export interface Load {
  slots: number;
  running: number;
  queued: number;
  batch_max: number;
  /** For the tasks to come, guessed from the last ones; null = never seen. */
  ms_per_start: number | null;
  /** How many tasks the last claim that found any brought. */
  last_batch: number;
  /** The shortest time any running task has run: when all slots are taken, tasks take at least that long. */
  youngest_ms: number;
  /** What is claimed should start within this time. */
  ahead_ms: number;
}

/**
 * The limit of the next claim, 0 = do not claim now. Long or unknown tasks: the free slots and no more. Short ones: what
 * starts within `ahead_ms`, at most two largest batches, asked for again when half of it is gone.
 */
export function wantedBatch(load: Load): number {
  const free = Math.min(Math.max(0, load.slots - load.running - load.queued), load.batch_max);
  const busy = load.running >= load.slots;
  // Nothing has started for a second, and it is not known when something will: what is handed back is not claimed again.
  if (load.ms_per_start === null || (busy && load.youngest_ms >= AHEAD_MS)) return free;
  const ms_per_start = Math.max(load.ms_per_start, busy ? load.youngest_ms / load.slots : 0);
  const starts = ms_per_start <= 0 ? Number.POSITIVE_INFINITY : Math.floor(load.ahead_ms / ms_per_start);
  const depth = Math.min(starts, 2 * load.batch_max);
  if (load.queued * 2 > depth) return free;
  const growth = Math.max(load.slots, load.last_batch * GROWTH);
  return Math.max(free, Math.min(depth - load.queued, growth, load.batch_max));
}
