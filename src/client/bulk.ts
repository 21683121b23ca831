// Many items in few calls: cut into batches by number and bytes, a few calls at a time, answers in the order of the items.
import { ValueProblems } from "../core/errors/errors.js";
import { jsonProblems } from "../core/values/json.js";
import { json_limits } from "../core/values/json_values.js";

export interface BulkOptions<Reply> {
  /** Items of a call. Default and most: what the server takes. */
  batch_size?: number;
  /** Calls that are under way at the same time. Default: 4. */
  concurrency?: number;
  /** Told of each batch that arrived, in whatever order: `from` is the number of its first item. */
  on_batch?: (replies: Reply, from: number) => void;
  signal?: AbortSignal;
}

export interface Batch<Item> {
  from: number;
  items: Item[];
  /** The same as JSON, without the brackets. */
  text: string;
}

/** Room for what stands around the items. */
const room_bytes = 4096;

/**
 * The first failure ends it: what is under way is awaited, nothing more is sent, and the error says in `batch` which items it
 * is about.
 */
export async function inBatches<Item, Reply>(
  items: Iterable<Item> | AsyncIterable<Item>,
  limits: { count: number; bytes: number },
  send: (batch: Batch<Item>) => Promise<Reply>,
  { batch_size = limits.count, concurrency = 4, on_batch, signal }: BulkOptions<Reply>,
): Promise<Reply[]> {
  const batches = cut(items, Math.max(1, Math.min(batch_size, limits.count)), limits.bytes - room_bytes);
  const replies: Reply[] = [];
  const running = new Set<Promise<void>>();
  let failed: { error: unknown } | null = null;
  let number = 0;
  const start = (batch: Batch<Item>) => {
    const place = number++;
    const work = send(batch).then((reply) => {
      replies[place] = reply;
      on_batch?.(reply, batch.from);
    });
    const settled: Promise<void> = work
      .catch((error: unknown) => {
        failed ??= { error: withBatch(error, batch) };
      })
      .finally(() => running.delete(settled));
    running.add(settled);
  };
  try {
    for await (const batch of batches) {
      if (failed !== null || signal?.aborted === true) break;
      start(batch);
      if (running.size >= Math.max(1, concurrency)) await Promise.race(running);
    }
  } finally {
    await Promise.all(running);
  }
  signal?.throwIfAborted();
  if (failed !== null) throw (failed as { error: unknown }).error;
  return replies;
}

function withBatch<Item>(error: unknown, { from, items }: Batch<Item>): unknown {
  if (typeof error === "object" && error !== null && Object.isExtensible(error)) {
    Object.assign(error, { batch: { from, to: from + items.length } });
  }
  return error;
}

async function* cut<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  count: number,
  bytes: number,
): AsyncGenerator<Batch<Item>> {
  const encoder = new TextEncoder();
  let from = 0;
  let batch: Item[] = [];
  let texts: string[] = [];
  let size = 0;
  const taken = (): Batch<Item> => {
    const done = { from, items: batch, text: texts.join() };
    from += batch.length;
    [batch, texts, size] = [[], [], 0];
    return done;
  };
  for await (const item of items) {
    const text = itemText(item, from + batch.length);
    const item_bytes = encoder.encode(text).length + 1;
    if (batch.length === count || (batch.length > 0 && size + item_bytes > bytes)) yield taken();
    batch.push(item);
    texts.push(text);
    size += item_bytes;
  }
  if (batch.length > 0) yield taken();
}

const sent_limits = { ...json_limits, skip_undefined: true, as_stringified: true };

/** JSON.stringify would write null for a number that is none, and nobody would notice. */
export function itemText(item: unknown, number: number | null): string {
  const problems = jsonProblems(item, sent_limits);
  if (problems.length === 0) return JSON.stringify(item);
  const title = number === null ? "This cannot be sent" : `Item ${number} cannot be sent`;
  throw new ValueProblems(problems, title);
}
