// The boxes and states of stages that somebody looks at. Boxes change only when a stage is planned again, so they are read once and
// kept; states are read anew, but once for all who look at the same time, and the larger the stage, the less often.
import { performance } from "node:perf_hooks";
import { LRUCache } from "lru-cache";
import { type FootprintState, footprint_states } from "../../core/shown/footprints.js";
import type { Engine } from "../../engine/engine.js";
import { rangesIn, results_at_once, type StageStates, TaskBoxes } from "../../engine/verbs/task_boxes.js";
import { BoxSet, footprintBox } from "../../geo/boxes.js";
import { rangesOf } from "../../geo/packed_boxes.js";

const PAGE_ROWS = 20_000;
/** More tasks than that in one stage are not drawn. */
const MOST_TASKS = 1_000_000;
/** The boxes of all stages that are kept; a stage of 100,000 tasks takes 4 MB. */
const MOST_BYTES = 64 * 1024 * 1024;
/** So many results are opened to see whether a stage's results say where they are. */
const PROBED = 20;
/** States are as old as this at most, and ten times as old as they took to read. */
const FRESH_MS = 400;
/** States that no caller has looked at for so long are let go. */
const FORGOTTEN_MS = 60_000;
/** All states that are kept, with the boxes they hold on to: a caller who looks at stage after stage does not fill the memory. */
const MOST_LOOKED_BYTES = 128 * 1024 * 1024;
const BYTES_PER_TASK = 43;
const BYTES_PER_STAGE = 1000;

const code_of = Object.fromEntries(footprint_states.map((state, code) => [state, code])) as Record<
  FootprintState,
  number
>;

export interface StageFootprints extends Omit<StageStates, "ended" | "held" | "ready" | "total"> {
  total: number;
  /** Changes with the boxes that were planned; those of results are added to it. */
  plan: string;
  boxes: BoxSet;
  /** By ordinal, as places in footprint_states. */
  states: Uint8Array;
  attempts: Uint16Array;
  planned: number;
  /** Boxes that are none on the globe. */
  unusable: number;
  /** Results that may say where they are, and have not been opened yet. */
  unread: number;
}

interface Kept {
  plan: string;
  boxes: BoxSet;
  planned: number;
  unusable: number;
  /** The results, opened already. */
  opened: Uint8Array;
  /** Results have shown that they carry boxes; until then only a few are opened. */
  results_carry: boolean;
  /** Completed when they were last probed. */
  probed_at: number;
}

interface Looked {
  fresh_until: number;
  footprints: StageFootprints;
}

export class Footprints {
  readonly #looked: LRUCache<string, Looked, Parameters<Footprints["of"]>>;
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: MOST_BYTES,
    sizeCalculation: ({ opened }) => 1 + opened.length * 40,
  });

  constructor(most_bytes = MOST_LOOKED_BYTES) {
    this.#looked = new LRUCache({
      maxSize: most_bytes,
      sizeCalculation: ({ footprints }) => BYTES_PER_STAGE + footprints.total * BYTES_PER_TASK,
      ttl: FORGOTTEN_MS,
      ttlAutopurge: true,
      ignoreFetchAbort: true,
      fetchMethod: async (_key, known, { options, context }) => {
        const at = performance.now();
        const footprints = await this.#read(...context, known?.footprints ?? null);
        const fresh_ms = Math.max(FRESH_MS, 10 * (performance.now() - at));
        options.ttl = Math.max(FORGOTTEN_MS, Math.ceil(fresh_ms));
        return { fresh_until: at + fresh_ms, footprints };
      },
    });
  }

  /** For tests: how many stages are known. */
  get size(): number {
    return this.#looked.size;
  }

  async of(...asked: [engine: Engine, job_id: string, stage: string]): Promise<StageFootprints> {
    const [{ tenant }, job_id, stage] = asked;
    const key = JSON.stringify([tenant, job_id, stage]);
    const forceRefresh = performance.now() >= (this.#looked.peek(key)?.fresh_until ?? 0);
    return (await this.#looked.forceFetch(key, { context: asked, forceRefresh })).footprints;
  }

  async #read(engine: Engine, job_id: string, stage: string, last: StageFootprints | null): Promise<StageFootprints> {
    const source = new TaskBoxes(engine.db, engine.tenant);
    const { ended, held, ready, ...about } = await source.states(job_id, stage, last?.stamp ?? null);
    if (ended === null || held === null || ready === null) return this.#withResults(engine, source, last!);
    const total = Math.min(about.total ?? 0, MOST_TASKS);
    const states = new Uint8Array(total).fill(code_of.cancelled);
    const attempts = new Uint16Array(total);
    const put = (lo: number, hi: number, state: FootprintState, attempt: number) => {
      states.fill(code_of[state], Math.max(0, lo), Math.max(0, hi));
      attempts.fill(attempt, Math.max(0, lo), Math.max(0, hi));
    };
    for (const [attempt, lo, hi, is_later, is_throttled] of ready) {
      put(lo, hi, attempt > 1 || is_throttled ? "retrying" : is_later ? "later" : "queued", attempt);
    }
    for (const [attempt, text] of held) for (const [lo, hi] of rangesIn(text)) put(lo, hi, "processing", attempt);
    for (const [status, attempt, text] of ended) for (const [lo, hi] of rangesIn(text)) put(lo, hi, status, attempt);
    return this.#withResults(engine, source, { ...about, total, states, attempts });
  }

  async #withResults(
    engine: Engine,
    source: TaskBoxes,
    known: Pick<StageFootprints, Exclude<keyof StageFootprints, keyof Kept | "unread">>,
  ): Promise<StageFootprints> {
    const kept = await this.#boxesOf(engine, source, known, known.total);
    const unread = await readResults(source, known, kept, known.states);
    const { plan, boxes, planned, unusable } = kept;
    return { ...known, plan, boxes, planned, unusable, unread };
  }

  async #boxesOf(
    engine: Engine,
    source: TaskBoxes,
    about: Pick<StageStates, "job_id" | "stage_id" | "stage" | "epoch" | "status">,
    total: number,
  ): Promise<Kept> {
    // A stage is planned again in a new epoch, and is "planning" meanwhile.
    const plan = [about.stage_id, about.epoch, total, about.status].join(".");
    const key = `${engine.tenant} ${about.stage_id}`;
    const known = this.#kept.get(key);
    if (known?.plan === plan) return known;
    const kept: Kept = {
      plan,
      boxes: new BoxSet(total),
      planned: 0,
      unusable: 0,
      results_carry: false,
      probed_at: 0,
      opened: new Uint8Array(total),
    };
    for (let from: number | null = 0; from !== null && from < total; ) {
      const page = await source.planned(about.job_id, about.stage, from, PAGE_ROWS);
      for (const [i, ordinal] of page.ordinal.entries()) {
        const box = footprintBox([page.west[i], page.south[i], page.east[i], page.north[i]]);
        if (box === null) kept.unusable++;
        else kept.boxes.set(ordinal, box);
      }
      from = page.next;
    }
    kept.planned = kept.boxes.order.length;
    this.#kept.set(key, kept);
    return kept;
  }
}

/**
 * Opening a result costs far more than reading where it stands. So a few are opened first; only when one of them carries a box are the
 * others, so many at each look. Returns how many are left.
 */
async function readResults(
  source: TaskBoxes,
  about: Pick<StageStates, "job_id" | "stage">,
  kept: Kept,
  states: Uint8Array,
): Promise<number> {
  if (kept.planned + kept.unusable === states.length) return 0;
  const left: number[] = [];
  let completed = 0;
  for (let ordinal = 0; ordinal < states.length; ordinal++) {
    if (states[ordinal] !== code_of.completed) continue;
    completed++;
    if (kept.opened[ordinal] === 0 && !kept.boxes.has(ordinal)) left.push(ordinal);
  }
  // Those that come first may be the ones that have none: asked again whenever twice as many have completed.
  if (!kept.results_carry && completed < 2 * kept.probed_at) return 0;
  const most = kept.results_carry ? results_at_once : PROBED;
  if (!kept.results_carry) kept.probed_at = Math.max(completed, 1);
  const chosen = kept.results_carry ? left.slice(0, most) : spread(left, most);
  if (chosen.length === 0) return 0;
  for (const [ordinal, value] of await source.ofResults(about.job_id, about.stage, rangesOf(chosen))) {
    const box = footprintBox(value);
    if (box === null) kept.unusable++;
    else {
      kept.boxes.set(ordinal, box);
      kept.results_carry = true;
    }
  }
  for (const ordinal of chosen) kept.opened[ordinal] = 1;
  return kept.results_carry ? left.length - chosen.length : 0;
}

/** Some from everywhere. */
function spread(numbers: readonly number[], most: number): number[] {
  const step = Math.max(1, numbers.length / most);
  return Array.from({ length: Math.min(most, numbers.length) }, (_, i) => numbers[Math.floor(i * step)]!);
}
