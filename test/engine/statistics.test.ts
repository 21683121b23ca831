// Plans are made when tables are empty and kept by connections: the janitor sees to it that they are made anew.
import { expect, test } from "vitest";
import { bothDatabases } from "../postgres.js";

bothDatabases("the planner's statistics", (open) => {
  test("a table that has grown is analysed once, and again when it has doubled", async () => {
    const db = await open();
    const analysed = async () => {
      const [row] = await db.sql<{ reply: { analysed: string[] } }>`select app.refresh_statistics() as reply`;
      return row!.reply.analysed;
    };
    // What a database that tests share was analysed with before counts no more.
    await db.sql`truncate app.events`;
    await analysed();
    expect(await analysed()).toEqual([]);
    const grow = (rows: number) => db.sql`
      insert into app.events (tenant_id, kind, reason) select 'default', 'test.grown', repeat('x', 500) from generate_series(1, ${rows}::integer)`;
    await grow(500);
    expect(await analysed()).toEqual(["events"]);
    const [known] = await db.sql<{ reltuples: number }>`
      select reltuples::int as reltuples from pg_class where oid = 'app.events'::regclass`;
    expect(known!.reltuples).toBeGreaterThanOrEqual(500);
    expect(await analysed()).toEqual([]);
    await grow(100);
    expect(await analysed()).toEqual([]);
    await grow(1000);
    expect(await analysed()).toEqual(["events"]);
  });
});
