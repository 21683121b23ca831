// Lists that come in pages, read one after the other as they are needed.

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
