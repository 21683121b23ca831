// The event stream: nothing lost, nothing twice, nothing of another's, whatever commits when.
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import type { Database } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { KeyAuthenticator } from "../../src/server/access/auth.js";
import type { Service } from "../../src/server/service.js";
import { EventGaps, positionText, readPosition } from "../../src/server/stream/event_gaps.js";
import { gate } from "../worker/shop.js";
import { type EventReader, type Heard, readEvents } from "./event_reader.js";
import { openService, type TestService } from "./service.js";

let service: TestService;
/** Some tasks of a wide job wait for it, so that its progress can be seen half way. */
let half_told: Promise<void> = Promise.resolve();
/** Of a transaction that is held open. */
let second: Database;
beforeAll(async () => {
  // Nothing is remembered here, so that no test waits for a memory to fade.
  let now = 0;
  let keys: KeyAuthenticator | undefined;
  const authenticator = {
    authenticate: (header: string | undefined) => {
      keys ??= new KeyAuthenticator(service.engine.db, { now: () => (now += 10_000) });
      return keys.authenticate(header);
    },
    close: async () => keys?.close(),
  };
  service = await openService(
    {
      jobs: [
        defineJob({
          type: "wide",
          stages: [
            { name: "seed", task: "t.seed" },
            { name: "each", task: "t.each", parallelism: "fan_out", tasks: { count: 40 } },
          ],
        }),
      ],
      handlers: [
        defineHandler("t.seed", {}, () => null),
        defineHandler("t.each", {}, (_, ctx) => (ctx.ordinal % 10 === 0 ? half_told : null)),
      ],
    },
    {
      authenticator,
      stream: {
        period_ms: 20,
        recheck_ms: 50,
        heartbeat_ms: 50,
        settle_ms: 100,
        buffered_bytes: 256 * 1024,
        per_key: 5,
      },
    },
  );
  second = openServer(service.database_url);
  await service.key("a");
  await service.key("b");
});
afterAll(async () => {
  await second.close();
  await service.close();
});

async function follow(tenant: string, query = "", last?: string, key?: string): Promise<EventReader> {
  const headers: Record<string, string> = last === undefined ? {} : { "last-event-id": last };
  return readEvents(`${service.url}/api/stream${query}`, { key: key ?? (await service.key(tenant)), headers });
}

function inside(): Service {
  return (service.app as unknown as { service: Service }).service;
}

/** An event of its own kind, and its number. */
async function happen(db: Pick<Database, "sql">, tenant: string, kind: string, data: unknown = {}): Promise<number> {
  const text = JSON.stringify(data);
  const [row] = await db.sql<{ event_id: number }>`
    insert into app.events (tenant_id, kind, data) values (${tenant}, ${kind}, ${text}::text::jsonb) returning event_id`;
  return (row as { event_id: number }).event_id;
}

const kinds = (heard: readonly Heard[]) =>
  heard.map(({ event }) => event).filter((one) => one !== "progress" && one !== "ready");
const isKind = (kind: string) => (one: Heard) => one.event === kind;

test("a reader hears the story of a job and how far it is, and another tenant's reader hears nothing of it", async () => {
  const [mine, other] = [await follow("a"), await follow("b")];
  const half = gate();
  half_told = half.passed;
  const worker = await service.worker();
  const { job_id } = await service.engine.forTenant("a").submit("wide", {});
  const isHalf = ({ completed, total }: { completed: number; total: number }) => completed > 0 && completed < total;
  await mine.until(({ event, data }) => event === "progress" && data.stages.some(isHalf));
  half.open();
  await mine.until(isKind("job.completed"));
  const told = mine.heard.filter(({ event }) => event !== "progress" && event !== "ready");
  expect(kinds(told)).toEqual(expect.arrayContaining(["job.submitted", "stage.completed", "job.completed"]));
  expect(new Set(told.map(({ data }) => data.job_id))).toEqual(new Set([job_id]));
  expect(told.map(({ data }) => data.event_id)).toEqual(told.map(({ data }) => data.event_id).sort((x, y) => x - y));
  await mine.until(
    ({ event, data }) => event === "progress" && data.stages[0].stage === "each" && data.stages[0].processing === 0,
  );
  const counts = mine.heard.filter(isKind("progress")).flatMap(({ data }) => data.stages);
  expect(counts.at(-1)).toMatchObject({ job_id, stage: "each", total: 40, completed: 40, status: "completed" });
  // One more of the other's, so that it is known to have heard all before.
  await happen(service.db, "b", "test.after");
  await other.until(isKind("test.after"));
  expect(kinds(other.heard)).toEqual(["test.after"]);
  expect(JSON.stringify(other.heard)).not.toContain(job_id);
  await worker.stop();
});

describe("an event whose transaction commits late", () => {
  test("is told when it comes, and whoever was cut off in between gets it on coming back", async () => {
    const reader = await follow("a");
    await reader.until(isKind("ready"));
    let late = 0;
    let early: Heard | undefined;
    let back: EventReader | undefined;
    await second.transaction(async (tx) => {
      late = await happen(tx, "a", "test.late");
      const event_id = await happen(service.db, "a", "test.early");
      early = await reader.until(isKind("test.early"));
      expect(early.data.event_id).toBe(event_id);
      expect(event_id).toBeGreaterThan(late);
      expect(early.id).toBe(`${event_id}~${late}`);
      // One comes back while it is still open, another will when it is there.
      back = await follow("a", "", early.id);
      await back.until(isKind("ready"));
    });
    const told = await reader.until(isKind("test.late"));
    expect(told).toMatchObject({ id: String(early?.data.event_id), data: { event_id: late } });
    expect(await back?.until(isKind("test.late"))).toMatchObject({ data: { event_id: late } });
    const later = await follow("a", `?last_event_id=${encodeURIComponent(early?.id ?? "")}`);
    expect((await later.until(isKind("test.late"))).data.event_id).toBe(late);
    await happen(service.db, "a", "test.last");
    for (const one of [reader, back as EventReader, later]) {
      await one.until(isKind("test.last"));
      expect(kinds(one.heard).filter((kind) => kind === "test.late")).toHaveLength(1);
    }
    expect(kinds(later.heard)).toEqual(["test.late", "test.last"]);
    expect(kinds(back?.heard ?? [])).toEqual(["test.late", "test.last"]);
  });

  test("is told to a reader who came while it was open, before the feed had begun", async () => {
    while (inside().feed.is_running) await new Promise((resolve) => setTimeout(resolve, 10));
    let late = 0;
    let reader: EventReader | undefined;
    await second.transaction(async (tx) => {
      late = await happen(tx, "b", "test.late");
      await happen(service.db, "b", "test.early");
      reader = await follow("b");
      expect((await reader.until(isKind("ready"))).id).toMatch(new RegExp(`[~.]${late}\\b`));
    });
    expect((await reader?.until(isKind("test.late")))?.data.event_id).toBe(late);
  });

  test("and one that is rolled back is waited for no longer than it could come", async () => {
    const reader = await follow("a");
    await reader.until(isKind("ready"));
    const rolled = second.transaction(async (tx) => {
      await happen(tx, "a", "test.never");
      const event_id = await happen(service.db, "a", "test.held");
      expect((await reader.until(isKind("test.held"))).id).toContain(`${event_id}~`);
      throw new Error("roll back");
    });
    await expect(rolled).rejects.toThrow("roll back");
    for (let tries = 0; ; tries++) {
      await happen(service.db, "a", `test.next${tries}`);
      const { id, data } = await reader.until(isKind(`test.next${tries}`));
      if (id === String(data.event_id)) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(kinds(reader.heard)).not.toContain("test.never");
  });
});

test("whoever comes back with the last id gets what was missed, in order, each once, and then what happens", async () => {
  const first = await follow("a");
  await happen(service.db, "a", "test.seen");
  const { id } = await first.until(isKind("test.seen"));
  first.close();
  for (let n = 0; n < 1200; n++) await happen(service.db, n % 3 === 0 ? "b" : "a", "test.missed", { n });
  const back = await follow("a", "", id);
  await happen(service.db, "a", "test.now");
  await back.until(isKind("test.now"));
  const missed = back.heard.filter(isKind("test.missed")).map(({ data }) => data.data.n);
  expect(missed).toEqual(Array.from({ length: 1200 }, (_, n) => n).filter((n) => n % 3 !== 0));
  expect(kinds(back.heard).at(-1)).toBe("test.now");
});

test("of one job only what happens to it is told; a foreign job is not there", async () => {
  const engine = service.engine.forTenant("a");
  const [{ job_id }, other] = [await engine.submit("wide", { n: 1 }), await engine.submit("wide", { n: 2 })];
  const reader = await follow("a", `?job_id=${job_id.slice(0, 12)}`);
  await reader.until(isKind("ready"));
  await engine.cancelJob(other.job_id);
  await engine.cancelJob(job_id);
  await reader.until(isKind("job.cancelled"));
  expect(new Set(reader.heard.filter(({ event }) => event !== "ready").map(({ data }) => data.job_id))).toEqual(
    new Set([job_id]),
  );
  expect((await service.call("GET", `/api/stream?job_id=${job_id}`, { key: await service.key("b") })).status).toBe(404);
  const bad = await service.call("GET", "/api/stream", { headers: { "last-event-id": "7; drop table" } });
  expect(bad).toMatchObject({ status: 400, body: { detail: expect.stringContaining("Last-Event-ID") } });
});

test("events about keys are for those who may see to keys", async () => {
  const reader = await follow("a", "", undefined, await service.key("a", ["read"]));
  const admin = await follow("a", "", undefined, await service.key("a", ["read", "admin"]));
  await Promise.all([reader, admin].map((one) => one.until(isKind("ready"))));
  await happen(service.db, "a", "key.created");
  await happen(service.db, "a", "test.end");
  await Promise.all([reader, admin].map((one) => one.until(isKind("test.end"))));
  expect(kinds(reader.heard)).toEqual(["test.end"]);
  expect(kinds(admin.heard).slice(-2)).toEqual(["key.created", "test.end"]);
});

test("heartbeats come, a key that is revoked ends its stream, and its scopes are looked at again", async () => {
  const key = await service.key("b", ["read"]);
  const reader = await follow("b", "", undefined, key);
  await reader.until(isKind("ready"));
  const id = key.split("_")[2] as string;
  await service.db.sql`update app.api_keys set scopes = '{submit}' where key_id = ${id}`;
  expect((await reader.until(isKind("end"))).data.reason).toBe("revoked");
  await reader.closed;
  await service.db.sql`update app.api_keys set scopes = '{read}' where key_id = ${id}`;
  const again = await follow("b", "", undefined, key);
  await again.until(isKind("ready"));
  await service.db.sql`update app.api_keys set revoked_at = now(), revoked_by = 'test' where key_id = ${id}`;
  expect((await again.until(isKind("end"))).data.reason).toBe("revoked");
  const lasting = await follow("b");
  while (!lasting.text().includes("\n: \n")) await new Promise((resolve) => setTimeout(resolve, 10));
  expect((await follow("b", "", undefined, key)).status).toBe(401);
});

test("a key has so many streams and no more, until one is closed", async () => {
  const key = await service.key("c", ["read"]);
  const open = await Promise.all(Array.from({ length: 5 }, () => follow("c", "", undefined, key)));
  await Promise.all(open.map((one) => one.until(isKind("ready"))));
  const refused = await service.call("GET", "/api/stream", { key });
  expect(refused).toMatchObject({ status: 429, body: { code: "over_limit" } });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  open[0]?.close();
  for (let status = 429; status === 429; ) {
    const next = await follow("c", "", undefined, key);
    status = next.status;
  }
});

test("a reader that does not read is cut off, told so when it does, and disturbs nobody", async () => {
  const key = await service.key("d", ["read"]);
  const quick = await follow("d", "", undefined, key);
  const slow = connect(Number(new URL(service.url).port), "127.0.0.1");
  slow.write(`GET /api/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`);
  let text = "";
  await new Promise<void>((resolve) => {
    slow.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
      if (text.includes("event: ready")) resolve();
    });
  });
  slow.pause();
  const ended = new Promise((resolve) => slow.once("close", resolve));
  const { places } = inside();
  const before = places.taken;
  const large = "x".repeat(400_000);
  for (let n = 0; places.taken === before; n++) {
    expect(n).toBeLessThan(200);
    await happen(service.db, "d", "test.large", { n, large });
    await quick.until(({ data }) => data.data?.n === n);
  }
  slow.resume();
  await ended;
  expect(text).toContain('event: end\ndata: {"reason":"slow"');
  await happen(service.db, "d", "test.end");
  await quick.until(isKind("test.end"));
});

describe("a position", () => {
  test("says what is missing, and is read as it was written", () => {
    expect(positionText(12, [])).toBe("12");
    expect(positionText(12, [[20, 22]])).toBe("12");
    expect(
      positionText(12, [
        [3, 4],
        [7, 10],
        [11, 30],
      ]),
    ).toBe("12~3.7-9.11-12");
    expect(readPosition("12~3.7-9")).toEqual({
      head: 12,
      gaps: [
        [3, 4],
        [7, 10],
      ],
    });
    // What a cell leaves out when a tenant comes whose cell has told of more.
    const wide = [[1_000_001, 9_000_000]] as const;
    expect(readPosition(positionText(9_000_128, wide))).toEqual({ head: 9_000_128, gaps: wide });
    for (const wrong of [
      "",
      "x",
      "-1",
      "1~",
      "1~5-3",
      "1~2..3",
      "9".repeat(30),
      "1~1-999999999",
      `1~${"2.".repeat(500)}3`,
    ]) {
      expect(readPosition(wrong)).toBeNull();
    }
  });

  test("with more gaps than it can hold goes back behind the first, so that nothing is lost", () => {
    const many = Array.from({ length: 60 }, (_, n) => [10 + 2 * n, 11 + 2 * n] as const);
    expect(positionText(500, many)).toBe("9");
  });

  test("gaps close from within, and end with the transactions that could have filled them", () => {
    const gaps = new EventGaps({ settle_ms: 10, give_up_ms: 1000 });
    gaps.add([[5, 9]], 100, 0);
    gaps.fill([6]);
    expect(gaps.spans).toEqual([
      [5, 6],
      [7, 9],
    ]);
    gaps.giveUp(99, 500);
    expect(gaps.spans).toHaveLength(2);
    gaps.add([[20, 21]], 200, 500);
    gaps.giveUp(150, 505);
    expect(gaps.spans).toEqual([[20, 21]]);
    gaps.giveUp(199, 1501);
    expect(gaps.spans).toEqual([]);
  });
});
