// The catalogue's schema as it is after migrating: checked like the app's, installed only where it can be, and closed to whoever is no tenant.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openCatalog } from "../../src/catalog/open.js";
import type { Database } from "../../src/engine/database/database.js";
import type { EmbeddedDatabase } from "../../src/engine/database/embedded_database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { catalogState, migrateCatalog } from "../../src/engine/schema/catalog_schema.js";
import { migrate } from "../../src/engine/schema/migrate.js";
import { withoutPgstac, withoutPostgis } from "../catalog_packages.js";
import { freshDatabase, freshEmbedded } from "../postgres.js";
import { aCollection, anItem, patience_ms } from "./catalogs.js";

describe("without PostGIS", () => {
  let embedded: EmbeddedDatabase;
  beforeAll(async () => {
    embedded = await freshEmbedded();
  }, patience_ms);
  afterAll(() => embedded?.close());

  test("a database is whole without a catalogue, and told what to do", async () => {
    const db = embedded.as(null);
    const { catalog } = await migrate(db, { catalog: "auto" });
    expect(catalog).toMatchObject({
      database_version: null,
      pending: [],
      obstacle: { problem: expect.stringContaining("PostGIS") },
    });
    await expect(openCatalog(db, { tenant: "default" })).rejects.toThrow(/no catalogue/);
    await expect(openCatalog(db, { tenant: "default", setting: "off" })).rejects.toThrow(/switched off/);
  });
});

const postgis = await withoutPostgis();

describe.skipIf(postgis !== null)(`on a server${postgis === null ? "" : `, skipped: ${postgis}`}`, () => {
  let db: Database;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const variant = (await withoutPgstac()) === null ? "pgstac" : "stac";
    ({ db, drop } = await freshDatabase({ variant }));
  }, patience_ms);
  afterAll(() => drop());

  test("migrating again finds nothing to do, and mends a function that was changed", async () => {
    expect((await catalogState(db)).pending).toEqual([]);
    await db.sql`update stac.schema_functions set hash = 'other' where name = 'get_item'`;
    expect((await catalogState(db)).pending).toEqual(["stac.get_item"]);
    expect((await migrateCatalog(db)).pending).toEqual([]);
  });

  test("whoever may not make extensions is told who may", async () => {
    const fresh = await freshDatabase();
    const role = `plain_${process.pid}`;
    try {
      await fresh.db.script(`create role ${role} login`);
      const address = new URL(fresh.url);
      address.username = role;
      const own = openServer(address.href);
      try {
        expect(await catalogState(own)).toMatchObject({
          obstacle: { fix: expect.stringContaining("create extension postgis") },
        });
      } finally {
        await own.close();
      }
    } finally {
      await fresh.drop();
      await db.script(`drop role ${role}`);
    }
  });

  test("functions pin their search path, and are granted by name", async () => {
    const open = await db.sql`
      select proname::text as name from pg_proc
       where pronamespace = 'stac'::regnamespace
         and (prosecdef and not exists (select from unnest(proconfig) setting where setting like 'search_path=%')
           or exists (select from aclexplode(coalesce(proacl, acldefault('f', proowner))) a where a.grantee = 0))`;
    expect(open).toEqual([]);
  });

  test("plpgsql_check finds nothing, where the server has it", async ({ skip }) => {
    const offered = await db.sql`select from pg_available_extensions where name = 'plpgsql_check'`;
    if (offered.length === 0) skip("the server has no plpgsql_check");
    await db.script("create extension plpgsql_check");
    const checked = await db.sql<{ name: string; findings: string[] | null }>`
      select p.proname::text as name,
        (select array_agg(format('%s, line %s: %s', c.level, c.lineno, c.message))
           from plpgsql_check_function_tb(p.oid, other_warnings => true, extra_warnings => false, performance_warnings => false) c) as findings
        from pg_proc p join pg_language l on l.oid = p.prolang
       where p.pronamespace = 'stac'::regnamespace and l.lanname = 'plpgsql' order by 1`;
    expect(checked.length).toBeGreaterThan(20);
    expect(checked.filter(({ findings }) => findings !== null)).toEqual([]);
  });

  test("row-level security shows a tenant's login its own rows, and writes go through functions only", async () => {
    const fresh = await freshDatabase({ variant: "stac" });
    const role = `reader_${process.pid}`;
    try {
      for (const tenant of ["default", "acme"]) {
        await fresh.db.sql`insert into app.tenants (tenant_id) values (${tenant}) on conflict do nothing`;
        const catalog = await openCatalog(fresh.db, { tenant });
        await catalog.putCollection(fresh.db, aCollection("a"));
        await (await catalog.prepare(fresh.db, "a")).put(fresh.db, [anItem("a", `of-${tenant}`)]);
      }
      await fresh.db.script(`create role ${role} login; grant fanfold_api, fanfold_worker to ${role}`);
      await fresh.db.sql`select app.map_role(${role}::name, 'acme')`;
      const address = new URL(fresh.url);
      address.username = role;
      const own = openServer(address.href);
      try {
        expect(await own.sql`select id from stac.items`).toEqual([{ id: "of-acme" }]);
        await expect(own.sql`delete from stac.items`).rejects.toMatchObject({ code: "42501" });
        const mine = await openCatalog(own, { tenant: "acme" });
        expect((await mine.search(own, { limit: 10 })).items.map(({ id }) => id)).toEqual(["of-acme"]);
        const theirs = await openCatalog(own, { tenant: "default" });
        await expect(theirs.search(own, { limit: 10 })).rejects.toThrow(/no other/);
        // A few bytes that are a hundred thousand digits for whoever reads them.
        const wild = JSON.stringify([anItem("a", "wild")]).replace('"id":', '"gsd":1e100000,"id":');
        await expect(own.sql`select stac.put_items('a', ${wild}::text::jsonb)`).rejects.toMatchObject({
          code: "FF002",
        });
        const other = JSON.stringify(aCollection("b")).replace('"id":', '"gsd":1e-9000,"id":');
        await expect(own.sql`select stac.put_collection(${other}::text::jsonb)`).rejects.toMatchObject({
          code: "FF002",
        });
        await expect(own.sql`select stac.predicate_text('{"op": "true"}', 'filter', 'stac')`).rejects.toMatchObject({
          code: "42501",
        });
      } finally {
        await own.close();
      }
    } finally {
      await fresh.drop();
      await db.script(`drop role ${role}`);
    }
  });

  test("a search of a bounded place uses the index of places", async () => {
    await db.sql`insert into app.tenants (tenant_id) values ('plans') on conflict do nothing`;
    const content = JSON.stringify(aCollection("a"));
    await db.sql`select stac.put_collection(${content}::text::jsonb, false, 'plans')`;
    await db.script(`
      insert into stac.items (tenant_id, collection, id, geometry, datetime, end_datetime, content)
      select 'plans', 'a', n::text, st_setsrid(st_makepoint(n % 360 - 180, n / 360 % 180 - 90), 4326), now() - n * interval '1 hour', now(),
        jsonb_build_object('id', n::text, 'collection', 'a')
        from generate_series(1, 20000) n;
      analyze stac.items`);
    const plan = await db.transaction(async (tx) => {
      await tx.script("set local role fanfold_owner");
      const request = JSON.stringify({
        sort: [{ column: "datetime", descending: true }, { column: "collection" }, { column: "id" }],
        limit: 10,
        geometry: {},
      });
      const [row] = await tx.sql<{ text: string }>`select stac.search_text(${request}::text::jsonb, 'stac') as text`;
      const bound = row!.text
        .replaceAll("$1", "'plans'")
        .replaceAll("$7", "st_makeenvelope(0, 0, 3, 3, 4326)")
        .replaceAll("$2", `'${request}'::jsonb`);
      return (await tx.sql<{ "QUERY PLAN": string }>(Object.assign([`explain ${bound}`], { raw: [bound] }) as never))
        .map((one) => one["QUERY PLAN"])
        .join("\n");
    });
    expect(plan).toContain("items_by_place");
  });
});
