// pgSTAC as people install it: each release that PyPI gives works, or is refused with the reason where it would not; and whether it works is
// tried with a real item, not read off its number.
import { describe, expect, test } from "vitest";
import { openCatalog } from "../../src/catalog/open.js";
import type { Database } from "../../src/engine/database/database.js";
import { catalogState, migrateCatalog } from "../../src/engine/schema/catalog_schema.js";
import { examineDatabase } from "../../src/engine/schema/diagnosis.js";
import { migrate } from "../../src/engine/schema/migrate.js";
import { pgstac_releases, withoutPgstac } from "../catalog_packages.js";
import { freshDatabase, installPgstac } from "../postgres.js";
import { aCollection, anItem, patience_ms } from "./catalogs.js";

const doctor = async (db: Database, catalog: "auto" | "pgstac" = "auto") =>
  (await examineDatabase(db, { catalog })).find(({ name }) => name === "catalogue")!;

async function roundTrip(db: Database): Promise<string[]> {
  const catalog = await openCatalog(db, { tenant: "default" });
  await catalog.putCollection(db, aCollection("trip", { item_assets: { data: { roles: ["data"] } } as never }));
  const writer = await catalog.prepare(db, "trip");
  await writer.put(db, [
    anItem("trip", "a"),
    anItem("trip", "b", { properties: { datetime: "2025-01-01T00:00:00Z" } }),
  ]);
  await writer.put(db, [
    anItem("trip", "a", { properties: { datetime: "2023-01-01T00:00:00Z", "eo:cloud_cover": 7 } }),
  ]);
  await catalog.deleteItems(db, "trip", ["b"]);
  const { items } = await catalog.search(db, { collections: ["trip"], filter: "eo:cloud_cover < 10", limit: 5 });
  return [catalog.store, ...items.map(({ id }) => id)];
}

async function withRelease(release: (typeof pgstac_releases)[number], work: (db: Database) => Promise<void>) {
  const { db, url, drop } = await freshDatabase({ own: true });
  try {
    await db.script("create extension if not exists postgis");
    await installPgstac(url, release);
    await work(db);
  } finally {
    await drop();
  }
}

for (const release of pgstac_releases) {
  const reason = await withoutPgstac(release);
  describe.skipIf(reason !== null)(`pgSTAC ${release}${reason === null ? "" : `, skipped: ${reason}`}`, () => {
    if (release !== "0.10.0") {
      test(
        "takes items and gives them back",
        () =>
          withRelease(release, async (db) => {
            await migrate(db, { catalog: "auto" });
            expect(await catalogState(db)).toMatchObject({ pgstac: release, pgstac_refused: null, pending: [] });
            expect(await doctor(db)).toMatchObject({ level: "ok", message: expect.stringContaining(release) });
            expect(await roundTrip(db)).toEqual(["pgstac", "a"]);
            const [left] = await db.sql<{ n: number }>`
              select count(*)::integer as n from pgstac.collections where id like 'fanfold-probe%'`;
            expect(left!.n).toBe(0);
          }),
        patience_ms,
      );
      return;
    }
    test(
      "is refused with the reason where it is asked for, and the built-in catalogue is used beside it",
      () =>
        withRelease(release, async (db) => {
          const asked = await migrateCatalog(db, { choice: "pgstac" });
          expect(asked.obstacle).toMatchObject({
            problem: expect.stringMatching(/^pgSTAC 0\.10\.0 cannot be used: .*base_items/),
          });
          expect(asked.obstacle!.fix).toContain("pypgstac<0.10");
          expect(await doctor(db, "pgstac")).toMatchObject({ level: "warn", message: asked.obstacle!.problem });
          const used = await migrateCatalog(db, { choice: "auto" });
          expect(used).toMatchObject({
            pgstac: null,
            obstacle: null,
            pending: [],
            pgstac_refused: asked.obstacle!.problem,
          });
          expect(await doctor(db)).toMatchObject({ level: "warn", message: expect.stringContaining("built in") });
          expect(await roundTrip(db)).toEqual(["stac", "a"]);
        }),
      patience_ms,
    );
  });
}

const reason = await withoutPgstac();
describe.skipIf(reason !== null)(`a pgSTAC that changes${reason === null ? "" : `, skipped: ${reason}`}`, () => {
  test(
    "and takes rights away is told by the doctor, and mended by migrating",
    () =>
      withRelease("0.9.12", async (db) => {
        await migrate(db, { catalog: "auto" });
        await db.script("revoke execute on function pgstac.check_partition from fanfold_owner, pgstac_ingest");
        expect((await catalogState(db)).pending).toEqual(["rights on functions of pgSTAC"]);
        expect(await doctor(db)).toMatchObject({ level: "fail" });
        expect((await migrateCatalog(db)).pending).toEqual([]);
        expect(await roundTrip(db)).toEqual(["pgstac", "a"]);
        await db.script("alter table pgstac.items add constraint nothing_more check (id = 'a') not valid");
        expect(await doctor(db)).toMatchObject({ level: "fail", message: expect.stringContaining("nothing_more") });
      }),
    patience_ms,
  );

  test(
    "is left for the built-in catalogue where no item can be written, until that is mended",
    () =>
      withRelease("0.9.12", async (db) => {
        await db.script("alter table pgstac.items add constraint nothing_at_all check (false) not valid");
        const refused = await migrateCatalog(db, { choice: "auto" });
        expect(refused).toMatchObject({
          pgstac: null,
          pending: [],
          pgstac_refused: expect.stringContaining("nothing_at_all"),
        });
        await expect(migrateCatalog(db, { choice: "pgstac" })).rejects.toThrow(/nothing_at_all/);
        await db.script("alter table pgstac.items drop constraint nothing_at_all");
        expect(await migrateCatalog(db, { choice: "auto" })).toMatchObject({ pgstac: "0.9.12", pgstac_refused: null });
        expect(await roundTrip(db)).toEqual(["pgstac", "a"]);
      }),
    patience_ms,
  );
});
