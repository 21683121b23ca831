// Changes of the catalogue by hand: the transaction extensions. What a job makes is registered by the job; this is for what others
// made, and for mending. Each call is one transaction, and those that touch one collection come one after another.

import type { stac_api } from "../../../core/api/stac.js";
import { Conflict } from "../../../core/errors/errors.js";
import { quoted, shorten } from "../../../core/errors/problems.js";
import type { StacCollection, StacItem } from "../../../geo/stac.js";
import type { Answering, Call } from "../../http/route.js";
import { assertUnchanged, setTag } from "./etag.js";
import { servedCollection, servedItem } from "./served.js";
import { collectionOf, itemOf, type StacCall, stacCallOf } from "./stac_call.js";
import { mergePatch, writtenCollection, writtenItem, writtenItems } from "./written.js";

type Changing =
  | "make_collection"
  | "put_collection"
  | "remove_collection"
  | "make_items"
  | "put_item"
  | "patch_item"
  | "remove_item";

export const transactions: { [Name in Changing]: Answering<(typeof stac_api)[Name]> } = {
  async make_collection(call) {
    const given = writtenCollection(call.body);
    const stac = await changing(call, given.id, async (inside) => {
      if (!(await inside.catalog.putCollection(inside.db, given))) throw isThere("a collection", given.id);
    });
    call.reply.header("location", stac.links.collection(given.id));
    return answerCollection(call, stac, given.id);
  },
  async put_collection(call) {
    const { collection_id } = call.params;
    const given = writtenCollection(call.body, collection_id);
    const stac = await changing(call, collection_id, async (inside) => {
      assertUnchanged(call.request, await collectionOf(inside, collection_id));
      await inside.catalog.putCollection(inside.db, given, { replace: true });
    });
    return answerCollection(call, stac, collection_id);
  },
  async remove_collection(call) {
    const { collection_id } = call.params;
    await changing(call, collection_id, async (inside) => {
      assertUnchanged(call.request, await collectionOf(inside, collection_id));
      await inside.catalog.deleteCollection(inside.db, collection_id);
    });
  },
  async make_items(call) {
    const { collection_id } = call.params;
    const items = writtenItems(call.body, collection_id);
    const stac = await changing(call, collection_id, async (inside) => {
      await collectionOf(inside, collection_id);
      await assertNew(inside, collection_id, items);
      await (await inside.catalog.prepare(inside.db, collection_id)).put(inside.db, items);
    });
    if (call.body.type === "FeatureCollection") {
      const features = items.map((item) => servedItem(item, stac));
      return { type: "FeatureCollection", features, links: [stac.links.rootLink()] } as never;
    }
    const [item] = items as [StacItem];
    call.reply.header("location", stac.links.item(collection_id, item.id));
    return answerItem(call, stac, collection_id, item.id) as never;
  },
  async put_item(call) {
    const { collection_id, item_id } = call.params;
    const given = writtenItem(call.body, collection_id, item_id);
    return replaceItem(call, collection_id, item_id, () => given);
  },
  patch_item: (call) => {
    const { collection_id, item_id } = call.params;
    return replaceItem(call, collection_id, item_id, (stored) => {
      // Serving writes links of its own: a patch is of what is stored.
      const merged = mergePatch(stored, call.body) as Record<string, unknown>;
      const properties = { ...(merged.properties as Record<string, unknown> | undefined) };
      // By merge patch a null removes; of an item's datetime it is a value.
      const patched = call.body.properties as Record<string, unknown> | undefined;
      if (patched?.datetime === null) properties.datetime = null;
      return writtenItem({ ...merged, properties }, collection_id, item_id);
    });
  },
  async remove_item(call) {
    const { collection_id, item_id } = call.params;
    await changing(call, collection_id, async (inside) => {
      assertUnchanged(call.request, await itemOf(inside, collection_id, item_id));
      await inside.catalog.deleteItems(inside.db, collection_id, [item_id]);
    });
  },
};

type AnyCall = Pick<Call, "engine" | "service" | "request" | "reply">;

async function replaceItem(
  call: AnyCall,
  collection: string,
  id: string,
  make: (stored: StacItem) => StacItem,
): Promise<never> {
  const stac = await changing(call, collection, async (inside) => {
    const stored = await itemOf(inside, collection, id);
    assertUnchanged(call.request, stored);
    await (await inside.catalog.prepare(inside.db, collection)).put(inside.db, [make(stored)]);
  });
  return answerItem(call, stac, collection, id);
}

/** Two that look first and write then would both find nothing: they take turns. */
async function changing(
  call: AnyCall,
  collection: string,
  work: (inside: StacCall) => Promise<void>,
): Promise<StacCall> {
  const stac = await stacCallOf(call);
  await call.engine.db.transaction(async (tx) => {
    await tx.sql`select app.take_turn(${`collection ${collection}`}, ${call.engine.tenant})`;
    await work({ ...stac, db: tx });
  });
  return stac;
}

/** In pages: one search finds all that are there already. */
async function assertNew({ catalog, db }: StacCall, collection: string, items: readonly StacItem[]): Promise<void> {
  const found = await catalog.search(db, {
    collections: [collection],
    ids: items.map(({ id }) => id),
    limit: 5,
    fields: { include: ["id"], exclude: [] },
  });
  if (found.items.length === 0) return;
  const ids = found.items.map(({ id }) => id);
  throw isThere(ids.length === 1 ? "an item" : "items", ids.map((id) => shorten(id)).join(", "));
}

function isThere(what: string, id: string): Conflict {
  return new Conflict(
    `there is ${what === "items" ? "" : "already "}${what} ${quoted(id)}${what === "items" ? " already" : ""}`,
    {
      hint: "replace it with PUT, or change it with PATCH",
    },
  );
}

/** As it is stored now: what the caller sees is what everybody sees. */
async function answerItem(call: AnyCall, stac: StacCall, collection: string, id: string): Promise<never> {
  const stored = await itemOf(stac, collection, id);
  return tagged(call, servedItem(stored, stac), stored);
}

async function answerCollection(call: AnyCall, stac: StacCall, id: string): Promise<never> {
  const stored: StacCollection = await collectionOf(stac, id);
  return tagged(call, servedCollection(stored, stac), stored);
}

function tagged(call: AnyCall, answer: unknown, stored: unknown): never {
  setTag(call.reply, answer, stored);
  return answer as never;
}
