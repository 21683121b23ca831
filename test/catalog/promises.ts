// biome-ignore-all format: one case a line
// What a catalogue promises, on every store there is: all or none, only its tenant's, nothing invented and nothing lost, and clear
// refusals of what cannot be stored.
import { expect, test } from "vitest";
import type { Catalog } from "../../src/catalog/catalog.js";
import { openCatalog } from "../../src/catalog/open.js";
import { BadRequest, Conflict, NotFound } from "../../src/core/errors/errors.js";
import type { SqlSession } from "../../src/core/task/context.js";
import type { Database } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import type { StacItem } from "../../src/geo/stac.js";
import { aCollection, anItem, bothCatalogs } from "./catalogs.js";

async function put(catalog: Catalog, db: Database, collection: string, items: StacItem[]): Promise<void> {
  await (await catalog.prepare(db, collection)).put(db, items);
}

const many = (collection: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, n) =>
    anItem(collection, `item-${from + n}`, {
      properties: { datetime: new Date(Date.UTC(2024, 0, 1) + (from + n) * 3_600_000).toISOString(), "eo:cloud_cover": n },
    }),
  );

bothCatalogs("a catalogue", (open, kind) => {
  const is_pgstac = kind === "pgstac on a server";

  test("a collection is made once, kept as it is, and replaced only when told", async () => {
    const { catalog, db } = await open();
    const first = aCollection("a", { title: "first" });
    expect(await catalog.putCollection(db, first)).toBe(true);
    expect(await catalog.putCollection(db, { ...first, title: "second" })).toBe(false);
    expect(await catalog.collection(db, "a")).toEqual(first);
    expect(await catalog.putCollection(db, { ...first, title: "third" }, { replace: true })).toBe(false);
    expect((await catalog.collection(db, "a"))?.title).toBe("third");
    expect(await catalog.collection(db, "b")).toBeNull();
  });

  test("collections are listed page by page", async () => {
    const { catalog, db } = await open();
    for (const id of ["c", "a", "Z", "b", "ä"]) await catalog.putCollection(db, aCollection(id));
    const first = await catalog.collections(db, { limit: 3 });
    expect(first.collections.map(({ id }) => id)).toEqual(["Z", "a", "b"]);
    const second = await catalog.collections(db, { limit: 3, token: first.next! });
    expect(second).toMatchObject({ collections: [{ id: "c" }, { id: "ä" }], next: null });
  });

  test("items are replaced by their ids, and counted", async () => {
    const { catalog, db } = await open();
    await catalog.putCollection(db, aCollection("a"));
    await put(catalog, db, "a", many("a", 50));
    await put(catalog, db, "a", [...many("a", 10, 45), anItem("a", "item-0", { properties: { datetime: "1999-01-01T00:00:00Z", changed: true } })]);
    expect(await catalog.count(db, "a")).toBe(55);
    expect((await catalog.item(db, "a", "item-0"))?.properties).toEqual({ datetime: "1999-01-01T00:00:00Z", changed: true });
    expect(await catalog.deleteItems(db, "a", ["item-1", "item-2", "nope"])).toBe(2);
    expect(await catalog.count(db, "a")).toBe(53);
    expect(await catalog.item(db, "a", "item-1")).toBeNull();
    await put(catalog, db, "a", []);
    expect(await catalog.deleteCollection(db, "a")).toBe(true);
    expect(await catalog.deleteCollection(db, "a")).toBe(false);
    expect(await catalog.count(db, "a")).toBe(0);
    expect((await catalog.search(db, { limit: 10 })).items).toEqual([]);
  });

  test("numbers, texts and odd keys come back whole", async () => {
    const { catalog, db } = await open();
    await catalog.putCollection(db, aCollection("a"));
    const properties = { datetime: "2024-01-01T00:00:00Z",
      big: 9_007_199_254_740_991, nodata: -(2 ** 63), tiny: 5e-324, huge: 1.7976931348623157e308, third: 1 / 3, zero: 0, minus: -0.5,
      text: 'quote " and \\ and \u2028 and 😀', "odd key.with dots": [1, "two", { three: [] }], empty: {}, none: [],
    };
    const item = anItem("a", "whole", { properties, assets: { data: { href: "file:///tmp/a b.tif" } }, "top:level": { x: 1 } });
    await put(catalog, db, "a", [item]);
    expect(await catalog.item(db, "a", "whole")).toEqual(item);
  });

  test("an item that spans a time without a datetime keeps its null", async () => {
    const { catalog, db } = await open();
    await catalog.putCollection(db, aCollection("a"));
    const properties = { datetime: null, start_datetime: "2024-01-01T00:00:00Z", end_datetime: "2024-02-01T00:00:00Z" };
    await put(catalog, db, "a", [anItem("a", "range", { properties })]);
    expect((await catalog.item(db, "a", "range"))?.properties).toEqual(properties);
    const found = await catalog.search(db, { datetime: ["2024-01-15T00:00:00Z", "2024-01-16T00:00:00Z"], limit: 5 });
    expect(found.items.map(({ properties: own }) => own)).toEqual([properties]);
  });

  test.each<[string, (item: StacItem) => unknown, RegExp]>([
    ["an id of 10 KB", (item) => ({ ...item, id: "x".repeat(10_240) }), /longer than 512 bytes/],
    ["an empty id", (item) => ({ ...item, id: "" }), /\.id/],
    ["an id with a line end", (item) => ({ ...item, id: "a\nb" }), /control characters/],
    ["a NUL character", (item) => ({ ...item, properties: { ...item.properties, a: "x\0" } }), /NUL/],
    ["half a surrogate pair", (item) => ({ ...item, properties: { ...item.properties, a: "\ud800" } }), /surrogate/],
    ["another collection", (item) => ({ ...item, collection: "b" }), /where it is put/],
    ["no time at all", (item) => ({ ...item, properties: { datetime: null } }), /start_datetime and end_datetime/],
    ["half a range", (item) => ({ ...item, properties: { datetime: null, start_datetime: "2024-01-01T00:00:00Z" } }), /both/],
    ["a range backwards", (item) => ({ ...item, properties: { datetime: null, start_datetime: "2024-01-02T00:00:00Z", end_datetime: "2024-01-01T00:00:00Z" } }), /before/],
    ["a day that is none", (item) => ({ ...item, properties: { datetime: "2023-02-29T00:00:00Z" } }), /not a moment/],
    ["a time without an offset", (item) => ({ ...item, properties: { datetime: "2023-02-20T00:00:00" } }), /not a moment/],
    ["a bbox upside down", (item) => ({ ...item, bbox: [0, 10, 1, 5] }), /south above its north/],
    ["a ring that is open", (item) => ({ ...item, geometry: { type: "Polygon", coordinates: [[[0, 0], [1, 0], [1, 1], [0, 1]]] } }), /ring/],
    ["an unknown geometry", (item) => ({ ...item, geometry: { type: "Circle", coordinates: [] } }), /type of geometry/],
    ["a coordinate that is text", (item) => ({ ...item, geometry: { type: "Point", coordinates: ["1", "2"] } }), /position/],
    ["no properties", (item) => ({ ...item, properties: null }), /properties/],
    ["nothing", () => null, /not an object/],
  ])("refuses %s, and stores nothing of the batch", async (_name, spoil, message) => {
    const { catalog, db } = await open();
    await catalog.putCollection(db, aCollection("a"));
    const batch = [anItem("a", "good"), spoil(anItem("a", "bad")) as StacItem];
    const putting = put(catalog, db, "a", batch);
    await expect(putting).rejects.toThrow(message);
    await expect(putting).rejects.toBeInstanceOf(BadRequest);
    await expect(putting).rejects.toThrow(/\$\[1\]/);
    expect(await catalog.count(db, "a")).toBe(0);
  });

  test("refuses a batch that names an id twice, telling which", async () => {
    const { catalog, db } = await open();
    await catalog.putCollection(db, aCollection("a"));
    await expect(put(catalog, db, "a", [anItem("a", "x"), anItem("a", "y"), anItem("a", "x")])).rejects.toThrow(/"x" is the id of item 0/);
    expect(await catalog.count(db, "a")).toBe(0);
  });

  test("the database itself refuses what the check before it let through", async () => {
    const { catalog, db, tenant } = await open();
    await catalog.putCollection(db, aCollection("a"));
    if (is_pgstac) return;
    const twice = JSON.stringify([anItem("a", "x"), anItem("a", "x"), { id: "y", collection: "b", properties: {} }]);
    const putting = db.sql`select stac.put_items('a', ${twice}::text::jsonb, ${tenant}::text)`;
    await expect(putting).rejects.toMatchObject({ code: "FF002", detail: expect.stringContaining("more than once") });
  });

  test("items without their collection are refused", async () => {
    const { catalog, db } = await open();
    const putting = (async () => put(catalog, db, "nope", [anItem("nope", "x")]))();
    await expect(putting).rejects.toBeInstanceOf(NotFound);
    await expect(catalog.refreshCollection(db, "nope")).rejects.toBeInstanceOf(NotFound);
  });

  test("an item without a place is kept where the store can, and found by everything but its place", async () => {
    const { catalog, db } = await open();
    await catalog.putCollection(db, aCollection("a"));
    const { bbox: _, ...item } = anItem("a", "nowhere", { geometry: null });
    if (is_pgstac) {
      await expect(put(catalog, db, "a", [item])).rejects.toThrow(/pgSTAC stores no item without/);
      return;
    }
    await put(catalog, db, "a", [item]);
    expect((await catalog.search(db, { limit: 5 })).items).toEqual([item]);
    expect((await catalog.search(db, { limit: 5, filter: { op: "isNull", args: [{ property: "geometry" }] } })).items).toEqual([item]);
    expect((await catalog.search(db, { limit: 5, bbox: [-180, -90, 180, 90] })).items).toEqual([]);
  });

  test("an item whose polygon crosses itself is found, and comes back as it was put", async () => {
    const { catalog, db } = await open();
    await catalog.putCollection(db, aCollection("a"));
    const bowtie = { type: "Polygon", coordinates: [[[0, 0], [2, 2], [2, 0], [0, 2], [0, 0]]] };
    await put(catalog, db, "a", [anItem("a", "bowtie", { geometry: bowtie, bbox: [0, 0, 2, 2] })]);
    const found = await catalog.search(db, { limit: 5, bbox: [-1, -1, 3, 3] });
    expect(found.items.map(({ geometry }) => geometry)).toEqual([bowtie]);
  });

  test("a collection's extent and summaries are those of its items", async () => {
    const { catalog, db } = await open();
    await catalog.putCollection(db, aCollection("a", { summaries: { "own:word": ["kept"], platform: ["old"] } }));
    expect((await catalog.refreshCollection(db, "a")).extent).toEqual(aCollection("a").extent);
    await put(catalog, db, "a", [
      anItem("a", "x", { geometry: { type: "Point", coordinates: [-5.5, 10] }, properties: { datetime: "2020-01-01T00:00:00Z", platform: "p1", gsd: 10, instruments: ["i", "j"], odd: 1 } }),
      anItem("a", "y", { geometry: { type: "Point", coordinates: [20, -30.25] }, properties: { datetime: null, start_datetime: "2021-01-01T00:00:00Z", end_datetime: "2022-06-01T12:00:00Z", platform: "p2", gsd: 2.5, instruments: ["j"], odd: "one" } }),
    ]);
    const refreshed = await catalog.refreshCollection(db, "a");
    expect(refreshed.extent.spatial.bbox).toEqual([[-5.5, -30.25, 20, 10]]);
    expect(refreshed.extent.temporal.interval[0]!.map((one) => Date.parse(one!))).toEqual([Date.parse("2020-01-01"), Date.parse("2022-06-01T12:00:00Z")]);
    expect(refreshed.summaries).toEqual({ "own:word": ["kept"], platform: ["p1", "p2"], gsd: { minimum: 2.5, maximum: 10 }, instruments: ["i", "j"] });
    expect(await catalog.collection(db, "a")).toEqual(refreshed);
  });

  test("two tenants have the same ids and see only their own", async () => {
    const { catalog, db, tenant, forTenant } = await open();
    const other = await forTenant(`${tenant}-2`);
    for (const [one, title] of [[catalog, "mine"], [other, "theirs"]] as const) {
      await one.putCollection(db, aCollection("same", { title }));
      await put(one, db, "same", [anItem("same", "x", { properties: { datetime: "2024-01-01T00:00:00Z", title } })]);
    }
    await put(other, db, "same", [anItem("same", "only-theirs")]);
    expect((await catalog.search(db, { limit: 10 })).items.map(({ id, collection, properties }) => [id, collection, properties.title])).toEqual([["x", "same", "mine"]]);
    expect((await catalog.search(db, { limit: 10, filter: "collection = 'same'" })).items).toHaveLength(1);
    for (const guess of [`${tenant}-2~same`, `${tenant}~same`, "%"]) {
      expect(await catalog.collection(db, guess)).toBeNull();
      expect((await catalog.search(db, { limit: 10, collections: [guess] })).items).toEqual([]);
      expect((await catalog.search(db, { limit: 10, filter: { op: "=", args: [{ property: "collection" }, guess] } })).items).toEqual([]);
    }
    expect(await catalog.item(db, "same", "only-theirs")).toBeNull();
    expect(await catalog.deleteItems(db, "same", ["only-theirs"])).toBe(0);
    expect(await catalog.deleteCollection(db, "same")).toBe(true);
    expect(await other.count(db, "same")).toBe(2);
    expect((await catalog.collections(db, { limit: 10 })).collections).toEqual([]);
    expect((await other.collections(db, { limit: 10 })).collections.map(({ id }) => id)).toEqual(["same"]);
  });

  test("paging neither repeats nor skips while items are inserted and deleted", async () => {
    const { catalog, db } = await open();
    await catalog.putCollection(db, aCollection("a"));
    await put(catalog, db, "a", many("a", 30));
    const first = await catalog.search(db, { limit: 10 });
    await put(catalog, db, "a", [anItem("a", "newest", { properties: { datetime: "2030-01-01T00:00:00Z" } }), anItem("a", "oldest", { properties: { datetime: "1990-01-01T00:00:00Z" } })]);
    await catalog.deleteItems(db, "a", [first.items.at(-1)!.id]);
    const second = await catalog.search(db, { limit: 10, token: first.next! });
    const third = await catalog.search(db, { limit: 100, token: second.next! });
    const ids = [...first.items, ...second.items, ...third.items].map(({ id }) => id);
    expect(ids).toEqual([...many("a", 30).map(({ id }) => id).reverse(), "oldest"]);
    const back = await catalog.search(db, { limit: 100, token: second.previous! });
    expect(back.items.map(({ id }) => id)).toEqual(["newest", ...ids.slice(0, 9)]);
  });

  test.each<[string, object, RegExp]>([
    ["a bbox upside down", { bbox: [0, 10, 10, 0] }, /south above/],
    ["a bbox of three", { bbox: [0, 0, 1] }, /4 or 6/],
    ["a bbox beyond a pole", { bbox: [0, 0, 10, 95] }, /pole/],
    ["bbox and intersects", { bbox: [0, 0, 1, 1], intersects: { type: "Point", coordinates: [0, 0] } }, /together/],
    ["a geometry that is none", { intersects: { type: "Point", coordinates: ["x"] } }, /position/],
    ["a polygon that crosses itself", { intersects: { type: "Polygon", coordinates: [[[0, 0], [2, 2], [2, 0], [0, 2], [0, 0]]] } }, /Self-intersection/],
    ["a time that is none", { datetime: ["yesterday", null] }, /not a moment/],
    ["a time backwards", { datetime: ["2024-01-02T00:00:00Z", "2024-01-01T00:00:00Z"] }, /ends before/],
    ["no limit", { limit: 0 }, /limit/],
    ["sorting by the geometry", { sortby: [{ field: "geometry", direction: "asc" }] }, /cannot be sorted/],
    ["a token of nobody's", { token: "bm9wZQ" }, /not one of ours/],
    ["a filter that cannot be computed", { filter: "10 ^ (1000 + eo:cloud_cover) > 1" }, /cannot compute/],
    ["NUL in an id", { ids: ["a\0"] }, /cannot compute/],
  ])("a search with %s is refused", async (_name, query, message) => {
    const { catalog, db } = await open("default");
    await catalog.putCollection(db, aCollection("refusals"));
    await put(catalog, db, "refusals", many("refusals", 3));
    const searching = (async () => catalog.search(db, { limit: 10, ...query }))();
    await expect(searching).rejects.toThrow(message);
    await expect(searching).rejects.toBeInstanceOf(BadRequest);
  });

  test("a page ends early where it would be too large, in either direction, and nothing is lost", async () => {
    const { catalog, db } = await open();
    await catalog.putCollection(db, aCollection("a"));
    await put(catalog, db, "a", many("a", 5));
    const whole = await catalog.search(db, { limit: 5 });
    // As if one item were all that an answer can hold.
    const tight: SqlSession = {
      sql: (strings, ...values) =>
        db.sql(strings, ...values.map((one) => (String(one).startsWith("{") ? JSON.stringify({ ...JSON.parse(String(one)), bytes: 1 }) : one))),
    };
    const pages = [await catalog.search(tight, { limit: 4 })];
    while (pages.at(-1)!.next !== null) pages.push(await catalog.search(tight, { limit: 4, token: pages.at(-1)!.next! }));
    expect(pages.map(({ items, matched }) => [items.map(({ id }) => id), matched])).toEqual(whole.items.map(({ id }) => [[id], null]));
    const back = await catalog.search(tight, { limit: 4, token: pages[3]!.previous! });
    expect([back.items, back.previous !== null]).toEqual([pages[2]!.items, true]);
  });

  test("a page of large collections ends early, and the next goes on", async () => {
    const { catalog, db } = await open();
    const ids = Array.from({ length: 6 }, (_, n) => `c${n}`);
    for (const id of ids) await catalog.putCollection(db, aCollection(id, { keywords: Array.from({ length: 4 }, () => "x".repeat(1_000_000)) }));
    const first = await catalog.collections(db, { limit: 100 });
    const rest = await catalog.collections(db, { limit: 100, token: first.next! });
    expect([first.collections, rest.collections].map((page) => page.map(({ id }) => id))).toEqual([ids.slice(0, 5), ids.slice(5)]);
    expect(rest.next).toBeNull();
  });

  test("a token is refused by another search", async () => {
    const { catalog, db } = await open();
    await catalog.putCollection(db, aCollection("a"));
    await put(catalog, db, "a", many("a", 5));
    const { next } = await catalog.search(db, { limit: 2 });
    await expect(catalog.search(db, { limit: 2, token: next!, sortby: [{ field: "id", direction: "asc" }] })).rejects.toThrow(/token/);
    expect((await catalog.search(db, { limit: 3, token: next! })).items).toHaveLength(3);
  });

  test("a filter in normal form cannot carry SQL, whoever sends it", async () => {
    const { catalog, db, tenant } = await open();
    await catalog.putCollection(db, aCollection("a"));
    const search = is_pgstac ? "pgstac_search" : "search";
    const evil = "x') or true --";
    const forms: unknown[] = [
      { op: evil, args: [] }, { op: "=", type: evil, args: [{ value: 1 }, { value: 1 }] }, { op: "isNull", type: "json", args: [{ column: evil }] },
      { op: "=", type: "number", args: [{ fn: evil, args: [] }, { value: 1 }] }, { op: `s_${evil}`, args: [{ geometry: true }, { geometry: true }] },
      { op: `t_${evil}`, args: [{ column: "datetime" }, { column: "datetime" }] }, { op: "in", type: evil, args: [{ column: "id" }, { list: [evil] }] },
    ];
    for (const filter of forms) {
      const request = JSON.stringify({ tenant, sort: [{ column: "id" }], limit: 1, filter });
      const asking = search === "search" ? db.sql`select stac.search(${request}::text::jsonb)` : db.sql`select stac.pgstac_search(${request}::text::jsonb)`;
      await expect(asking).rejects.toMatchObject({ code: "FF002" });
    }
    const filter = { op: "=", type: "text", args: [{ path: [evil, "'"] }, { value: evil }] };
    const request = JSON.stringify({ tenant, sort: [{ path: [evil] }, { column: "id" }], limit: 1, filter });
    await (search === "search" ? db.sql`select stac.search(${request}::text::jsonb)` : db.sql`select stac.pgstac_search(${request}::text::jsonb)`);
  });

  test.runIf(kind !== "stac on the embedded database")("eight writers of one collection lose nothing and never deadlock", async () => {
    const { catalog, db, url, tenant } = await open();
    await catalog.putCollection(db, aCollection("a"));
    const writers = await Promise.all(
      Array.from({ length: 8 }, async (_, n) => {
        const own = openServer(url!, { max: 1 });
        return { n, own, writer: await (await openCatalog(own, { tenant })).prepare(own, "a") };
      }),
    );
    try {
      // Each writes ids of its own and ids that all share, in an order of its own.
      await Promise.all(
        writers.map(async ({ n, own, writer }) => {
          for (let round = 0; round < 4; round++) {
            const shared = many("a", 20);
            const batch = [...many("a", 25, 1_000 + n * 1_000 + round * 25), ...(n % 2 === 0 ? shared : shared.reverse())];
            await writer.put(own, batch);
          }
        }),
      );
      expect(await catalog.count(db, "a")).toBe(8 * 4 * 25 + 20);
    } finally {
      for (const { own } of writers) await own.close();
    }
  });

  test("what was written in a transaction that is rolled back is not there, and can be written again", async () => {
    const { catalog, db } = await open();
    await catalog.putCollection(db, aCollection("a"));
    const writer = await catalog.prepare(db, "a");
    const batch = many("a", 20);
    await expect(
      db.transaction(async (tx) => {
        await writer.put(tx, batch);
        throw new Error("killed half-way");
      }),
    ).rejects.toThrow("killed");
    expect(await catalog.count(db, "a")).toBe(0);
    await writer.put(db, batch);
    await writer.put(db, batch);
    expect(await catalog.count(db, "a")).toBe(20);
    expect((await catalog.search(db, { limit: 100 })).items.map(({ id }) => id).reverse()).toEqual(batch.map(({ id }) => id));
  });

  test.runIf(is_pgstac)("a writer that was prepared before its collection changed is told so", async () => {
    const { catalog, db } = await open();
    await catalog.putCollection(db, aCollection("a"));
    const writer = await catalog.prepare(db, "a");
    const items = [anItem("a", "x"), anItem("a", "y", { assets: {} })];
    await writer.put(db, items);
    const changed = aCollection("a", { item_assets: { data: { roles: ["data"] }, other: { roles: ["other"] } } });
    await catalog.putCollection(db, changed, { replace: true });
    expect(await catalog.item(db, "a", "x")).toEqual(items[0]);
    expect(await catalog.item(db, "a", "y")).toEqual(items[1]);
    await expect(writer.put(db, [anItem("a", "z")])).rejects.toBeInstanceOf(Conflict);
    await put(catalog, db, "a", [anItem("a", "z")]);
    expect(await catalog.item(db, "a", "z")).toEqual(anItem("a", "z"));
  });
});
