// Reads the results of the stages before, page by page in ordinal order, for handlers and planners alike. Touches the
// database through read_results and predecessor only, and storage for results that were spilled.
import { setTimeout as sleep } from "node:timers/promises";
import type { Loose, Predecessor, Previous, PreviousItem } from "../core/context.js";
import { Permanent } from "../core/errors.js";
import type { Ref, Store } from "../core/store.js";
import type { ClaimedStage, PreviousStage, StoredItem, WorkerCommands } from "../engine/commands.js";
import type { Database } from "../engine/database.js";
import { isConnectionLost, waitBeforeTry } from "./trouble.js";

const PAGE_ITEMS = 1000;
const PAGE_BYTES = 4 * 1024 * 1024;

/** Where results come from. `connection` is asked for each page, so that nothing is opened before it is needed. */
export interface ResultSource {
  commands: Pick<WorkerCommands, "read_results" | "predecessor">;
  connection(): Promise<Database>;
  store: Store;
  /** Aborted when the reader is no longer wanted. */
  signal?(): AbortSignal;
}

interface Range {
  stage: PreviousStage;
  from: number;
  to: number | null;
}

/** The reader a task or planner gets: of its `of` stage, of the only stage before, or of the one it names. */
export function openPrevious(source: ResultSource, stage: ClaimedStage, ordinal: number): Previous {
  const named = (name: string): Previous => {
    const found = stage.previous.find((candidate) => candidate.name === name);
    if (found === undefined) {
      const known = stage.previous.map((candidate) => `"${candidate.name}"`).join(", ") || "none";
      throw new Permanent(`stage "${stage.stage}" does not come after a stage "${name}"; it comes after: ${known}`);
    }
    return reader(source, () => rangeOf(stage, found, ordinal), named);
  };
  return reader(source, () => rangeOf(stage, onlyPrevious(stage), ordinal), named);
}

/** What the task with the same index (or the named parent) in the stage before came to. */
export async function readPredecessor(
  source: ResultSource,
  stage: ClaimedStage,
  ordinal: number,
): Promise<Predecessor | null> {
  const request = { stage_id: stage.stage_id, ordinal };
  const found = await persistently(source, (db) => source.commands.predecessor(db, request));
  if (found === null) return null;
  const { spill, ...facts } = found;
  return { ...facts, result: spill ? await loadSpilled(source.store, spill) : found.result };
}

/** The store compares size and checksum: a missing or altered file is its error, and a permanent one. */
export async function loadSpilled(store: Store, ref: Ref): Promise<Loose> {
  return JSON.parse((await store.get(ref)).toString("utf8"));
}

function onlyPrevious(stage: ClaimedStage): PreviousStage {
  const found =
    stage.of === null
      ? stage.previous.length === 1
        ? stage.previous[0]
        : undefined
      : stage.previous.find((candidate) => candidate.number === stage.of);
  if (found !== undefined) return found;
  if (stage.previous.length === 0) throw new Permanent(`stage "${stage.stage}" has no stage before it to read from`);
  const names = stage.previous.map((candidate) => `previous("${candidate.name}")`).join(" or ");
  throw new Permanent(`stage "${stage.stage}" comes after several stages: say which, with ${names}`);
}

/** Task k of a batched fan-in sees the ordinals [k*batch, (k+1)*batch) of the stage it folds, and all of any other. */
function rangeOf(stage: ClaimedStage, previous: PreviousStage, ordinal: number): Range {
  const folded = stage.parallelism === "fan_in" && stage.batch !== null && ordinal >= 0;
  if (!folded || previous !== onlyPrevious(stage)) return { stage: previous, from: 0, to: null };
  return { stage: previous, from: ordinal * stage.batch!, to: (ordinal + 1) * stage.batch! };
}

function reader(source: ResultSource, range: () => Range, named: (name: string) => Previous): Previous {
  const items = () => readItems(source, range());
  const read = Object.assign((name: string) => named(name), {
    [Symbol.asyncIterator]: items,
    one: () => readOne(items(), range()),
    all: async () => {
      const results: Loose[] = [];
      for await (const item of items()) results.push(item.result);
      return results;
    },
    results: () => readPages(source, range()),
    count: 0,
  });
  Object.defineProperty(read, "count", { get: () => countOf(range()) });
  return read;
}

/** Tasks planned in that range, whatever became of them: how many results to expect at most. */
function countOf({ stage, from, to }: Range): number {
  const total = stage.total ?? 0;
  return Math.max(0, Math.min(to ?? total, total) - from);
}

/** Pages as the database gives them, the next one asked for while this one is read. */
async function* storedPages(
  source: ResultSource,
  { stage, from, to }: Range,
): AsyncGenerator<StoredItem[], void, void> {
  const page = (start: number) => {
    const request = { stage_id: stage.stage_id, from: start, to, limit: PAGE_ITEMS };
    const reply = persistently(source, (db) => source.commands.read_results(db, request));
    // A reader may stop early: then nobody waits for the page read ahead, and its error is nobody's.
    reply.catch(() => {});
    return reply;
  };
  let reading = page(from);
  for (;;) {
    const { items, next } = await reading;
    if (next !== null) reading = page(next);
    yield items;
    if (next === null) return;
  }
}

/** A read changes nothing and may be sent again: a lost connection costs the task a moment, and not an attempt. */
async function persistently<T>(source: ResultSource, read: (db: Database) => Promise<T>): Promise<T> {
  const db = await source.connection();
  for (let tries = 1; ; tries++) {
    try {
      return await read(db);
    } catch (error) {
      if (source.signal === undefined || !isConnectionLost(error)) throw error;
      await sleep(waitBeforeTry(tries), undefined, { signal: source.signal() });
    }
  }
}

async function* readItems(source: ResultSource, range: Range): AsyncGenerator<PreviousItem, void, void> {
  for await (const page of storedPages(source, range)) {
    for (const item of page) yield await loaded(source.store, item);
  }
}

/** Pages bounded by bytes also when results were spilled: a thousand references may stand for a gigabyte. */
async function* readPages(source: ResultSource, range: Range): AsyncGenerator<PreviousItem[], void, void> {
  for await (const stored of storedPages(source, range)) {
    let page: PreviousItem[] = [];
    let bytes = 0;
    for (const item of stored) {
      page.push(await loaded(source.store, item));
      bytes += item.spill?.bytes ?? 0;
      if (bytes < PAGE_BYTES) continue;
      yield page;
      page = [];
      bytes = 0;
    }
    if (page.length > 0) yield page;
  }
}

async function loaded(store: Store, item: StoredItem): Promise<PreviousItem> {
  const result = item.spill ? await loadSpilled(store, item.spill) : item.result;
  return { ordinal: item.ordinal, index: item.index, result, next_stage_params: item.next_stage_params ?? null };
}

async function readOne(items: AsyncGenerator<PreviousItem, void, void>, { stage }: Range): Promise<Loose> {
  const first = await items.next();
  if (first.done) throw new Permanent(`previous.one(): stage "${stage.name}" has no completed result`);
  const second = await items.next();
  if (!second.done) {
    await items.return();
    throw new Permanent(
      `previous.one(): stage "${stage.name}" has more than one result; iterate over previous instead`,
    );
  }
  return first.value.result;
}
