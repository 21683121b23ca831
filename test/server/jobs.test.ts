// Jobs over HTTP: submitted in every form the documents know, waited for, listed without a scan.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent } from "../../src/core/errors/errors.js";
import { type Answered, openService, type TestService } from "./service.js";

let service: TestService;
let broken = true;

const handlers = [
  defineHandler("t.say", {}, ({ name }) => ({ said: `hello ${name}` })),
  defineHandler("t.tile", {}, ({ n }) => {
    if (n === 2 && broken) throw new Permanent("tile 2 is cracked");
    return { n };
  }),
  defineHandler("t.catalog", {}, () => ({ items: 3 })),
  defineHandler("t.large", {}, () => ({ text: "x".repeat(1_200_000) })),
];
const jobs = [
  defineJob({
    type: "greet",
    parameters: z.object({ name: z.string() }),
    stages: [{ name: "say", task: "t.say" }],
  }),
  defineJob({
    type: "mosaic",
    stages: [
      {
        name: "tiles",
        task: "t.tile",
        tasks: { count: 4, parameters: { n: "{ordinal}" } },
        description: "COG creation",
      },
      { name: "catalog", task: "t.catalog", parallelism: "fan_in" },
    ],
  }),
  defineJob({ type: "large", stages: [{ name: "make", task: "t.large" }] }),
  defineJob({ type: "never", stages: [{ name: "wait", task: "t.nobody" }] }),
];

beforeAll(async () => {
  service = await openService({ jobs, handlers: [...handlers, defineHandler("t.nobody", {}, () => null)] });
  await service.worker({ types: handlers.map(({ name }) => name) });
});
afterAll(() => service.close());

const submit = (type: string, body: unknown, path = ""): Promise<Answered> =>
  service.call("POST", `/api/jobs/submit/${type}${path}`, { body });
async function ended(job_id: string): Promise<Answered["body"]> {
  for (;;) {
    const { status, body } = await service.call("GET", `/api/jobs/status/${job_id}?wait=true`);
    if (status === 200) return body;
    expect(status).toBe(202);
  }
}

describe("submitting", () => {
  test("the form of the documents is understood: parameters in the body itself, and resume beside them", async () => {
    const first = await submit("greet", { name: "Grace", resume: true });
    expect(first).toMatchObject({ status: 201, body: { created: true } });
    const second = await submit("greet", { parameters: { name: "Grace" } });
    expect(second).toMatchObject({ status: 200, body: { job_id: first.body.job_id } });
    expect((await ended(first.body.job_id)).parameters).toEqual({ name: "Grace" });
  });

  test("options travel with the job, and a trace context that is none is passed over", async () => {
    const { body } = await service.call("POST", "/api/jobs/submit/greet", {
      headers: { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
      body: {
        parameters: { name: "Options" },
        priority: 7,
        labels: { team: "hydro" },
        correlation_id: "c-1",
        deadline_s: null,
      },
    });
    const job = await ended(body.job_id);
    expect(job).toMatchObject({ priority: 7, labels: { team: "hydro" }, correlation_id: "c-1", deadline_at: null });
    const [row] = await service.db.sql`select traceparent from app.jobs where job_id = ${body.job_id}`;
    expect(row).toEqual({ traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" });
    const odd = await service.call("POST", "/api/jobs/submit/greet", {
      headers: { traceparent: "00-00000000000000000000000000000000-b7ad6b7169203331-01" },
      body: { name: "Untraced" },
    });
    expect(odd.status).toBe(201);
    expect(await service.db.sql`select traceparent from app.jobs where job_id = ${odd.body.job_id}`).toEqual([
      { traceparent: null },
    ]);
  });

  test("a misspelt option beside parameters is refused with what was meant, and so is a mode against resume", async () => {
    const { status, body } = await submit("greet", { parameters: { name: "A" }, priorty: 3, zone: 1 });
    expect(status).toBe(400);
    expect(body.problems).toEqual([
      { path: "body.priorty", problem: '"priorty" is not known', fix: 'Did you mean "priority"?' },
      { path: "body.zone", problem: '"zone" is not known', fix: expect.stringContaining("parameters") },
    ]);
    expect(await submit("greet", { parameters: { name: "A" }, mode: "force", resume: true })).toMatchObject({
      status: 400,
    });
    expect(await submit("greet", { nmae: "A" })).toMatchObject({
      status: 400,
      body: {
        code: "bad_parameters",
        problems: expect.arrayContaining([expect.objectContaining({ fix: 'Did you mean "name"?' })]),
      },
    });
  });

  test("a batch is all or nothing, and tells which of its jobs are new", async () => {
    const bad = await submit(
      "greet",
      { items: [{ parameters: { name: "batch-1" } }, { parameters: { name: 5 } }] },
      "/batch",
    );
    expect(bad).toMatchObject({ status: 400, body: { code: "bad_parameters" } });
    const items = Array.from({ length: 1000 }, (_, n) => ({ parameters: { name: `batch-${n}` } }));
    const made = await submit("greet", { items }, "/batch");
    expect([made.status, made.body.created, made.body.jobs.length]).toEqual([201, 1000, 1000]);
    const again = await submit("greet", { items: items.slice(0, 10) }, "/batch");
    expect([again.status, again.body.created]).toEqual([200, 0]);
    expect(again.body.jobs[3].job_id).toBe(made.body.jobs[3].job_id);
    expect((await submit("greet", { items: [...items, items[0]] }, "/batch")).status).toBe(400);
  });

  test("a body over the limit of its call is refused before it is read", async () => {
    const filler = JSON.stringify({ parameters: { name: "x".repeat(1024 * 1024) } });
    expect(await submit("greet", filler)).toMatchObject({ status: 413, body: { code: "too_large" } });
    expect(await submit("greet", { parameters: { name: "x".repeat(300_000) } })).toMatchObject({ status: 413 });
  });
});

describe("status", () => {
  test("a failed job says what it has, from where it goes on and what to call; then it goes on", async () => {
    const { body } = await submit("mosaic", {});
    const failed = await ended(body.job_id);
    expect(failed).toMatchObject({
      status: "failed",
      stage: 1,
      total_stages: 2,
      resumable: true,
      resume_from_stage: 1,
      resume_hint: `POST /api/jobs/${body.job_id}/resume`,
      progress: { total: 4, completed: 3, failed: 1, stages: 2, fraction: 0.5 },
      stage_results: {
        1: {
          stage: "tiles",
          status: "failed",
          checkpoint: false,
          task_count: 4,
          success_count: 3,
          summary: "3 of 4 tasks completed, 1 failed",
        },
      },
    });
    expect(failed.outcomes[0]).toMatchObject({
      objective: "COG creation",
      status: "failed",
      recovery: expect.stringMatching(/^POST \/api\/jobs\/.*\/resume$/),
    });
    broken = false;
    const again = await service.call("POST", "/api/jobs/submit/mosaic?resume=true", { body: {} });
    expect(again).toMatchObject({ status: 200, body: { resumed: true, job_id: body.job_id } });
    const mended = await ended(body.job_id);
    expect(mended).toMatchObject({
      status: "completed",
      epoch: 2,
      resumable: false,
      resume_hint: null,
      progress: { fraction: 1 },
    });
    expect(mended.stage_results[2]).toMatchObject({ checkpoint: true, completed_at: expect.any(String) });
  });

  test("whoever asks to be told by the status code is told 202 with Retry-After, others are not", async () => {
    const { body } = await submit("never", {});
    const path = `/api/jobs/status/${body.job_id}`;
    expect((await service.call("GET", path)).status).toBe(200);
    const running = await service.call("GET", `${path}?status_code=true`);
    expect([running.status, running.headers.get("retry-after")]).toEqual([202, "2"]);
    const gone = new AbortController();
    const held = service.call("GET", `${path}?wait=true`, { signal: gone.signal });
    await expect(Promise.race([held, new Promise((go) => setTimeout(go, 150, "still held"))])).resolves.toBe(
      "still held",
    );
    gone.abort();
    await expect(held).rejects.toThrow();
    expect(await service.call("GET", `/api/jobs/${body.job_id}/result`)).toMatchObject({
      status: 202,
      body: { result: null },
    });
    await service.call("POST", `/api/jobs/${body.job_id}/cancel`);
    expect((await service.call("GET", `${path}?status_code=true`)).status).toBe(200);
  });

  test("a result too large for the database is read from storage", async () => {
    const { body } = await submit("large", {});
    expect((await ended(body.job_id)).result).toBeNull();
    const { body: whole } = await service.call("GET", `/api/jobs/${body.job_id}/result`);
    expect(whole).toMatchObject({ job_id: body.job_id, status: "completed" });
    expect(whole.result.text.length).toBe(1_200_000);
  });
});

describe("finding", () => {
  async function all(query: string, limit = 200): Promise<Answered["body"][]> {
    const found = [];
    let cursor = "";
    for (;;) {
      const { status, body } = await service.call("GET", `/api/jobs?${query}&limit=${limit}${cursor}`);
      expect(status).toBe(200);
      found.push(...body.jobs);
      if (body.next === null) return found;
      cursor = `&cursor=${body.next}`;
    }
  }

  test("jobs are found by type, status, label, error, id and time, each exactly once over all pages", async () => {
    const greetings = await all("type=greet");
    expect(greetings.length).toBeGreaterThan(1000);
    expect(new Set(greetings.map(({ job_id }) => job_id)).size).toBe(greetings.length);
    expect(greetings.every(({ job_type }) => job_type === "greet")).toBe(true);
    const [labelled] = await all("label=team:hydro");
    expect(labelled.labels).toEqual({ team: "hydro" });
    expect(await all("label=team:hydro,year:2030")).toEqual([]);
    expect(await all(`id=${labelled.job_id.slice(0, 12)}`)).toMatchObject([{ job_id: labelled.job_id }]);
    expect(await all("correlation_id=c-1")).toMatchObject([{ job_id: labelled.job_id }]);
    expect(await all("status=cancelled,failed")).toMatchObject([{ job_type: "never", status: "cancelled" }]);
    expect(await all("error=CANCELLED%20ON")).toMatchObject([{ job_type: "never" }]);
    expect(await all("error=50%25")).toEqual([]);
    expect(await all(`created_before=${encodeURIComponent(labelled.created_at)}&type=mosaic`)).toEqual([]);
    expect(
      (await all(`created_after=${encodeURIComponent(labelled.created_at)}`)).map(({ job_id }) => job_id),
    ).toContain(labelled.job_id);
  });

  test("a page looks at a bounded number of jobs, whatever is asked for, and goes on behind them", async () => {
    const tenant = "history";
    const key = await service.key(tenant);
    await service.call("POST", "/api/jobs/submit/never", { key, body: { labels: { rare: "yes" } } });
    // As many finished jobs as a year may leave, all newer than the one that is looked for.
    await service.db.sql`
      insert into app.jobs (tenant_id, job_id, content_hash, job_type, blueprint_hash, status, parameters, created_at, finished_at)
      select j.tenant_id, encode(sha256(n::text::bytea), 'hex'), n::text, 'greet', j.blueprint_hash, 'completed', '{}', now() + n * interval '1 ms', now()
        from app.jobs j, generate_series(1, 25000) n where j.tenant_id = ${tenant}`;
    await service.db.sql`
      insert into app.job_tallies (tenant_id, job_type, status, amount) values (${tenant}, 'greet', 'completed', 25000)`;
    await service.db.script("analyze app.jobs");
    const found: unknown[] = [];
    let examined = 0;
    let cursor = "";
    for (;;) {
      const { body } = await service.call("GET", `/api/jobs?label=rare:yes${cursor}`, { key });
      found.push(...body.jobs);
      examined += body.examined;
      if (body.next === null) break;
      expect(body.examined).toBeGreaterThanOrEqual(5_000);
      expect(body.looked_back_to).not.toBeNull();
      cursor = `&cursor=${body.next}`;
    }
    expect(found).toMatchObject([{ labels: { rare: "yes" } }]);
    expect(examined).toBe(25_001);
    const open = await service.call("GET", "/api/jobs?status=queued,processing", { key });
    expect(open.body).toMatchObject({ jobs: [{ labels: { rare: "yes" } }], next: null });
    const { body } = await service.call("GET", "/api/jobs/counts", { key });
    expect(body).toMatchObject({ counts: { completed: 25_000, failed: 0 }, at_least: [] });
  });

  test("counts are by status", async () => {
    const { body } = await service.call("GET", "/api/jobs/counts");
    expect(body.counts).toMatchObject({ cancelled: 1, failed: 0, processing: expect.any(Number) });
  });

  test("another tenant finds nothing of it, by any way", async () => {
    const { body } = await submit("greet", { name: "mine" });
    const key = await service.key("stranger");
    for (const path of ["status/{}", "{}/result", "{}/why", "{}/events", "{}/errors", "{}/verify", "{}/tasks"]) {
      const answer = await service.call("GET", `/api/jobs/${path.replace("{}", body.job_id)}`, { key });
      expect([path, answer.status]).toEqual([path, 404]);
    }
    expect((await service.call("GET", `/api/jobs?id=${body.job_id}`, { key })).body.jobs).toEqual([]);
    expect((await service.call("GET", "/api/jobs/counts", { key })).body.counts.completed).toBe(0);
  });
});
