// Finding, counting and acting on many jobs over HTTP: every filter gives the same jobs to the list, the counts and the bulk verbs,
// and nothing of another tenant to any of them.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent, Throttled } from "../../src/core/errors/errors.js";
import { openService, type TestService } from "./service.js";

const parts = {
  jobs: [
    defineJob({ type: "tile", stages: [{ name: "cut", task: "t.ok" }] }),
    defineJob({ type: "mosaic", stages: [{ name: "join", task: "t.fail" }] }),
    defineJob({ type: "gated", stages: [{ name: "ask", task: "t.ok", gate: "Really?" }] }),
    defineJob({ type: "never", stages: [{ name: "wait", task: "t.never" }] }),
    defineJob({ type: "flaky", stages: [{ name: "try", task: "t.flaky", max_attempts: 5 }] }),
  ],
  handlers: [
    defineHandler("t.ok", {}, () => ({ ok: true })),
    defineHandler("t.fail", {}, ({ why }: { why?: string }) => {
      throw new Permanent(why ?? "timed out after 30 s", { code: "broken" });
    }),
    defineHandler("t.never", {}, () => null),
    defineHandler("t.flaky", {}, () => {
      throw new Throttled(600, "try later");
    }),
  ],
};

let service: TestService;
let other: string;
/** Jobs by a name of the test's own. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  service = await openService(parts);
  other = await service.key("globex");
  await service.worker({ types: ["t.ok", "t.fail", "t.flaky"], slots: 4 });
  const { engine } = service;
  const submit = async (name: string, type: string, options: object = {}, parameters: object = {}) => {
    ids[name] = (await engine.submit(type, { name, ...parameters }, options)).job_id;
    return ids[name];
  };
  await submit("plain", "tile", { labels: { team: "hydro", "odd, key:": "a:b\\c" }, correlation_id: "order-12" });
  await submit("high", "tile", { priority: 9, labels: { team: "forest" }, group_id: "night" });
  await submit("broken", "mosaic", { labels: { team: "hydro" } });
  await submit("worse", "mosaic", {}, { why: "no space left for scene 7" });
  await submit("asks", "gated");
  await submit("stuck", "never", { labels: { team: "ocean", place: "North Sea" } });
  await submit("held", "never");
  await submit("after", "never", { depends_on: [ids.stuck!] });
  await submit("flaky", "flaky");
  await engine.operate.pause(ids.held!, { reason: "not now" });
  for (const name of ["plain", "high", "broken", "worse"]) await engine.wait(ids[name]!);
  await until(async () => (await found("retrying=true")).length === 1);
  await until(async () => (await found("approval=true")).length === 1);
  const theirs = await service.call("POST", "/api/jobs/submit/never", {
    key: other,
    body: { labels: { team: "hydro" } },
  });
  ids.theirs = theirs.body.job_id;
});
afterAll(() => service.close());

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 50));
}

async function ask(path: string, key?: string) {
  return service.call("GET", path, key === undefined ? {} : { key });
}

/** Names of the jobs that are found, newest first. */
async function found(query: string, key?: string): Promise<string[]> {
  const { status, body } = await ask(`/api/jobs?${query}`, key);
  expect([query, status]).toEqual([query, 200]);
  const names = new Map(Object.entries(ids).map(([name, job_id]) => [job_id, name]));
  return body.jobs.map(({ job_id }: { job_id: string }) => names.get(job_id) ?? job_id);
}

const q = encodeURIComponent;

describe("a filter", () => {
  test("finds by words in type, labels, correlation, error, and by the beginning of an id", async () => {
    expect(await found("q=MOSAIC")).toEqual(["worse", "broken"]);
    expect(await found(`q=${q('"north sea"')}`)).toEqual(["stuck"]);
    expect(await found("q=mosaic%20hydro")).toEqual(["broken"]);
    expect(await found("q=order-12")).toEqual(["plain"]);
    expect(await found(`q=${q('"no space" scene')}`)).toEqual(["worse"]);
    expect(await found(`q=${ids.high!.slice(0, 8)}`)).toEqual(["high"]);
    expect(await found("q=nowhere%20at%20all")).toEqual([]);
    expect(await found(`q=${q("100%")}`)).toEqual([]);
  });

  test("takes several types and statuses, labels with and without a value, and labels with any character", async () => {
    expect(await found("type=tile,mosaic&status=completed,failed")).toEqual(["worse", "broken", "high", "plain"]);
    expect(await found("type=mosaic,mosaic&status=failed")).toEqual(["worse", "broken"]);
    expect(await found("label=team")).toEqual(["stuck", "broken", "high", "plain"]);
    expect(await found("label=team:hydro")).toEqual(["broken", "plain"]);
    expect(await found(`label=${q("odd\\, key\\::a\\:b\\\\c,team")}`)).toEqual(["plain"]);
    expect(await found("error=TIMED%20out")).toEqual(["broken"]);
    expect(await found("error=scene")).toEqual(["worse"]);
  });

  test("takes when it was created and finished, priority, group and correlation", async () => {
    const [first] = (await ask(`/api/jobs?id=${ids.plain}`)).body.jobs;
    // Callers name milliseconds, the database keeps microseconds.
    const justAfter = (time: string) => q(new Date(Date.parse(time) + 1).toISOString());
    expect(
      await found(`finished_before=${justAfter(first.finished_at)}&finished_after=${q(first.created_at)}`),
    ).toContain("plain");
    expect(await found(`finished_before=${q(first.created_at)}`)).toEqual([]);
    expect(await found(`created_before=${justAfter(first.created_at)}`)).toEqual(["plain"]);
    expect(await found("finished_after=2020-01-01T00:00:00Z&type=never")).toEqual([]);
    expect(await found("priority_from=5")).toEqual(["high"]);
    expect(await found("priority_to=-1")).toEqual([]);
    expect(await found("group_id=night")).toEqual(["high"]);
    expect(await found("correlation_id=order-12")).toEqual(["plain"]);
  });

  test("tells apart what is paused, waits for jobs or for a person, and what is tried again", async () => {
    expect(await found("paused=true")).toEqual(["held"]);
    expect(await found("waiting=true")).toEqual(["after"]);
    expect(await found("approval=true")).toEqual(["asks"]);
    expect(await found("retrying=true")).toEqual(["flaky"]);
    expect(await found("retrying=true&type=tile")).toEqual([]);
    expect(await found("paused=false&type=never")).toEqual(["after", "stuck"]);
    expect(await found("paused=true&status=completed")).toEqual([]);
    expect(await found("error=scene&paused=true")).toEqual([]);
  });

  test("shows how far a job is when asked, and not otherwise", async () => {
    const [plain] = (await ask(`/api/jobs?id=${ids.plain}&progress=true`)).body.jobs;
    expect(plain.progress).toMatchObject({
      stages: 1,
      stages_ended: 1,
      total: 1,
      completed: 1,
      failed: 0,
      open_stages: [],
    });
    const [flaky] = (await ask(`/api/jobs?id=${ids.flaky}&progress=true`)).body.jobs;
    expect(flaky.progress).toMatchObject({
      stage: 1,
      stage_name: "try",
      retrying: true,
      open_stages: [{ total: 1, completed: 0 }],
    });
    const [asks] = (await ask(`/api/jobs?id=${ids.asks}&progress=true`)).body.jobs;
    expect(asks.progress).toMatchObject({ approval: true });
    expect((await ask(`/api/jobs?id=${ids.plain}`)).body.jobs[0].progress).toBeNull();
  });

  test("is refused where it says nothing that can be looked for", async () => {
    for (const query of [
      `label=${q(",")}`,
      "type=",
      "priority_from=x",
      "retrying=maybe",
      "q=a+b+c+d+e+f+g+h+i+j+k",
      "finished_after=soon",
    ]) {
      const { status, body } = await ask(`/api/jobs?${query}`);
      expect([query, status, body.code]).toEqual([query, 400, "bad_request"]);
      expect((await ask(`/api/jobs/counts?${query}`)).status).toBe(400);
    }
  });
});

describe("counts", () => {
  test("are those of the list, whatever is asked for", async () => {
    const filters = [
      "",
      "type=tile",
      "type=never,mosaic",
      "status=failed",
      "status=queued,completed",
      "label=team:hydro",
      "q=mosaic",
      "error=scene",
      "retrying=true",
      "paused=true",
      "waiting=true",
      "approval=true",
      "paused=false",
      "priority_from=5",
      "group_id=night",
      "correlation_id=order-12",
      `id=${ids.plain!.slice(0, 12)}`,
      "created_after=2020-01-01T00:00:00Z",
      "finished_after=2020-01-01T00:00:00Z&type=tile",
      "status=completed&error=scene",
    ];
    for (const filter of filters) {
      const { body } = await ask(`/api/jobs/counts?${filter}`);
      const listed = (await ask(`/api/jobs?${filter}&limit=1000`)).body.jobs as { status: string }[];
      const expected = Object.fromEntries(
        Object.keys(body.counts).map((status) => [status, listed.filter((job) => job.status === status).length]),
      );
      expect([filter, body.counts, body.at_least]).toEqual([filter, expected, []]);
    }
  });

  test("stay exact through ends, resumes, cancellations and the janitor's adding up", async () => {
    const { engine, db } = service;
    const exact = async () => {
      const { body } = await ask("/api/jobs/counts");
      const rows = await db.sql<{ status: string; n: number }>`
        select status::text, count(*)::int as n from app.jobs where tenant_id = 'default' group by 1`;
      for (const [status, n] of Object.entries(body.counts))
        expect([status, n]).toEqual([status, rows.find((row) => row.status === status)?.n ?? 0]);
    };
    const doomed: string[] = [];
    for (let n = 0; n < 12; n++) doomed.push((await engine.submit("mosaic", { n })).job_id);
    for (const job_id of doomed) await engine.wait(job_id);
    await exact();
    for (const job_id of doomed.slice(0, 6)) await engine.operate.resume(job_id);
    await db.sql`select app.fold_counts()`;
    for (const job_id of doomed) await engine.wait(job_id);
    await exact();
    const base = await engine.submit("never", { n: "base" });
    await engine.submit("never", { n: "dependent" }, { depends_on: [base.job_id] });
    await engine.cancelJob(base.job_id);
    await exact();
    await db.sql`select app.fold_counts()`;
    await exact();
    const [left] = await db.sql<{ n: number }>`
      select max(n)::int as n from (select count(*) as n from app.job_tallies group by tenant_id, job_type, status) t`;
    expect(left!.n).toBeLessThanOrEqual(8);
  });

  test("know what a filter can be about", async () => {
    const { body } = await ask("/api/jobs/facets");
    expect(body.types).toEqual(expect.arrayContaining(["tile", "mosaic", "never", "flaky", "gated"]));
    expect(body.labels.find(({ key }: { key: string }) => key === "team").values.sort()).toEqual([
      "forest",
      "hydro",
      "ocean",
    ]);
    expect((await ask("/api/jobs/facets", other)).body).toEqual({
      types: ["never"],
      labels: [{ key: "team", values: ["hydro"] }],
    });
  });
});

describe("a bulk verb", () => {
  /** What there is by now. */
  const soon = () => ({ before: new Date(Date.now() + 60_000).toISOString() });
  const bulk = (body: object, key?: string) =>
    service.call("POST", "/api/jobs/bulk", key === undefined ? { body } : { body, key });
  const many = (label: string, n: number, key?: string) =>
    service.call("POST", "/api/jobs/submit/never/batch", {
      key,
      body: { items: Array.from({ length: n }, (_, i) => ({ parameters: { [label]: i }, labels: { batch: label } })) },
    });

  test("counts first, touches page by page, leaves what came later alone, and can be sent again", async () => {
    await many("crowd", 230);
    const filter = { label: "batch:crowd" };
    const dry = await bulk({ action: "cancel", filter, dry_run: true });
    expect(dry.body).toMatchObject({ action: "cancel", dry_run: true, touched: 230, at_least: false, next: null });
    await service.call("POST", "/api/jobs/submit/never", {
      body: { parameters: { crowd: "late" }, labels: { batch: "crowd" } },
    });
    const real = { action: "cancel", filter, before: dry.body.before, reason: "a trial", actor: "ada" };
    const touched: number[] = [];
    let cursor: string | null = null;
    do {
      const { body } = await bulk({ ...real, ...(cursor === null ? {} : { cursor }) });
      expect(body).toMatchObject({ skipped: [], failed: [] });
      touched.push(body.touched);
      cursor = body.next;
    } while (cursor !== null);
    expect(touched.length).toBeGreaterThan(1);
    expect(Math.max(...touched)).toBeLessThanOrEqual(200);
    expect(touched.reduce((sum, n) => sum + n, 0)).toBe(230);
    // A page sent again, as after an answer that was lost, finds nothing left to touch.
    const [newest] = (await ask("/api/jobs?label=batch:crowd&status=cancelled&limit=1")).body.jobs;
    const again = `${BigInt(Date.parse(newest.created_at)) * 1000n + 999n}-${"0".repeat(64)}`;
    expect((await bulk({ ...real, cursor: again })).body).toMatchObject({ touched: 0, failed: [], next: null });
    expect((await ask("/api/jobs/counts?label=batch:crowd")).body.counts).toMatchObject({ cancelled: 230, queued: 1 });
    const events = await service.db.sql<{ kind: string; actor: string; reason: string; data: Record<string, unknown> }>`
      select kind, actor, reason, data from app.events where tenant_id = 'default' and kind = 'jobs.bulk'`;
    expect(events).toMatchObject([
      {
        reason: "a trial",
        data: { action: "cancel", filter: { labels: { batch: "crowd" } } },
      },
    ]);
    expect(Date.parse(events[0]!.data.before as string)).toBe(Date.parse(dry.body.before));
    expect(events[0]!.actor).toContain("ada");
    const [one] = await service.db.sql<{
      n: number;
    }>`select count(*)::int as n from app.events where kind = 'job.cancelled' and reason = 'a trial'`;
    expect(one!.n).toBe(230);
  });

  test("pauses, continues and resumes what is as it needs it, and says what was not", async () => {
    await many("few", 5);
    const filter = { label: "batch:few" };
    expect((await bulk({ action: "continue", filter, dry_run: true })).body.touched).toBe(0);
    expect((await bulk({ action: "pause", filter, ...soon() })).body).toMatchObject({ touched: 5, next: null });
    expect((await bulk({ action: "pause", filter, dry_run: true })).body.touched).toBe(0);
    expect((await bulk({ action: "continue", filter, ...soon() })).body.touched).toBe(5);
    const jobs = (await ask("/api/jobs?label=batch:few")).body.jobs.map(({ job_id }: { job_id: string }) => job_id);
    expect((await bulk({ action: "cancel", job_ids: [...jobs.slice(0, 2), "f".repeat(64)] })).body.touched).toBe(2);
    expect((await bulk({ action: "resume", filter, dry_run: true })).body.touched).toBe(2);
    expect((await bulk({ action: "resume", filter, ...soon() })).body).toMatchObject({ touched: 2, failed: [] });
    expect((await bulk({ action: "resume", filter: { ...filter, status: "queued" }, ...soon() })).body.touched).toBe(0);
    // What it depends on has not ended as it needs it: the verb itself refuses.
    const base = (await service.call("POST", "/api/jobs/submit/never", { body: { parameters: { base: 1 } } })).body
      .job_id;
    const body = { parameters: { on: 1 }, labels: { batch: "dependent" }, depends_on: [base] };
    await service.call("POST", "/api/jobs/submit/never", { body });
    await service.call("POST", `/api/jobs/${base}/cancel`, { body: {} });
    const refused = await bulk({ action: "resume", filter: { label: "batch:dependent" }, ...soon() });
    expect(refused.body).toMatchObject({ touched: 0, failed: [], skipped: [{ kind: "not_allowed_now", jobs: 1 }] });
  });

  test("needs the right to operate, one of filter and ids, and never reaches another tenant", async () => {
    const viewer = await service.key("default", ["read"]);
    expect((await bulk({ action: "cancel", dry_run: true }, viewer)).status).toBe(403);
    expect((await bulk({ action: "cancel", filter: { status: "queued" }, job_ids: [ids.stuck] })).status).toBe(400);
    expect((await bulk({ action: "explode" })).status).toBe(400);
    const unasked = await bulk({ action: "cancel", filter: {} });
    expect(unasked).toMatchObject({ status: 400, body: { problems: [{ path: "body.before" }] } });
    expect((await bulk({ action: "cancel", job_ids: [ids.theirs] })).body).toMatchObject({
      touched: 0,
      skipped: [],
      failed: [],
    });
    const dry = await bulk({ action: "cancel", filter: {}, dry_run: true }, other);
    expect(dry.body.touched).toBe(1);
    expect((await bulk({ action: "cancel", filter: { label: "team:ocean" }, ...soon() }, other)).body.touched).toBe(0);
    expect((await ask(`/api/jobs/${ids.theirs}`, other)).body.status).toBe("queued");
    expect((await ask(`/api/jobs/${ids.stuck}`)).body.status).toBe("queued");
  });
});

describe("saved views", () => {
  const put = (name: string, query: string, key?: string) =>
    service.call("PUT", `/api/views/${q(name)}`, { body: { query }, key });

  test("are kept, replaced, listed by name and deleted, for everybody of the tenant and nobody else", async () => {
    expect((await put("Went wrong", "status:failed created:>-1d")).body).toMatchObject({
      name: "Went wrong",
      query: "status:failed created:>-1d",
    });
    await put("a / b <script>", "label:team=hydro");
    expect((await put("Went wrong", "status:failed,partial_success")).body.query).toBe("status:failed,partial_success");
    const viewer = await service.key("default", ["read"]);
    const names = (await ask("/api/views", viewer)).body.views.map(({ name }: { name: string }) => name);
    expect(names).toEqual(["a / b <script>", "Went wrong"]);
    expect((await ask("/api/views", other)).body.views).toEqual([]);
    expect((await service.call("DELETE", `/api/views/${q("Went wrong")}`, { key: other })).status).toBe(404);
    expect((await put("mine", "", viewer)).status).toBe(403);
    expect((await service.call("DELETE", `/api/views/${q("a / b <script>")}`)).status).toBe(200);
    expect((await service.call("DELETE", `/api/views/${q("a / b <script>")}`)).status).toBe(404);
    const events = await service.db.sql<{
      kind: string;
    }>`select kind from app.events where kind like 'view.%' order by event_id`;
    expect(events.map(({ kind }) => kind)).toEqual(["view.saved", "view.saved", "view.saved", "view.deleted"]);
  });

  test("hold only filters that can be read, and a tenant has no more than 200", async () => {
    const { status, body } = await put("bad", "status:faild stats:x");
    expect(status).toBe(400);
    expect(JSON.stringify(body.problems)).toContain("at character 8");
    expect(JSON.stringify(body.problems)).toContain('Did you mean \\"failed\\"');
    await service.db.sql`
      insert into app.saved_views (tenant_id, name, query, created_by, updated_by) select 'globex', 'v' || n, '', 'x', 'x' from generate_series(1, 200) n`;
    expect((await put("one more", "", other)).status).toBe(422);
    expect((await put("v7", "is:paused", other)).status).toBe(200);
  });
});
