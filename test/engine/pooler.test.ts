// Behind PgBouncer in transaction mode: nothing that belongs to a session may be relied on, and nothing of ours does.
import pino from "pino";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Database } from "../../src/engine/database/database.js";
import { openServer, type ServerOptions } from "../../src/engine/database/server_database.js";
import { TcpProxy } from "../faults/proxy.js";
import { type Pooler, startPooler, withoutPgbouncer } from "../pgbouncer.js";
import { freshDatabase, realServer } from "../postgres.js";

const why_not = await withoutPgbouncer();
const name = (what: string) => (why_not === null ? what : `${what} (skipped: ${why_not})`);

describe.skipIf(why_not !== null)(name("behind a pooler"), () => {
  let pooler: Pooler;
  let direct: Database;
  let direct_url: string;
  let url: string;

  beforeAll(async () => {
    const fresh = await freshDatabase({ bare: true });
    pooler = await startPooler((await realServer()).admin_url);
    direct = fresh.db;
    // Also where the run hands out addresses of a pooler of its own.
    direct_url = (await realServer()).url_for(new URL(fresh.url).pathname.slice(1));
    url = pooler.through(direct_url);
    return async () => {
      await pooler.stop();
      await fresh.drop();
    };
  });

  function open(options: ServerOptions = {}, address = url): Database {
    const db = openServer(address, options);
    onTestFinished(() => db.close());
    return db;
  }

  function listener() {
    const lines: string[] = [];
    const log = pino({ level: "debug" }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
    return { lines, log };
  }

  test("it is noticed before anything is prepared, and said once; a server itself is told from it", async () => {
    const { lines, log } = listener();
    const db = open({ max: 3, log });
    const asked = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => db.sql`select ${n}::int as n, pg_sleep(0.01)`));
    expect(asked.flat().map(({ n }) => n)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(db.way?.()).toMatchObject({ pooled: true, prepares: false });
    expect(await db.sql`select count(*) as n from pg_prepared_statements`).toEqual([{ n: 0 }]);
    expect(lines).toEqual(["a connection pooler stands before the database (none is prepared)"]);

    const itself = open({}, direct_url);
    await itself.sql`select ${1}::int`;
    expect(itself.way?.()).toMatchObject({ pooled: false, prepares: true });
  });

  test("statements that are sent together all get their own answers", async () => {
    const dbs = [1, 2, 3].map(() => open({ max: 1 }));
    // One without parameters goes out whole; of the one behind it half would be sent while the first is answered.
    const sent = Array.from({ length: 150 }, async (_, n) => {
      const db = dbs[n % 3]!;
      const answers = await Promise.all([db.sql`select 'whole' as t`, db.sql`select ${`half ${n}`}::text as t`]);
      return answers.flat();
    });
    const expected = Array.from({ length: 150 }, (_, n) => [{ t: "whole" }, { t: `half ${n}` }]);
    expect(await Promise.all(sent)).toEqual(expected);
  });

  test("told to prepare all the same, it stops for good at the first statement that is gone, and repeats that one", async () => {
    await direct.script("create table written (a int)");
    const { lines, log } = listener();
    const db = open({ max: 1, prepare: true, log });
    const other = open({ max: 1, prepare: true });
    const write = (a: number) => db.sql`insert into written values (${a}::int)`;
    const sum = async () => (await direct.sql`select count(*) as n, sum(a) as s from written`)[0];
    await write(1);
    // Another holds the server's session on which it was prepared: the next is sent to one that does not know it.
    await other.transaction(async () => {
      await write(2);
      await Promise.all([write(4), write(8), write(16)]);
    });
    expect(await sum()).toEqual({ n: 5, s: 31 });
    expect(db.way?.()).toMatchObject({ prepares: false });
    expect(lines.filter((line) => line.startsWith("prepared statements do not last"))).toHaveLength(1);
  });

  test("a connection that fell silent is lost, what it held is let go, and a statement that takes its time is not", async () => {
    const proxy = await TcpProxy.open(Number(new URL(url).port));
    onTestFinished(() => proxy.close());
    const address = new URL(url);
    address.port = String(proxy.port);
    const db = open({ max: 2, tick_ms: 50 }, address.href);
    expect(await db.sql`select pg_sleep(1)::text as n`).toEqual([{ n: "" }]);
    const held = db.transaction(async (tx) => {
      await tx.sql`select pg_advisory_xact_lock(4714)`;
      // New connections are well, and so is the pooler's session, which is idle in this transaction.
      for (const wire of proxy.open()) wire.lose();
      await tx.sql`select 1`;
    });
    await expect(held).rejects.toMatchObject({ code: "08006", message: expect.stringContaining("fell silent") });
    await open().transaction((tx) => tx.sql`select pg_advisory_xact_lock(4714)`);
    await expect(db.sql`select 1, nowhere`).rejects.toMatchObject({ code: "42703", position: 11 });
  });

  test("settings that it refuses go with each transaction", async () => {
    const db = open({ statement_timeout_s: 7, lock_timeout_s: 3 });
    const setting = (session: Pick<Database, "sql">) =>
      session.sql`select current_setting('statement_timeout') as s, current_setting('lock_timeout') as l`;
    await db.sql`select 1`;
    expect(db.way?.()).toMatchObject({ takes_settings: false });
    expect(await db.transaction(setting)).toEqual([{ s: "7s", l: "3s" }]);
    expect(await setting(db)).toEqual([{ s: "0", l: "0" }]);
  });

  test("LISTEN is found to be deaf, and heard at an address of its own", async () => {
    const { lines, log } = listener();
    const deaf = open({ log });
    const ear = await deaf.listen("news", () => {});
    expect(ear.hears).toBe(false);
    expect(deaf.way?.()).toMatchObject({ hears: false });
    expect(lines.at(-1)).toMatch(/LISTEN is answered, but nothing arrives/);
    const db = open({ listen_url: direct_url });
    let tell = (_: string) => {};
    const heard = new Promise<string>((resolve) => {
      tell = resolve;
    });
    expect((await db.listen("news", tell)).hears).toBe(true);
    await deaf.sql`select pg_notify('news', 'here')`;
    expect(await heard).toBe("here");
  });

  test("LISTEN is heard through one that keeps sessions", async () => {
    const keeping = await startPooler((await realServer()).admin_url, { pool_mode: "session" });
    onTestFinished(() => keeping.stop());
    const db = open({}, keeping.through(direct_url));
    const ear = await db.listen("news", () => {});
    expect([ear.hears, db.way?.().pooled]).toEqual([true, true]);
  });

  test("when it dies and comes back, so do connections", async () => {
    const db = open({ max: 2 });
    await db.sql`select 1`;
    await pooler.kill();
    await expect(db.sql`select 1`).rejects.toMatchObject({ code: expect.stringMatching(/^08/) });
    await pooler.start();
    await expect.poll(() => db.sql`select 2 as n`.catch(() => null)).toEqual([{ n: 2 }]);
  });
});
