// The schema of vector layers as it is after migrating: closed to a login without a tenant, and written by functions only.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { catalogState, migrateCatalog } from "../../src/engine/schema/catalog_schema.js";
import { withoutPostgis } from "../catalog_packages.js";
import { freshDatabase } from "../postgres.js";

const postgis = await withoutPostgis();

describe.skipIf(postgis !== null)(`on a server${postgis === null ? "" : `, skipped: ${postgis}`}`, () => {
  let db: Database;
  let url: string;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    ({ db, url, drop } = await freshDatabase({ variant: "stac" }));
  }, 60_000);
  afterAll(() => drop());

  test("migrating again finds nothing to do, and mends a function that was changed", async () => {
    await db.sql`update geo.schema_functions set hash = 'other' where name = 'protect_table'`;
    expect((await catalogState(db)).pending).toEqual(["geo.protect_table"]);
    expect((await migrateCatalog(db)).pending).toEqual([]);
  });

  test("functions pin their search path, and are granted by name", async () => {
    const open = await db.sql`
      select proname::text as name from pg_proc
       where pronamespace = 'geo'::regnamespace
         and (prosecdef and not exists (select from unnest(proconfig) setting where setting like 'search_path=%')
           or exists (select from aclexplode(coalesce(proacl, acldefault('f', proowner))) a where a.grantee = 0))`;
    expect(open).toEqual([]);
  });

  test("every table of the schema belongs to the owner, with row-level security enabled and forced", async () => {
    const open = await db.sql`
      select relname::text as name from pg_class
       where relnamespace = 'geo'::regnamespace and relkind in ('r', 'p') and relname !~ '^schema_'
         and not (relrowsecurity and relforcerowsecurity and relowner = 'fanfold_owner'::regrole)`;
    expect(open).toEqual([]);
  });

  test("a tenant's login reads its own layers, a login without a tenant none, and nobody writes to them", async () => {
    await db.sql`insert into app.tenants (tenant_id) values ('acme'), ('other')`;
    await db.script(`
      insert into geo.layers (tenant_id, name, table_name, version, feature_count)
      values ('acme', 'roads', 'layer_1', 1, 1), ('other', 'roads', 'layer_2', 1, 1);
      create table geo.layer_1 (fid bigint primary key);
      create table geo.layer_2 (fid bigint primary key);
      insert into geo.layer_1 values (1);
      insert into geo.layer_2 values (2);
      alter table geo.layer_1 owner to fanfold_owner;
      alter table geo.layer_2 owner to fanfold_owner;
      set role fanfold_owner;
      select geo.protect_table('layer_1', 'acme'), geo.protect_table('layer_2', 'other');
      reset role`);
    const as = async <T>(tenant: string | null, work: (own: Database) => Promise<T>): Promise<T> => {
      const role = `geo_${tenant ?? "nobody"}_${process.pid}`;
      await db.script(`create role ${role} login in role fanfold_api, fanfold_worker`);
      if (tenant !== null) await db.sql`select app.map_role(${role}::name, ${tenant})`;
      const address = new URL(url);
      address.username = role;
      const own = openServer(address.href);
      try {
        return await work(own);
      } finally {
        await own.close();
        await db.script(`delete from app.tenant_roles where role_name = '${role}'; drop role ${role}`);
      }
    };
    await as("acme", async (own) => {
      expect(await own.sql`select table_name from geo.layers`).toEqual([{ table_name: "layer_1" }]);
      expect(await own.sql`select fid::int from geo.layer_1`).toEqual([{ fid: 1 }]);
      expect(await own.sql`select fid::int from geo.layer_2`).toEqual([]);
      await expect(own.sql`delete from geo.layer_1`).rejects.toMatchObject({ code: "42501" });
      await expect(own.sql`update geo.layers set version = 2`).rejects.toMatchObject({ code: "42501" });
    });
    await as(null, async (own) => {
      expect(await own.sql`select name from geo.layers`).toEqual([]);
      expect(await own.sql`select fid from geo.layer_1`).toEqual([]);
    });
  });
});
