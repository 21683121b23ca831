// What the server driver does when connections break, run out or are fought over. Connections are broken by the server
// itself (pg_terminate_backend) at a known place, never by waiting.
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import type { Database, Scalar } from "../../src/engine/database/database.js";
import { openServer, type ServerOptions } from "../../src/engine/database/server_database.js";
import { socketFolder } from "../../src/engine/database/server_socket.js";
import { freshDatabase, realServer } from "../postgres.js";

const refusal = (code: string) => expect.objectContaining({ name: "DatabaseError", code });

let admin: Database;
let url: string;

beforeAll(async () => {
  const fresh = await freshDatabase({ bare: true });
  ({ db: admin, url } = fresh);
  return fresh.drop;
});

function open(options?: ServerOptions, address = url): Database {
  const db = openServer(address, options);
  onTestFinished(() => db.close());
  return db;
}

const terminate = (pid: number) => admin.sql`select pg_terminate_backend(${pid}::int)`;

async function pidOf(session: Pick<Database, "sql">): Promise<number> {
  const [row] = await session.sql<{ pid: number }>`select pg_backend_pid() as pid`;
  return row!.pid;
}

/** Until the server sees `count` sessions of this name in this state. */
async function sessions(name: string, state: string, count: number): Promise<{ pid: number }[]> {
  for (;;) {
    const rows = await admin.sql<{ pid: number }>`
      select pid from pg_stat_activity where application_name = ${name} and state = ${state}`;
    if (rows.length === count) return rows;
  }
}

async function waitingForLock(name: string): Promise<number> {
  const [row] = await admin.sql<{ n: number }>`
    select count(*)::integer as n from pg_stat_activity where application_name = ${name} and wait_event_type = 'Lock'`;
  return row!.n;
}

/** Until the server's log says so; a server that was found running keeps its log to itself. */
async function logged(text: string): Promise<void> {
  const { log_path } = await realServer();
  while (log_path !== null && !(await readFile(log_path, "utf8")).includes(text)) await admin.sql`select 1`;
}

function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

test("a transaction that loses its connection during a statement fails, leaves nothing, and the next one works", async () => {
  const db = open({ application_name: "during" });
  await admin.script("create table during (a int)");
  const lost = db.transaction(async (tx) => {
    await tx.sql`insert into during values (1)`;
    await tx.sql`select pg_sleep(60)`;
  });
  const failed = expect(lost).rejects.toEqual(refusal("08006"));
  const [session] = await sessions("during", "active", 1);
  await terminate(session!.pid);
  await failed;
  await db.transaction(async (tx) => tx.sql`insert into during values (2)`);
  expect(await db.sql`select a from during`).toEqual([{ a: 2 }]);
});

test("a transaction that loses its connection between statements fails at once, and its later statements never run", async () => {
  const db = open();
  await admin.script("create table between_statements (a int)");
  const { opened, open: goOn } = gate();
  const pid = gate();
  let found = 0;
  let late: Promise<unknown> = Promise.resolve();
  const lost = db.transaction(async (tx) => {
    await tx.sql`insert into between_statements values (1)`;
    found = await pidOf(tx);
    pid.open();
    await opened;
    late = tx.sql`insert into between_statements values (2)`;
    await late;
  });
  const failed = expect(lost).rejects.toEqual(refusal("08006"));
  await pid.opened;
  await terminate(found);
  await failed;
  expect(await pidOf(db)).not.toBe(found);
  goOn();
  await opened;
  await expect(late).rejects.toEqual(refusal("08006"));
  expect(await db.sql`select * from between_statements`).toEqual([]);
});

test("a transaction that passes over the loss of its connection cannot go on elsewhere", async () => {
  const db = open();
  await admin.script("create table passed_over (a int)");
  const lost = db.transaction(async (tx) => {
    await tx.sql`select pg_terminate_backend(pg_backend_pid())`.catch(() => {});
    await tx.sql`insert into passed_over values (1)`;
  });
  await expect(lost).rejects.toEqual(refusal("08006"));
  expect(await db.sql`select * from passed_over`).toEqual([]);
});

test("all statements under way on a lost connection fail, and new ones get a new connection", async () => {
  const db = open({ application_name: "pipelined" });
  const first = db.sql`select pg_catalog.pg_sleep(60) as reply`;
  const others = Array.from({ length: 20 }, (_, n) => db.sql`select pg_catalog.abs(${n}::int) as reply`);
  const settled = Promise.allSettled([first, ...others]);
  const [session] = await sessions("pipelined", "active", 1);
  await terminate(session!.pid);
  for (const outcome of await settled) expect(outcome).toEqual({ status: "rejected", reason: refusal("08006") });
  expect(await db.sql`select 1 as n`).toEqual([{ n: 1 }]);
});

test("an idle connection that was lost is not noticed by the next statement", async () => {
  const db = open({ application_name: "idle" });
  const pid = await pidOf(db);
  await terminate(pid);
  await sessions("idle", "idle", 0);
  // The server's goodbye may still be on its way: then this one statement fails, and says so.
  const [outcome] = await Promise.allSettled([pidOf(db)]);
  if (outcome?.status === "rejected") expect(outcome.reason).toEqual(refusal("08006"));
  expect(await pidOf(db)).not.toBe(pid);
});

test("a copy that loses its connection fails and leaves nothing", async () => {
  const db = open({ application_name: "copying" });
  await admin.script("create table copying (a int, filler text)");
  async function* rows(): AsyncGenerator<Scalar[]> {
    for (let a = 0; a < 5_000; a++) yield [a, "x".repeat(100)];
    const [session] = await sessions("copying", "active", 1);
    await terminate(session!.pid);
    for (let a = 0; ; a++) yield [a, "y".repeat(1000)];
  }
  await expect(db.copy("copying", ["a", "filler"], rows())).rejects.toEqual(refusal("08006"));
  expect(await db.sql`select * from copying`).toEqual([]);
});

test("a listener listens again after its connection is lost, says so, and hears what comes then", async () => {
  const db = open({ application_name: "hearing" });
  const heard: string[] = [];
  const again = gate();
  const done = gate();
  let times = 0;
  await db.listen(
    "news",
    (payload) => {
      heard.push(payload);
      if (payload === "second") done.open();
    },
    () => ++times === 2 && again.open(),
  );
  const [listener] = await sessions("hearing listen", "idle", 1);
  await terminate(listener!.pid);
  await again.opened;
  await admin.sql`select pg_notify('news', 'second')`;
  await done.opened;
  expect(heard).toEqual(["second"]);
});

test("a listener that is stopped while its connection is lost stays stopped", async () => {
  const db = open({ application_name: "stopping" });
  const listener = await db.listen("news", () => {});
  const [session] = await sessions("stopping listen", "idle", 1);
  await Promise.all([terminate(session!.pid), listener.stop()]);
  await sessions("stopping listen", "idle", 0);
  expect(await db.sql`select 1 as n`).toEqual([{ n: 1 }]);
});

test("a connection to a server that became read-only is given up", async () => {
  const db = open();
  await admin.script("create table if not exists read_only (a int)");
  const before = await pidOf(db);
  await db.script("set session characteristics as transaction read only");
  await expect(db.sql`insert into read_only values (1)`).rejects.toEqual(refusal("25006"));
  await db.sql`insert into read_only values (2)`;
  expect(await pidOf(db)).not.toBe(before);
});

test("a server without a free connection is asked again until it has one", async () => {
  await admin.script(
    "drop role if exists fanfold_test_narrow; create role fanfold_test_narrow login connection limit 1",
  );
  const address = new URL(url);
  address.username = "fanfold_test_narrow";
  const holder = open({}, address.href);
  await holder.sql`select 1`;
  const second = open({}, address.href);
  const waiting = Promise.all([second.sql`select 2 as n`, second.transaction(async (tx) => tx.sql`select 3 as n`)]);
  await logged('too many connections for role "fanfold_test_narrow"');
  await holder.close();
  expect(await waiting).toEqual([[{ n: 2 }], [{ n: 3 }]]);
  await second.close();
  await admin.script("drop role fanfold_test_narrow");
});

test("a server that stays full is an error with its SQLSTATE after a few seconds", async () => {
  await admin.script("drop role if exists fanfold_test_full; create role fanfold_test_full login connection limit 0");
  const address = new URL(url);
  address.username = "fanfold_test_full";
  await expect(open({}, address.href).sql`select 1`).rejects.toEqual(refusal("53300"));
  await admin.script("drop role fanfold_test_full");
});

test("an address where nobody listens, or somebody hangs up, is a clear error and not an endless loop", async () => {
  const rude = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => rude.listen(0, "127.0.0.1", resolve));
  const { port } = rude.address() as { port: number };
  await expect(open({}, `postgres://postgres@127.0.0.1:${port}/x`).sql`select 1`).rejects.toEqual(refusal("08006"));
  await new Promise((resolve) => rude.close(resolve));
  const nobody = open({}, `postgres://postgres:secret@127.0.0.1:${port}/x`);
  const error = await nobody.sql`select 1`.catch((failure) => failure);
  expect(error).toEqual(refusal("08001"));
  expect(error.message).toBe(`cannot reach the database at 127.0.0.1:${port}: ECONNREFUSED`);
  await expect(nobody.listen("a", () => {})).rejects.toEqual(refusal("08001"));
  await expect(nobody.transaction(async () => 1)).rejects.toEqual(refusal("08001"));
  await expect(open({}, `${url}_not_there`).sql`select 1`).rejects.toEqual(refusal("3D000"));
});

test("no more connections are opened than allowed, and each transaction has one of its own", async () => {
  const db = open({ max: 2, application_name: "two" });
  const full = gate();
  const release = gate();
  let inside = 0;
  const work = (tx: Pick<Database, "sql">) => {
    if (++inside === 2) full.open();
    return release.opened.then(() => pidOf(tx));
  };
  const running = [1, 2, 3].map(() => db.transaction(work));
  const statements = [1, 2, 3].map(() => pidOf(db));
  await full.opened;
  expect(inside).toBe(2);
  await sessions("two", "idle in transaction", 2);
  release.open();
  const pids = new Set([...(await Promise.all(running)), ...(await Promise.all(statements))]);
  expect(pids.size).toBe(2);
  expect(inside).toBe(3);
});

test("what is done aside leaves the first connection to the others, and shares the only one", async () => {
  const db = open({ max: 3 });
  const aside = db.aside!();
  const first = await pidOf(db);
  const other = await pidOf(aside);
  expect(other).not.toBe(first);
  await aside.transaction(async (tx) => {
    expect(await pidOf(tx)).not.toBe(first);
    expect(await pidOf(db)).toBe(first);
  });
  expect([await pidOf(db), await pidOf(db)]).toEqual([first, first]);
  expect(await pidOf(aside)).not.toBe(first);

  const only = open({ max: 1 });
  expect(await pidOf(only.aside!())).toBe(await pidOf(only));
});

test("statements that never pause do not keep a transaction out", async () => {
  const db = open({ max: 1 });
  let over = false;
  // Each is sent while the one ahead of it still runs, so the connection is never idle.
  const ask = () => db.sql`select pg_sleep(0.01)`;
  const busy = (async () => {
    for (let ahead = ask(); !over; ) {
      const behind = ask();
      await ahead;
      ahead = behind;
    }
  })();
  await ask();
  expect(await db.transaction(async (tx) => tx.sql`select 2 as n`)).toEqual([{ n: 2 }]);
  over = true;
  await busy;
});

test("no statement is overtaken by those that came after it, from the first on", async () => {
  const db = open({ max: 1 });
  const answered: number[] = [];
  let asked = 0;
  const ask = async (): Promise<void> => {
    const number = ++asked;
    await db.sql`select ${number}::int, pg_sleep(0.001)`;
    answered.push(number);
    if (asked < 60) await ask();
  };
  await Promise.all(Array.from({ length: 6 }, ask));
  expect(answered).toEqual(Array.from({ length: asked }, (_, place) => place + 1));
});

test("closing waits for the statement under way and refuses those behind it", async () => {
  const db = open({ application_name: "closing" });
  const { opened, open: letGo } = gate();
  const { opened: taken, open: tookIt } = gate();
  const held = admin.transaction(async (tx) => {
    await tx.sql`select pg_advisory_xact_lock(4711)`;
    tookIt();
    await opened;
  });
  await taken;
  const waiting = db.sql`select pg_advisory_lock(4711), 1 as n`;
  // A session is active while it is made, too: only one that waits for the lock has the statement under way.
  await expect.poll(() => waitingForLock("closing")).toBe(1);
  const closed = db.close();
  await expect(db.sql`select 1`).rejects.toEqual(refusal("08003"));
  letGo();
  expect(await waiting).toEqual([expect.objectContaining({ n: 1 })]);
  await Promise.all([closed, held]);
});

test.each([
  ["postgres://me@x/maps", { address: "postgres://me@x/maps" }],
  ["postgres:///maps?host=/run/pg", { address: "postgres:///maps", host: "/run/pg" }],
  [
    "postgres:///maps?host=%2Frun%2Fpg&sslmode=disable",
    { address: "postgres:///maps?sslmode=disable", host: "/run/pg" },
  ],
  ["postgres:///maps?sslmode=disable&host=/run/pg", { address: "postgres:///maps?sslmode=disable", host: "/run/pg" }],
])("%s names its host as libpq understands it", (given, understood) => {
  expect(socketFolder(given)).toEqual(understood);
});

test("without prepared statements everything works as well, for poolers that share connections", async () => {
  const db = open({ prepare: false });
  const rows = await Promise.all([1, 2, 3].map((n) => db.sql`select ${n}::int as n, ${"x"}::text as t`));
  expect(rows.flat()).toEqual([1, 2, 3].map((n) => ({ n, t: "x" })));
  expect(await db.sql`select count(*) as n from pg_prepared_statements`).toEqual([{ n: 0 }]);
  expect(await db.transaction(async (tx) => tx.sql`select ${true}::boolean as b`)).toEqual([{ b: true }]);
});
