// biome-ignore-all format: one case a line
// pgSTAC beside our catalogue: what we store is what its own functions would store, its own readers read it, and no tenant reaches
// another's through it.
import { beforeAll, describe, expect, test } from "vitest";
import { openCatalog } from "../../src/catalog/open.js";
import { dehydrated, hydrated } from "../../src/catalog/pgstac_shape.js";
import { PgstacStore } from "../../src/catalog/pgstac_store.js";
import { openServer } from "../../src/engine/database/server_database.js";
import type { StacCollection, StacItem } from "../../src/geo/stac.js";
import { aCollection, anItem, type OpenedCatalog, openIn, patience_ms, whyNot } from "./catalogs.js";
import { seeded } from "./corpus.js";

const reason = await whyNot("pgstac on a server");

/** Values that trip over each other: equal to what the collection says, a little different, absent, null, empty. */
function anyValue(chance: () => number, depth: number): unknown {
  const pick = Math.floor(chance() * (depth > 2 ? 7 : 9));
  if (pick === 0) return null;
  if (pick === 1) return Math.floor(chance() * 3);
  if (pick === 2) return ["a", "b", "𒍟※", ""][Math.floor(chance() * 4)];
  if (pick === 3) return chance() < 0.5;
  if (pick === 4) return {};
  if (pick === 5) return [];
  if (pick === 6) return 0.5;
  if (pick === 7) return Array.from({ length: Math.floor(chance() * 3) }, () => anyValue(chance, depth + 1));
  return Object.fromEntries(["k", "l", "m"].filter(() => chance() < 0.6).map((key) => [key, anyValue(chance, depth + 1)]));
}

function anyAssets(chance: () => number): Record<string, never> {
  const names = ["data", "thumbnail", "index", "extra"].filter(() => chance() < 0.6);
  return Object.fromEntries(
    names.map((name) => [name, { ...Object.fromEntries(["type", "roles", "bands", "x"].filter(() => chance() < 0.7).map((key) => [key, anyValue(chance, 0)])) }]),
  ) as never;
}

describe.skipIf(reason !== null)(`pgSTAC${reason === null ? "" : `, skipped: ${reason}`}`, () => {
  let opened: OpenedCatalog;
  beforeAll(async () => {
    opened = await openIn("pgstac on a server");
  }, patience_ms);

  test("items are stored exactly as its own functions would store them", async () => {
    const { db, tenant, catalog } = opened;
    const chance = seeded(7);
    for (let n = 0; n < 12; n++) {
      const item_assets = n === 0 ? undefined : anyAssets(chance);
      const collection = aCollection(`shape-${n}`, item_assets === undefined ? {} : { item_assets });
      await catalog.putCollection(db, collection);
      const stored = { ...collection, id: `${tenant}~${collection.id}` };
      const [base] = await db.sql<{ base: Record<string, unknown> }>`
        select base_item as base from pgstac.collections where id = ${stored.id}`;
      const items = Array.from({ length: 40 }, (_, k): StacItem => {
        const item = anItem(stored.id, `i${k}`, { assets: k % 5 === 0 && item_assets ? (item_assets as never) : anyAssets(chance) });
        item.properties.extra = anyValue(chance, 0);
        if (k % 7 === 0) item.stac_version = "1.0.0";
        return item;
      });
      const theirs = await db.transaction(async (tx) => {
        await tx.script("set local search_path = pgstac, public");
        return tx.sql<{ slim: Record<string, unknown>; whole: StacItem }>`
          select pgstac.content_slim(e) as slim, pgstac.content_hydrate(pgstac.content_dehydrate(e), c) as whole
            from jsonb_array_elements(${JSON.stringify(items)}::text::jsonb) with ordinality e (e, n)
            join pgstac.collections c on c.id = ${stored.id} order by n`;
      });
      for (const [k, item] of items.entries()) {
        expect(dehydrated(item, base!.base)).toEqual(theirs[k]!.slim);
        const { properties, ...whole } = hydrated({ ...theirs[k]!.slim, id: item.id, collection: item.collection, geometry: item.geometry }, base!.base);
        expect(properties).toEqual(theirs[k]!.whole.properties);
        // It loses an object that is empty in item and collection alike.
        expect({ ...whole, assets: item.assets }).toEqual({ ...theirs[k]!.whole, properties: undefined, assets: item.assets });
      }
    }
  });

  test("what we write its own functions read, and what they write we read", async () => {
    const { db, tenant, catalog } = opened;
    const collection = aCollection("both", { item_assets: { data: { roles: ["data"] }, thumbnail: { roles: ["thumbnail"] } } });
    await catalog.putCollection(db, collection);
    const items = [anItem("both", "a"), anItem("both", "b", { assets: { thumbnail: { href: "t.png", roles: ["thumbnail"] } } }), anItem("both", "c", { assets: {} })];
    await (await catalog.prepare(db, "both")).put(db, items);
    const whole = await db.transaction(async (tx) => {
      await tx.script("set local search_path = pgstac, public");
      return tx.sql<{ item: StacItem }>`select pgstac.get_item(id, collection) as item from pgstac.items where collection = ${`${tenant}~both`} order by id`;
    });
    expect(whole.map(({ item }) => ({ ...item, collection: "both", assets: item.assets ?? {} }))).toEqual(items);
    const store = new PgstacStore(tenant, "0.8.0");
    await (await store.prepare(db, "both")).put(db, [...items, anItem("both", "d")]);
    expect(await catalog.item(db, "both", "b")).toEqual(items[1]);
    expect(await catalog.count(db, "both")).toBe(4);
    await expect((await store.prepare(db, "nope")).put(db, [anItem("nope", "d")])).rejects.toThrow(/no collection/);
  });

  test("collections that are partitioned by month take items of several, and items that move between them", async () => {
    const { db, tenant, catalog } = opened;
    await catalog.putCollection(db, aCollection("months"));
    await db.transaction(async (tx) => {
      await tx.script("set local search_path = pgstac, public");
      await tx.sql`update pgstac.collections set partition_trunc = 'month' where id = ${`${tenant}~months`}`;
    });
    const writer = await catalog.prepare(db, "months");
    const items = Array.from({ length: 24 }, (_, n) => anItem("months", `m${n}`, { properties: { datetime: new Date(Date.UTC(2024, n, 15)).toISOString() } }));
    await writer.put(db, items);
    await writer.put(db, [anItem("months", "m0", { properties: { datetime: "2025-12-31T23:59:59Z" } })]);
    expect(await catalog.count(db, "months")).toBe(24);
    expect((await catalog.search(db, { limit: 2 })).items.filter(({ collection }) => collection === "months").map(({ id }) => id)).toEqual(["m0", "m23"]);
  });

  test("the default tenant has the collections that were there before, and cannot name another's", async () => {
    const { db, catalog, forTenant } = opened;
    const theirs: StacCollection = aCollection("older-than-fanfold");
    await db.sql`insert into pgstac.collections (content) values (${JSON.stringify(theirs)}::text::jsonb)`;
    const of_default = await forTenant("default");
    await catalog.putCollection(db, aCollection("mine"));
    const ids = (await of_default.collections(db, { limit: 100 })).collections.map(({ id }) => id);
    expect(ids).toContain("older-than-fanfold");
    expect(ids.filter((id) => id.includes("~"))).toEqual([]);
    const foreign = `${opened.tenant}~mine`;
    expect(await of_default.collection(db, foreign)).toBeNull();
    await expect(of_default.putCollection(db, aCollection(foreign), { replace: true })).rejects.toThrow(/another tenant's/);
    await expect(of_default.prepare(db, foreign)).rejects.toThrow(/no collection/);
    expect(await of_default.deleteItems(db, foreign, ["x"])).toBe(0);
    expect(await of_default.deleteCollection(db, foreign)).toBe(false);
  });

  test("a tenant's own login uses the catalogue, and reads nothing of pgSTAC's tables", async () => {
    const { db, url, tenant, forTenant } = opened;
    const other = await forTenant(`${tenant}-other`);
    await other.putCollection(db, aCollection("secret"));
    const role = `login_${process.pid}_${Date.now()}`;
    await db.script(`create role ${role} login; grant fanfold_api, fanfold_worker to ${role}`);
    await db.sql`select app.map_role(${role}::name, ${tenant})`;
    const address = new URL(url!);
    address.username = role;
    const own = openServer(address.href);
    try {
      const catalog = await openCatalog(own, { tenant });
      expect(catalog).toMatchObject({ store: "pgstac", version: "0.9.12" });
      await catalog.putCollection(own, aCollection("by-login"));
      await (await catalog.prepare(own, "by-login")).put(own, [anItem("by-login", "x")]);
      expect(await catalog.count(own, "by-login")).toBe(1);
      expect(await catalog.deleteCollection(own, "by-login")).toBe(true);
      await expect(own.sql`select count(*) from pgstac.items`).rejects.toMatchObject({ code: "42501" });
      await expect(own.sql`select pgstac.search('{}')`).rejects.toMatchObject({ code: "42501" });
      await expect(own.sql`select stac.pgstac_drop_collection('x')`).rejects.toMatchObject({ code: "42501" });
      const foreign = new PgstacStore(`${tenant}-other`, "0.9.11");
      await expect(foreign.collection(own, "secret")).rejects.toThrow(/no other/);
    } finally {
      await own.close();
      await db.script(`drop owned by ${role}; drop role ${role}`);
    }
  });
});
