// Lists that come in pages, read one after the other as they are needed.
import type { Endpoint, ParamsOf, ReplyOf } from "../core/api/endpoint.js";
import type { Caller, CallOptions } from "./call.js";

export interface Page<Item> {
  items: readonly Item[];
  next: string | null;
}

/** `for await` gives item after item; pages() gives them by the page. */
export interface Paged<Item> extends AsyncIterable<Item> {
  pages(): AsyncIterable<readonly Item[]>;
  /** All of them at once, or the first so many. */
  all(most?: number): Promise<Item[]>;
}

export function paged<Item>(read: (cursor: string | undefined) => Promise<Page<Item>>): Paged<Item> {
  async function* pages() {
    for (let cursor: string | undefined; ; ) {
      const { items, next } = await read(cursor);
      yield items;
      if (next === null) return;
      cursor = next;
    }
  }
  async function* items() {
    for await (const page of pages()) yield* page;
  }
  return {
    pages,
    [Symbol.asyncIterator]: items,
    async all(most = Number.POSITIVE_INFINITY) {
      const found: Item[] = [];
      if (most <= 0) return found;
      for await (const item of items()) if (found.push(item) >= most) break;
      return found;
    },
  };
}

type ListOf<Reply> = { [Name in keyof Reply]: Reply[Name] extends readonly unknown[] ? Name : never }[keyof Reply];
type ItemOf<List> = List extends readonly (infer Item)[] ? Item : never;

/** The list of this name in the replies of an endpoint, over all its pages. */
export function listed<E extends Endpoint, Name extends ListOf<ReplyOf<E>>>(
  { call }: { call: Caller },
  endpoint: E,
  name: Name,
  { signal, ...query }: { signal?: AbortSignal } & object,
  params?: ParamsOf<E>,
): Paged<ItemOf<ReplyOf<E>[Name]>> {
  return paged(async (cursor) => {
    const reply = await call(endpoint, { params, query: { ...query, cursor }, signal } as unknown as CallOptions<E>);
    return { items: reply[name] as ItemOf<ReplyOf<E>[Name]>[], next: (reply as { next: string | null }).next };
  });
}
