// Who did what: what people and keys caused, found among everything else that happened.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../../src/client/index.js";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { openService, type TestService } from "./service.js";

const plain = defineJob({ type: "plain", stages: [{ name: "do", task: "t.do" }] });

let service: TestService;
beforeAll(async () => {
  service = await openService({ jobs: [plain], handlers: [defineHandler("t.do", {}, () => null)] });
});
afterAll(() => service.close());

interface Deed {
  event_id: number;
  kind: string;
  actor: string;
  key_id: string | null;
  job_id: string | null;
  data: Record<string, unknown> | null;
  at: string;
}

async function audit(query = "", tenant = "default"): Promise<{ deeds: Deed[]; next: string | null }> {
  const { status, body } = await service.call("GET", `/api/audit${query}`, { key: await service.key(tenant) });
  expect(status).toBe(200);
  return body;
}
const kinds = ({ deeds }: { deeds: Deed[] }) => deeds.map(({ kind }) => kind);
const keyId = (key: string) => key.split("_")[2]!;

test("what people and keys did is told, newest first, and not what the engine did by itself", async () => {
  const key = await service.key("acme");
  const client = createClient({ url: service.url, key });
  const { job_id } = await client.submit("plain", { a: 1 });
  await client.pause(job_id, { reason: "wait for the others", actor: "ada" });
  await client.continue(job_id, { actor: "ada" });
  const worker = await service.worker({ types: ["t.do"] });
  await client.wait(job_id);
  await worker.stop();
  const { job_id: second } = await client.submit("plain", { a: 2 });
  // It depends on one that is cancelled: the engine cancels it, and nobody did.
  const { job_id: third } = await client.submit("plain", { a: 3 }, { depends_on: [second] });
  await client.cancel(second, { reason: "not needed" });
  expect((await client.status(third)).status).toBe("cancelled");
  // Neither did anybody submit what the engine submits without a name.
  await service.engine.forTenant("acme").submit("plain", { a: 4 });
  const made = await client.keys.create({ name: "reader", scopes: ["read"], actor: "ben" });
  await client.keys.revoke(made.key_id);

  const told = await audit("", "acme");
  expect(told.next).toBeNull();
  expect(kinds(told)).toEqual([
    "key.revoked",
    "key.created",
    "job.cancelled",
    "job.submitted",
    "job.submitted",
    "job.continued",
    "job.paused",
    "job.submitted",
    "key.created",
  ]);
  const paused = told.deeds.find(({ kind }) => kind === "job.paused");
  expect(paused).toMatchObject({
    actor: `key:${keyId(key)} (ada)`,
    key_id: keyId(key),
    key_name: "test",
    job_id,
    job_type: "plain",
    reason: "wait for the others",
  });
  // What an event says of itself, for the sake of an index, is what its kind says.
  const [wrong] = await service.db.sql`
    select count(*)::int as events from app.events where coalesce(audit, false) <> app.is_audit_kind(kind)`;
  expect(wrong).toEqual({ events: 0 });
});

test("it is filtered by actor, kind, job and time, and by leaving submits out", async () => {
  const key = await service.key("acme");
  const who = encodeURIComponent(`key:${keyId(key)}`);
  const of_key = await audit(`?actor=${who}`, "acme");
  expect(kinds(of_key)).toEqual([
    "key.revoked",
    "key.created",
    "job.cancelled",
    "job.submitted",
    "job.submitted",
    "job.continued",
    "job.paused",
    "job.submitted",
  ]);
  expect(kinds(await audit(`?actor=${encodeURIComponent(`key:${keyId(key)} (ada)`)}`, "acme"))).toEqual([
    "job.continued",
    "job.paused",
  ]);
  expect(kinds(await audit("?submits=false", "acme"))).not.toContain("job.submitted");
  expect(kinds(await audit(`?actor=${who}&submits=false&kind=job.`, "acme"))).toEqual([
    "job.cancelled",
    "job.continued",
    "job.paused",
  ]);
  expect(kinds(await audit("?kind=key.", "acme"))).toEqual(["key.revoked", "key.created", "key.created"]);
  expect(kinds(await audit("?kind=job.submitted", "acme"))).toHaveLength(3);
  const { job_id } = of_key.deeds.find(({ kind }) => kind === "job.paused")!;
  expect(kinds(await audit(`?job_id=${job_id!.slice(0, 12)}`, "acme"))).toEqual([
    "job.continued",
    "job.paused",
    "job.submitted",
  ]);
  const [newest, ...others] = of_key.deeds;
  const after = encodeURIComponent(new Date(new Date(newest!.at).getTime()).toISOString());
  expect((await audit(`?after=${after}`, "acme")).deeds.length).toBeLessThanOrEqual(2);
  expect((await audit(`?before=${after}`, "acme")).deeds.map(({ event_id }) => event_id)).toEqual(
    expect.arrayContaining(others.slice(1).map(({ event_id }) => event_id)),
  );
  expect((await audit("?after=2999-01-01T00:00:00Z", "acme")).deeds).toEqual([]);
  expect((await audit("?before=2001-01-01T00:00:00Z", "acme")).deeds).toEqual([]);
});

test("pages follow on each other without a gap or a repeat", async () => {
  const whole = (await audit("?limit=1000", "acme")).deeds.map(({ event_id }) => event_id);
  for (const query of ["", "&submits=true"]) {
    const seen: number[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page = await audit(`?limit=2${query}${cursor === "" ? "" : `&cursor=${cursor}`}`, "acme");
      seen.push(...page.deeds.map(({ event_id }) => event_id));
      cursor = page.next;
    }
    expect(seen).toEqual(whole);
  }
});

test("a tenant sees nothing of another's, and only administrators see it at all", async () => {
  expect((await audit("", "globex")).deeds.map(({ kind }) => kind)).toEqual(["key.created"]);
  const { job_id } = (await audit("?kind=job.paused", "acme")).deeds[0]!;
  const other = await service.key("globex");
  expect((await service.call("GET", `/api/audit?job_id=${job_id}`, { key: other })).status).toBe(404);
  const reader = await service.key("acme", ["read", "operate"]);
  expect((await service.call("GET", "/api/audit", { key: reader })).status).toBe(403);
});

test("among 50,000 events of the engine, every filter finds its few rows by an index", async () => {
  await service.key("huge");
  await service.db.sql`
    insert into app.events (tenant_id, kind, actor, job_id, at)
    select 'huge', case n % 5 when 0 then 'job.submitted' when 1 then 'stage.planned' when 2 then 'stage.completed'
        when 3 then 'job.completed' else 'janitor.took_back' end,
      case n % 5 when 0 then case when n = 500 then 'key:raraavis0000' else 'scheduler' end else session_user end, 'job' || n / 5,
      '2020-01-01'::timestamptz + n * interval '1 second'
    from generate_series(1, 50000) n`;
  await service.db.sql`analyze app.events`;
  /** What it found, and how many rows of the events it read for that, in a transaction of its own. */
  const looked = (request: object) =>
    service.db.transaction(async (tx) => {
      const text = JSON.stringify({ tenant: "huge", ...request });
      // Counts of the transactions before it may not have been handed on yet: what was added is what this one read.
      const read = async () => {
        const [row] = await tx.sql`
          select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as rows
            from pg_stat_xact_all_tables where relid = 'app.events'::regclass`;
        return Number(row?.rows ?? 0);
      };
      const before = await read();
      const [row] = await tx.sql`select app.list_audit(${text}::text::json) as reply`;
      return { page: row!.reply as { deeds: Deed[]; next: string | null }, rows: (await read()) - before };
    });
  const rare = await looked({ actor: "key:raraavis0000" });
  expect(kinds(rare.page)).toEqual(["job.submitted"]);
  expect(rare.rows).toBeLessThan(10);
  const without = await looked({ submits: false });
  expect(kinds(without.page)).toEqual(["key.created"]);
  expect(without.rows).toBeLessThan(10);
  const all = await looked({});
  expect(all.page.deeds).toHaveLength(50);
  expect(all.rows).toBeLessThan(2_000);
  const old = await looked({ before: "2020-01-01T01:00:00Z", after: "2020-01-01T00:59:00Z", rows: 100 });
  expect(old.page.deeds).toHaveLength(12);
  expect(old.rows).toBeLessThan(3_000);
  const nobody = await looked({ kind: "key.revoked" });
  expect(nobody.page).toEqual({ deeds: [], next: null });
  expect(nobody.rows).toBeLessThan(10);
});
