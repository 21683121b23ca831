// The contract of a driver, on both of them: what goes in comes out, alike, and what cannot is refused.
import { expect, test } from "vitest";
import { type Database, DatabaseError, type Scalar } from "../../src/engine/database/database.js";
import { bothDatabases } from "../postgres.js";

const refusal = (code: string, more: object = {}) => expect.objectContaining({ name: "DatabaseError", code, ...more });

bothDatabases(
  "a database",
  (open) => {
    test("gives integers, moments, JSON and the rest as the same values", async () => {
      const db = await open();
      const rows = await db.sql`
      select 7::int8 as int8, 7::int4 as int4, 7::int2 as int2, 1.5::float8 as float8, 1.10::numeric as numeric,
        true as yes, false as no, null::text as nothing, 'é€🚀'::text as text, 'x'::name as name,
        '{"b":1,"a":[1,null]}'::json as json, '{"b":1,"a":[1,null]}'::jsonb as jsonb, 'null'::jsonb as json_null,
        '2024-05-06 07:08:09.123+02'::timestamptz as moment, '2024-05-06'::date as date,
        '2024-05-06 07:08:09'::timestamp as wall_time, '\\x00ff'::bytea as bytes,
        'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid as uuid, 26::oid as oid, count(*) as count`;
      expect(rows).toEqual([
        {
          int8: 7,
          int4: 7,
          int2: 7,
          float8: 1.5,
          numeric: "1.10",
          yes: true,
          no: false,
          nothing: null,
          text: "é€🚀",
          name: "x",
          json: { b: 1, a: [1, null] },
          jsonb: { a: [1, null], b: 1 },
          json_null: null,
          moment: new Date("2024-05-06T05:08:09.123Z"),
          date: "2024-05-06",
          wall_time: "2024-05-06 07:08:09",
          bytes: Buffer.from([0, 255]),
          uuid: "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
          oid: 26,
          count: 1,
        },
      ]);
    });

    test("gives arrays with their nulls, quotes and depths", async () => {
      const db = await open();
      const [row] = await db.sql`
      select array[1, null, 3]::int8[] as numbers, array['a,b', 'say "hi"', 'back\\slash', 'NULL', null, '', '{}']::text[] as texts,
        array[[1, 2], [3, 4]]::int4[] as deep, '{}'::text[] as empty, array[true, false] as flags,
        '[0:1]={5,6}'::int4[] as from_zero, array['{"a":1}'::jsonb] as documents`;
      expect(row).toEqual({
        numbers: [1, null, 3],
        texts: ["a,b", 'say "hi"', "back\\slash", "NULL", null, "", "{}"],
        deep: [
          [1, 2],
          [3, 4],
        ],
        empty: [],
        flags: [true, false],
        from_zero: [5, 6],
        documents: [{ a: 1 }],
      });
    });

    test("takes values with the type their place in the statement has", async () => {
      const db = await open();
      const json = JSON.stringify({ deep: ["\\", '"', "\n", 1e21] });
      const [row] = await db.sql`
      select ${1}::int4 as one, ${-0}::float8 as zero, ${1.5}::numeric as half, ${true}::boolean as yes, ${"true"}::boolean as text_yes,
        ${"9007199254740993"}::int8::text as big, ${"2024-05-06T07:08:09.123456Z"}::timestamptz::text like '%.123456%' as microseconds,
        ${json}::text::json as json, ${json}::text::jsonb as jsonb, ${null}::int4 as nothing, ${"it's $1"}::text as quoted,
        ${"infinity"}::timestamptz::text as forever, ${"{1,2}"}::int4[] as list`;
      expect(row).toEqual({
        one: 1,
        zero: 0,
        half: "1.5",
        yes: true,
        text_yes: true,
        big: "9007199254740993",
        microseconds: true,
        json: JSON.parse(json),
        jsonb: JSON.parse(json),
        nothing: null,
        quoted: "it's $1",
        forever: "infinity",
        list: [1, 2],
      });
    });

    test("refuses to read an integer beyond 2^53 or a moment without a date, and goes on working", async () => {
      const db = await open();
      await expect(db.sql`select 9007199254740993::int8 as n from generate_series(1, 3)`).rejects.toEqual(
        refusal("22003"),
      );
      await expect(db.sql`select -9007199254740993::int8 as n`).rejects.toThrow(/-9007199254740993 is beyond 2\^53/);
      await expect(db.sql`select array[9007199254740993]::int8[] as n`).rejects.toEqual(refusal("22003"));
      await expect(db.sql`select 'infinity'::timestamptz as t`).rejects.toEqual(refusal("22008"));
      expect(await db.sql`select 9007199254740991::int8 as n`).toEqual([{ n: 9007199254740991 }]);
    });

    test("refuses objects, arrays, dates, bigints and undefined as parameters before anything is sent", async () => {
      const db = await open();
      await db.script("create table seen (a text)");
      for (const value of [{}, [1], new Date(), 1n, undefined, Symbol("s"), () => 1]) {
        await expect(db.sql`insert into seen values (${value as unknown as Scalar})`).rejects.toEqual(refusal("07006"));
      }
      expect(await db.sql`select * from seen`).toEqual([]);
    });

    test("refuses NUL and half surrogates instead of storing something else", async () => {
      const db = await open();
      await expect(db.sql`select ${"a\0b"}::text as t`).rejects.toEqual(refusal("22021"));
      await expect(db.sql`select ${"a\ud800b"}::text as t`).rejects.toEqual(refusal("22021"));
      expect(await db.sql`select ${"a\ud83d\ude80b"}::text as t`).toEqual([{ t: "a🚀b" }]);
    });

    test("throws errors with SQLSTATE, message, detail and hint, and without the parameters", async () => {
      const db = await open();
      await db.script(
        `create table one (id int constraint id_is_positive check (id > 0), constraint one_id unique (id))`,
      );
      await db.sql`insert into one values (1)`;
      await expect(db.sql`insert into one values (${1}::int)`).rejects.toEqual(
        refusal("23505", { constraint: "one_id", table: "one", detail: "Key (id)=(1) already exists." }),
      );
      const raised = await db.sql`select ${"hidden"}::text, pg_catalog.set_config('a.b', 'c', false), raise_it()`.catch(
        (error) => error,
      );
      expect(raised).toEqual(refusal("42883"));
      await db.script(`create function raise_it() returns void language plpgsql as
      $f$ begin raise exception 'own words' using errcode = 'FF002', detail = '[{"path":"$"}]', hint = 'do this'; end $f$`);
      const own = await db.sql`select raise_it(), ${"hidden"}::text`.catch((error) => error);
      expect(own).toEqual(refusal("FF002", { message: "own words", detail: '[{"path":"$"}]', hint: "do this" }));
      expect(own).toBeInstanceOf(DatabaseError);
      expect(JSON.stringify(own) + own.stack + Object.getOwnPropertyNames(own)).not.toMatch(
        /hidden|,parameters|,query/,
      );
      await expect(db.script("select 1; select nonsense")).rejects.toEqual(refusal("42703", { position: 18 }));
    });

    test("undoes a transaction that throws, and one in which a failed statement was passed over", async () => {
      const db = await open();
      await db.script("create table kept (a int)");
      const mine = new Error("mine");
      await expect(
        db.transaction(async (tx) => {
          await tx.sql`insert into kept values (1)`;
          throw mine;
        }),
      ).rejects.toBe(mine);
      await expect(
        db.transaction(async (tx) => {
          await tx.sql`insert into kept values (2)`;
          await tx.sql`select 1 / 0`.catch(() => {});
          return "as if nothing had happened";
        }),
      ).rejects.toEqual(refusal("25P02"));
      expect(await db.transaction(async (tx) => tx.sql`insert into kept values (3) returning a`)).toEqual([{ a: 3 }]);
      expect(await db.sql`select a from kept`).toEqual([{ a: 3 }]);
    });

    test("goes back to a savepoint inside a transaction", async () => {
      const db = await open();
      await db.script("create table kept_part (a int primary key)");
      await db.transaction(async (tx) => {
        await tx.sql`insert into kept_part values (1)`;
        await tx.script("savepoint before");
        await expect(tx.sql`insert into kept_part values (1)`).rejects.toEqual(refusal("23505"));
        await tx.script("rollback to savepoint before");
        await tx.sql`insert into kept_part values (2)`;
      });
      expect(await db.sql`select a from kept_part order by a`).toEqual([{ a: 1 }, { a: 2 }]);
    });

    test("reports a constraint that fails only at commit, and refuses a transaction's statements after its end", async () => {
      const db = await open();
      await db.script("create table late (a int unique deferrable initially deferred)");
      const twice = db.transaction(async (tx) => {
        await tx.sql`insert into late values (1), (1)`;
      });
      await expect(twice).rejects.toEqual(refusal("23505"));
      const leaked = await db.transaction(async (tx) => tx);
      await expect(leaked.sql`insert into late values (7)`).rejects.toEqual(refusal("25P01"));
      expect(await db.sql`select * from late`).toEqual([]);
    });

    test("runs statements that were started together, each with its own answer", async () => {
      const db = await open();
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, n) => db.sql<{ n: number }>`select ${n}::int as n`),
      );
      expect(answers.map(([row]) => row?.n)).toEqual(Array.from({ length: 50 }, (_, n) => n));
    });

    test("copies rows with nasty values, unchanged and counted", async () => {
      const db = await open();
      await db.script(
        `create schema "Odd"; create table "Odd"."Nasty ""table" (id int, "the text" text, yes boolean, n float8, j jsonb)`,
      );
      const texts = [
        "",
        "\\N",
        "\\.",
        "a\tb",
        "a\nb\r\n",
        "\b\f\v\\",
        '"quoted", it\'s',
        "é€🚀",
        "NULL",
        " ",
        "$1",
        "\u2028\u0001\u007f",
      ];
      const rows = texts.map((text, id): Scalar[] => [id, text, id % 2 === 0, id / 7, JSON.stringify({ text })]);
      rows.push([99, null, null, null, null]);
      expect(await db.copy('Odd.Nasty "table', ["id", "the text", "yes", "n", "j"], rows)).toBe(rows.length);
      const stored = await db.sql`select id, "the text" as text, yes, n, j from "Odd"."Nasty ""table" order by id`;
      expect(stored).toEqual([
        ...texts.map((text, id) => ({ id, text, yes: id % 2 === 0, n: id / 7, j: { text } })),
        { id: 99, text: null, yes: null, n: null, j: null },
      ]);
    });

    test("copies many rows from an async source, and none at all", async () => {
      const db = await open();
      await db.script("create table many (id int, filler text)");
      async function* source(): AsyncGenerator<Scalar[]> {
        for (let id = 0; id < 30_000; id++) yield [id, "x".repeat(id % 50)];
      }
      expect(await db.copy("many", ["id", "filler"], source())).toBe(30_000);
      expect(await db.copy("many", ["id", "filler"], [])).toBe(0);
      const [row] = await db.sql`select count(*) as n, sum(id) as total, sum(length(filler)) as filled from many`;
      expect(row).toEqual({ n: 30_000, total: 449_985_000, filled: 600 * 1225 });
    });

    test("copies all rows or none, whoever spoils it, and goes on working", async () => {
      const db = await open();
      await db.script("create table whole (id int primary key, t text)");
      const copy = (rows: Scalar[][]) => db.copy("whole", ["id", "t"], rows);
      await expect(copy([[1, "a"], [1, "b"]])).rejects.toEqual(refusal("23505")); // biome-ignore format: one case per line
      await expect(copy([[1, "a"], ["x", "b"]])).rejects.toEqual(refusal("22P02")); // biome-ignore format: one case per line
      await expect(copy([[1, "a"], [2]])).rejects.toEqual(refusal("22P04")); // biome-ignore format: one case per line
      await expect(copy([[1, "a\0"]])).rejects.toEqual(refusal("22021"));
      await expect(copy([[1, {} as unknown as Scalar]])).rejects.toEqual(refusal("07006"));
      await expect(db.copy("nowhere", ["id"], [[1]])).rejects.toEqual(refusal("42P01"));
      await expect(db.copy("whole", ["no such"], [[1]])).rejects.toEqual(refusal("42703"));
      const broken = new Error("source broke");
      function* breaking(): Generator<Scalar[]> {
        for (let id = 0; id < 20_000; id++) yield [id, "some text to fill a few pieces"];
        throw broken;
      }
      await expect(db.copy("whole", ["id", "t"], breaking())).rejects.toBe(broken);
      expect(await db.sql`select count(*) as n from whole`).toEqual([{ n: 0 }]);
      expect(await copy([[1, "a"]])).toBe(1);
    });

    test("hears notifications of its channels, also with odd names and long payloads, until stopped", async () => {
      const db = await open();
      const heard: string[] = [];
      const { promise, arrived } = countdown(3);
      let listening = 0;
      const odd = await db.listen(
        'Odd "channel',
        (payload) => arrived(heard.push(`odd ${payload}`)),
        () => listening++,
      );
      const plain = await db.listen(
        "plain",
        (payload) => arrived(heard.push(`plain ${payload.length}`)),
        () => listening++,
      );
      await db.sql`select pg_notify(${'Odd "channel'}, ${"1"}), pg_notify(${"plain"}, ${"x".repeat(7000)})`;
      await db.sql`select pg_notify(${"elsewhere"}, ${"2"}), pg_notify(${'Odd "channel'}, ${"3"})`;
      await promise;
      await odd.stop();
      const last = countdown(1);
      const end = await db.listen("end", () => last.arrived(1));
      await db.sql`select pg_notify(${'Odd "channel'}, ${"4"}), pg_notify(${"end"}, ${""})`;
      await last.promise;
      await Promise.all([plain.stop(), end.stop()]);
      expect(heard.sort()).toEqual(["odd 1", "odd 3", "plain 7000"]);
      expect(listening).toBe(2);
    });

    test("does not hear what was rolled back", async () => {
      const db = await open();
      const heard: string[] = [];
      const { promise, arrived } = countdown(1);
      const listener = await db.listen("news", (payload) => arrived(heard.push(payload)));
      await expect(
        db.transaction(async (tx) => {
          await tx.sql`select pg_notify(${"news"}, ${"undone"})`;
          throw new Error("no");
        }),
      ).rejects.toThrow("no");
      await db.sql`select pg_notify(${"news"}, ${"done"})`;
      await promise;
      expect(heard).toEqual(["done"]);
      await listener.stop();
      await listener.stop();
    });
  },
  { shared: true },
);

bothDatabases("a closed database", (open) => {
  test("can be closed twice and is closed afterwards", async () => {
    const db: Database = await open();
    await db.sql`select 1`;
    await Promise.all([db.close(), db.close()]);
    await db.close();
    await expect(db.sql`select 1`).rejects.toEqual(refusal("08003"));
    await expect(db.script("select 1")).rejects.toEqual(refusal("08003"));
    await expect(db.transaction(async () => 1)).rejects.toEqual(refusal("08003"));
    await expect(db.copy("pg_class", ["oid"], [])).rejects.toEqual(refusal("08003"));
    await expect(db.listen("a", () => {})).rejects.toEqual(refusal("08003"));
  });
});

function countdown(wanted: number): { promise: Promise<void>; arrived: (_: unknown) => void } {
  let arrived: (_: unknown) => void = () => {};
  const promise = new Promise<void>((resolve) => {
    let left = wanted;
    arrived = () => --left === 0 && resolve();
  });
  return { promise, arrived };
}
