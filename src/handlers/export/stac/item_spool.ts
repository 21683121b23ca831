// The items of a collection as lines of a file in the scratch folder: read from the catalogue once, so that what is written twice from it is
// of the same items, and memory has a page of them.
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { Catalog } from "../../../catalog/catalog.js";
import type { TaskContext } from "../../../core/task/context.js";
import type { StacItem } from "../../../geo/stac.js";

const page = 500;

/** Gives how many there were. */
export async function spoolItems(
  ctx: TaskContext,
  catalog: Catalog,
  collection: string,
  file: string,
  each: (item: StacItem) => void,
): Promise<number> {
  const handle = await open(file, "w");
  let count = 0;
  try {
    let token: string | undefined;
    do {
      ctx.signal.throwIfAborted();
      const query = { collections: [collection], limit: page, sortby: [{ field: "id", direction: "asc" as const }] };
      const asked = token === undefined ? query : { ...query, token };
      const { items, next } = await ctx.db((session) => catalog.search(session, asked));
      for (const item of items) each(item);
      if (items.length > 0) await handle.writeFile(items.map((item) => `${JSON.stringify(item)}\n`).join(""));
      count += items.length;
      token = next ?? undefined;
    } while (token !== undefined);
  } finally {
    await handle.close();
  }
  return count;
}

export async function* spooledItems(file: string): AsyncGenerator<StacItem> {
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    yield JSON.parse(line) as StacItem;
  }
}
