// Reads the results of the stages before, page by page in ordinal order, for handlers and planners alike. Touches the
// database through read_results and predecessor only, and storage for results that were spilled.
import { setTimeout as sleep } from "node:timers/promises";
import type { Ref, Store } from "../../core/places/store.js";
import type { Loose, Predecessor, Previous, PreviousItem } from "../../core/task/context.js";
import { type ResultRange, openPrevious as readPrevious } from "../../core/task/previous.js";
import type { Database } from "../../engine/database/database.js";
import { isConnectionLost } from "../../engine/database/lost_connection.js";
import type { ClaimedStage, WorkerCommands } from "../../engine/work/commands.js";
import type { StoredItem } from "../../engine/work/task_commands.js";
import { waitBeforeTry } from "../finish/trouble.js";

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

/** The reader a task or planner gets: of its `of` stage, of the only stage before, or of the one it names. */
export function openPrevious(source: ResultSource, stage: ClaimedStage, ordinal: number): Previous {
  const pages = {
    items: (range: ResultRange) => readItems(source, range),
    pages: (range: ResultRange) => readPages(source, range),
  };
  return readPrevious(pages, stage, ordinal);
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

/** Pages as the database gives them, the next one asked for while this one is read. */
async function* storedPages(
  source: ResultSource,
  { stage, from, to }: ResultRange,
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

async function* readItems(source: ResultSource, range: ResultRange): AsyncGenerator<PreviousItem, void, void> {
  for await (const page of storedPages(source, range)) {
    for (const item of page) yield await loaded(source.store, item);
  }
}

/** Pages bounded by bytes also when results were spilled: a thousand references may stand for a gigabyte. */
async function* readPages(source: ResultSource, range: ResultRange): AsyncGenerator<PreviousItem[], void, void> {
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
