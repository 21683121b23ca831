// Workers that have no database: what they may do over HTTP, and that a tenant's worker never reaches beyond its tenant.
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { worker_commands } from "../../src/engine/work/commands.js";
import { WorkSignal } from "../../src/server/stream/work_signal.js";
import { type Answered, type CallOptions, nextWait, openService, type TestService } from "./service.js";

let service: TestService;
beforeAll(async () => {
  service = await openService({
    jobs: [
      defineJob({ type: "one", stages: [{ name: "do", task: "t.do" }] }),
      defineJob({
        type: "many",
        stages: [
          { name: "seed", task: "t.list" },
          { name: "each", task: "t.many", parallelism: "fan_out", tasks: { count: 1200 } },
          { name: "broken", task: "t.do", parallelism: "fan_out", tasks: { each: "strict $.items[*]" } },
        ],
      }),
      defineJob({
        type: "wide",
        stages: [
          { name: "list", task: "t.list" },
          { name: "each", task: "t.each", parallelism: "fan_out", tasks: { each: "$.items[*]", index: "{name}" } },
          { name: "fold", task: "t.fold", parallelism: "fan_in" },
        ],
      }),
    ],
    handlers: ["t.do", "t.many", "t.list", "t.each", "t.fold", "t.lone"].map((name) =>
      defineHandler(name, {}, () => null),
    ),
  });
});
afterAll(() => service.close());

class HttpWorker {
  private constructor(
    readonly id: string,
    readonly key: string,
  ) {}

  static async register(tenant: string, types: string[], more = {}): Promise<HttpWorker> {
    const key = await service.key(tenant);
    const { status, body } = await service.call("POST", "/api/workers/register", { key, body: { types, ...more } });
    expect(status).toBe(201);
    return new HttpWorker(body.worker_id, key);
  }

  say(verb: string, body: unknown = undefined, options: CallOptions = {}): Promise<Answered> {
    return service.call("POST", `/api/workers/${this.id}/${verb}`, { key: this.key, body, ...options });
  }

  ask(path: string): Promise<Answered> {
    return service.call("GET", `/api/workers/${this.id}/${path}`, { key: this.key });
  }

  async claim(limit = 10, wait_s = 0) {
    const { status, body } = await this.say("claim", { limit, wait_s });
    expect(status).toBe(200);
    return body;
  }

  /** Claims until all of a job is done, answering each task. */
  async work(
    answer: (task: { index: string; parameters: unknown }, stage: { stage: string }) => unknown,
  ): Promise<void> {
    for (;;) {
      const { tasks, stages } = await this.claim(100);
      if (tasks.length === 0) return;
      const done = tasks.map((task: never) => {
        const { task_id, claim_id, attempt, stage_id } = task as Record<string, never>;
        const stage = stages.find((one: { stage_id: number }) => one.stage_id === stage_id);
        return { task_id, claim_id, attempt, result: answer(task, stage) };
      });
      expect((await this.say("finish", { tasks: done })).body).toMatchObject({ accepted: tasks.length, refused: [] });
    }
  }
}

async function submit(tenant: string, type: string, parameters = {}): Promise<string> {
  const key = await service.key(tenant);
  const { body } = await service.call("POST", `/api/jobs/submit/${type}`, { key, body: { parameters } });
  return body.job_id;
}

describe("a worker without a database", () => {
  test("runs a job to its end, plans of data included, and reads what the stages before returned", async () => {
    const job_id = await submit("solo", "wide");
    const worker = await HttpWorker.register("solo", ["t.list", "t.each", "t.fold"], { slots: 4 });
    const items = Array.from({ length: 5 }, (_, n) => ({ name: `n${n}`, n }));
    const read: unknown[] = [];
    await worker.work((task, { stage }) =>
      stage === "list" ? { items } : stage === "each" ? { index: task.index } : null,
    );
    // The fold was answered in the loop above; its reading is told apart by a second job.
    const again = await submit("solo", "wide", { n: 2 });
    let folded: Record<string, never> | undefined;
    for (;;) {
      const { tasks, stages } = await worker.claim(100);
      if (tasks.length === 0) break;
      const facts = stages[0];
      if (facts.stage === "fold") {
        folded = facts;
        const stage_id = facts.previous[0].stage_id;
        const first = await worker.ask(`results?stage_id=${stage_id}&limit=3`);
        expect(first).toMatchObject({ status: 200, body: { next: 3 } });
        const rest = await worker.ask(`results?stage_id=${stage_id}&from=3`);
        read.push(...first.body.items, ...rest.body.items);
      }
      if (facts.stage === "each") {
        const told = await worker.ask(`predecessor?task_id=${tasks[0].task_id}`);
        expect(told).toMatchObject({ status: 200, body: { predecessor: null } });
      }
      const result = facts.stage === "list" ? { items } : { ok: true };
      await worker.say("finish", {
        tasks: tasks.map(({ task_id, claim_id }: never) => ({ task_id, claim_id, result })),
      });
    }
    expect(folded).toMatchObject({ job_id: again, parallelism: "fan_in" });
    expect(read).toHaveLength(5);
    expect(read[0]).toMatchObject({ ordinal: 0, index: "n0", result: { ok: true }, left_out: null });
    const engine = service.engine.forTenant("solo");
    expect((await engine.status(job_id)).status).toBe("completed");
    expect((await engine.status(again)).status).toBe("completed");
    expect(
      (await service.db.sql`select tenant_id from app.workers where worker_id = ${worker.id}::text::uuid`)[0],
    ).toEqual({
      tenant_id: "solo",
    });
  });

  test("that waits is woken by a new task, and by the end of its patience", async () => {
    const worker = await HttpWorker.register("waits", ["t.do"]);
    expect(await worker.claim(1, 0.05)).toEqual({ tasks: [], stages: [] });
    const begun = nextWait();
    const waiting = worker.claim(1, 20);
    await begun;
    const job_id = await submit("waits", "one");
    const { tasks, stages } = await waiting;
    expect(tasks).toMatchObject([{ ordinal: 0, attempt: 1 }]);
    expect(stages).toMatchObject([{ job_id, task_type: "t.do" }]);
  });

  test("fails, logs, hands back and is told what was cancelled", async () => {
    const worker = await HttpWorker.register("acts", ["t.lone"]);
    const engine = service.engine.forTenant("acts");
    const { task_ids } = await engine.enqueueMany("t.lone", [
      { parameters: { n: 1 } },
      { parameters: { n: 2 } },
      { parameters: { n: 3 } },
    ]);
    const { tasks } = await worker.claim(3);
    expect(tasks.map(({ task_id }: { task_id: string }) => task_id).sort()).toEqual([...task_ids].sort());
    const [first, second, third] = tasks;
    const line = { task_id: first.task_id, claim_id: first.claim_id, message: "hello\u0000", data: { n: 1 } };
    expect((await worker.say("logs", { lines: [line] })).body).toEqual({ written: 1, refused: 0 });
    const error = { message: "no luck\u0000", code: "luck", category: "permanent" };
    const finish = {
      tasks: [{ task_id: first.task_id, claim_id: first.claim_id, error }],
      logs: [{ ...line, message: "last" }],
    };
    expect((await worker.say("finish", finish)).body).toMatchObject({ accepted: 1, retried: 0 });
    const record = await engine.task(first.task_id);
    expect(record).toMatchObject({ status: "failed", error: { code: "luck", message: "no luck\uFFFD" } });
    expect(record.logs.map(({ message }) => message)).toEqual(["hello\uFFFD", "last"]);
    const back = { tasks: [{ task_id: second.task_id, claim_id: second.claim_id, started: true }] };
    expect((await worker.say("release", back)).body).toEqual({ released: 1 });
    await engine.cancelTask(third.task_id);
    const beat = {
      claims: [third.claim_id],
      running: [{ task_id: third.task_id, claim_id: third.claim_id, elapsed_s: 1, progress: { share: 0.5 } }],
    };
    const { body } = await worker.say("heartbeat", beat);
    expect([...body.lost, ...body.abort.map(({ claim_id }: never) => claim_id)]).toContain(third.claim_id);
    expect((await worker.say("stop")).body).toEqual({ released: 0 });
    expect((await worker.say("claim", {})).body).toMatchObject({ status: 409, code: "stale_worker" });
    expect((await worker.say("heartbeat", {})).status).toBe(409);
  });

  test("whose finish comes late or twice is told so, and it is no error", async () => {
    const worker = await HttpWorker.register("late", ["t.do"]);
    await submit("late", "one");
    const { tasks } = await worker.claim(1);
    const { task_id, claim_id } = tasks[0];
    await worker.say("release", { tasks: [{ task_id, claim_id }] });
    const end = { task_id, claim_id, result: 1 };
    const late = await worker.say("finish", { tasks: [end, end] });
    expect(late).toMatchObject({ status: 200, body: { accepted: 0 } });
    expect(late.body.refused.map(({ reason }: { reason: string }) => reason).sort()).toEqual(["not_held", "twice"]);
    const next = (await worker.claim(1)).tasks[0];
    const good = { tasks: [{ task_id, claim_id: next.claim_id, attempt: next.attempt, result: 2 }] };
    expect((await worker.say("finish", good)).body).toMatchObject({ accepted: 1, refused: [] });
    // The answer was lost, so it is sent again.
    expect((await worker.say("finish", good)).body).toMatchObject({ accepted: 1, refused: [] });
  });

  test("sends results that cannot be stored: each fails its own task and no other", async () => {
    const worker = await HttpWorker.register("odd", ["t.lone"]);
    const engine = service.engine.forTenant("odd");
    await engine.enqueueMany(
      "t.lone",
      Array.from({ length: 6 }, (_, n) => ({ parameters: { n } })),
    );
    const { tasks } = await worker.claim(10);
    const texts = [
      '"fine"',
      '"a\\u0000b"',
      '"\\ud800"',
      "1e400",
      `"${"x".repeat(1024 * 1024)}"`,
      `${"[".repeat(5000)}${"]".repeat(5000)}`,
    ];
    const ends = tasks.map(({ task_id, claim_id }: { task_id: string; claim_id: number }, at: number) => {
      return `{"task_id":"${task_id}","claim_id":${claim_id},"result":${texts[at]}}`;
    });
    const { status, body } = await worker.say("finish", `{"tasks":[${ends.join()}]}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ accepted: 6, refused: [] });
    expect(body.unstorable).toHaveLength(5);
    const records = await Promise.all(tasks.map(({ task_id }: { task_id: string }) => engine.task(task_id)));
    expect(records.map((one) => one.status)).toEqual(["completed", "failed", "failed", "failed", "failed", "failed"]);
    expect(records[4]?.error).toMatchObject({ code: "result_too_large", category: "contract" });
    const bad = { tasks: [{ task_id: "1-1", claim_id: 1, deliverables: [{ name: "" }] }] };
    expect((await worker.say("finish", bad)).body).toMatchObject({ accepted: 0, refused: [{ reason: "not_held" }] });
  });

  test("does not lose the plan that the server makes for it, unless that takes far too long", async () => {
    const job_id = await submit("planned", "many");
    const worker = await HttpWorker.register("planned", ["t.list"]);
    const [{ task_id, claim_id }] = (await worker.claim()).tasks;
    await worker.say("finish", { tasks: [{ task_id, claim_id }] });
    // As the server does before it reads what the plan is made from.
    const plan = { worker_id: worker.id, types: ["#plan"], limit: 1, after_tenant: null };
    const { claims } = await service.db.transaction(async (tx) => {
      await tx.sql`select set_config('fanfold.tenant', 'planned', true)`;
      return worker_commands.claim(tx, plan);
    });
    expect(claims).toHaveLength(1);
    const beatAfter = async (age_s: number) => {
      await service.db.sql`update app.claims set claimed_at = now() - make_interval(secs => ${age_s}::integer)
        where worker_id = ${worker.id}::text::uuid`;
      expect((await worker.say("heartbeat", { claims: [], running: [] })).status).toBe(200);
      return service.db.sql`select 1 from app.claims where worker_id = ${worker.id}::text::uuid`;
    };
    expect(await beatAfter(60)).toHaveLength(1);
    expect(await beatAfter(600)).toHaveLength(0);
    await service.engine.forTenant("planned").cancelJob(job_id);
  });

  test("waits for a hint after one look where it was idle, and then looks at the one type that came", async () => {
    const waits = vi.spyOn(WorkSignal.prototype, "wait");
    const idles = vi.spyOn(worker_commands, "set_idle");
    const looks = vi.spyOn(worker_commands, "claim_for");
    const hinted = vi.spyOn(worker_commands, "claim_hinted_for");
    onTestFinished(() => void vi.restoreAllMocks());
    const worker = await HttpWorker.register("hinted", ["t.lone", "t.do"]);
    const engine = service.engine.forTenant("hinted");
    const looks_before: number[] = [];
    // On a busy machine the look of every second may be quicker than the hint.
    for (let round = 0; round < 20 && (round < 3 || hinted.mock.calls.length === 0); round++) {
      for (const spy of [waits, looks]) spy.mockClear();
      const claim = worker.claim(10, 20);
      await vi.waitFor(() => expect(waits).toHaveBeenCalled());
      looks_before.push(looks.mock.invocationCallOrder.filter((at) => at < waits.mock.invocationCallOrder[0]!).length);
      const { task_id } = await engine.enqueue("t.lone", { round });
      const { tasks, stages } = await claim;
      expect(tasks).toMatchObject([{ task_id, parameters: { round } }]);
      expect(stages).toMatchObject([{ task_type: "t.lone" }]);
      expect((await worker.say("finish", { tasks: [{ task_id, claim_id: tasks[0].claim_id }] })).status).toBe(200);
    }
    expect(looks_before.slice(0, 3)).toEqual([2, 1, 1]);
    expect(idles).toHaveBeenCalledTimes(1);
    expect(hinted).toHaveBeenCalledWith(expect.anything(), "t.lone", expect.objectContaining({ worker_id: worker.id }));
  });

  test("bounds a type: what it is told of is claimed with that bound", async () => {
    const hinted = vi.spyOn(worker_commands, "claim_hinted_for");
    onTestFinished(() => void vi.restoreAllMocks());
    const worker = await HttpWorker.register("bounded", ["t.lone"]);
    await service.engine.forTenant("bounded").enqueueMany(
      "t.lone",
      Array.from({ length: 3 }, (_, n) => ({ parameters: { n } })),
    );
    const { work } = service.engine.forTenant("bounded");
    const wanted = { limit: 10, per_type: { "t.lone": 1 }, known_stages: [] };
    expect((await work.claimHinted(worker.id, "t.lone", wanted)).tasks).toHaveLength(1);
    expect(hinted).not.toHaveBeenCalled();
    expect((await work.claimHinted(worker.id, "t.lone", { limit: 10, known_stages: [] })).tasks).toHaveLength(2);
    expect(hinted).toHaveBeenCalledTimes(1);
  });

  test("is written idle as long as it has room, and no longer once what it was told of fills it", async () => {
    const engine = service.engine.forTenant("filled");
    const { work } = engine;
    const worker = await HttpWorker.register("filled", ["t.lone"]);
    await work.setIdle(worker.id, true);
    const hinted = async (limit: number) => {
      await engine.enqueue("t.lone", {});
      const { tasks } = await work.claimHinted(worker.id, "t.lone", { limit, known_stages: [] });
      const [row] = await service.db.sql<{ idle: boolean }>`
        select idle from app.workers where worker_id = ${worker.id}::text::uuid`;
      return [tasks.length, row!.idle];
    };
    expect(await hinted(2)).toEqual([1, true]);
    expect(await hinted(1)).toEqual([1, false]);
  });

  test("is told everything that is wrong with what it sends", async () => {
    const worker = await HttpWorker.register("wrong", ["t.do"]);
    const wrong = await worker.say("finish", { tasks: [{ task_id: "x", claim_id: -1, colour: 1 }], more: true });
    expect(wrong.status).toBe(400);
    expect(wrong.body.problems.length).toBeGreaterThan(2);
    const key = await service.key("wrong");
    const types = ["#plan:wide", "#plan"];
    expect((await service.call("POST", "/api/workers/register", { key, body: { types } })).status).toBe(400);
    expect((await worker.say("claim", { wait_s: 21 })).status).toBe(400);
    expect((await service.call("POST", "/api/workers/not-a-uuid/claim", { key, body: {} })).status).toBe(400);
    const reader = await service.key("wrong", ["read", "submit", "operate", "admin"]);
    expect((await worker.say("claim", {}, { key: reader })).status).toBe(403);
  });
});

describe("a worker of one tenant", () => {
  test("can do nothing to, for or with another's", async () => {
    await submit("a", "one");
    await submit("b", "one");
    const { task_id: lone } = await service.engine.forTenant("b").enqueue("t.lone", { secret: "of b" });
    const mine = await HttpWorker.register("a", ["t.do", "t.lone", "t.list", "t.each", "t.fold"]);
    const other = await HttpWorker.register("b", ["t.do", "t.lone"]);
    const own = await mine.claim(100);
    expect(own.tasks).toHaveLength(1);
    const theirs = await other.claim(100);
    expect(theirs.tasks).toHaveLength(2);
    const { task_id, claim_id } = theirs.tasks.find((task: { task_id: string }) => task.task_id === lone);
    const stage_id = Number(lone.split("-")[0]);

    // With its own id, on what the other holds.
    const steal = { tasks: [{ task_id, claim_id, result: "stolen" }] };
    expect((await mine.say("finish", steal)).body).toMatchObject({ accepted: 0, refused: [{ reason: "not_held" }] });
    expect((await mine.say("release", { tasks: [{ task_id, claim_id }] })).body).toEqual({ released: 0 });
    const lines = [{ task_id, claim_id, message: "forged" }];
    expect((await mine.say("logs", { lines })).body).toEqual({ written: 0, refused: 1 });
    const beat = { claims: [claim_id], running: [{ task_id, claim_id, elapsed_s: 1 }] };
    expect((await mine.say("heartbeat", beat)).body).toMatchObject({ lost: [claim_id] });
    expect((await mine.ask(`results?stage_id=${stage_id}`)).status).toBe(404);
    expect((await mine.ask(`predecessor?task_id=${task_id}`)).status).toBe(404);

    // With the other's id, and with that of a worker of the server's own.
    const served = await service.worker({ types: [] });
    for (const id of [other.id, served.worker_id]) {
      const as = (method: string, verb: string, body?: unknown) =>
        service.call(method, `/api/workers/${id}/${verb}`, { key: mine.key, body });
      const answers = [
        await as("POST", "claim", { limit: 10 }),
        await as("POST", "heartbeat", {}),
        await as("POST", "finish", steal),
        await as("POST", "release", { tasks: [{ task_id, claim_id }] }),
        await as("POST", "logs", { lines }),
        await as("GET", `results?stage_id=${stage_id}`),
        await as("GET", `predecessor?task_id=${task_id}`),
        await as("POST", "stop"),
      ];
      expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(409));
      expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain("secret");
    }
    const [refusals] = await service.db.sql<{ n: number }>`
      select count(*)::int as n from app.attempts where tenant_id = 'b'`;
    expect(refusals?.n).toBe(0);
    expect(await service.engine.forTenant("b").task(lone)).toMatchObject({ status: "processing", logs: [] });
    expect((await other.say("finish", steal)).body).toMatchObject({ accepted: 1 });
  });

  test("plans no stage of another's, and its own when it asks for work; a plan that fails, fails its stage", async () => {
    const job_id = await submit("p", "many");
    const engine = service.engine.forTenant("p");
    const stageNow = async (at: number) => (await engine.status(job_id)).stages[at];
    const first = await HttpWorker.register("p", ["t.list"]);
    const [{ task_id, claim_id }] = (await first.claim()).tasks;
    await first.say("finish", { tasks: [{ task_id, claim_id }] });
    const mine = await HttpWorker.register("q", ["t.many", "t.do"]);
    expect(await mine.claim()).toEqual({ tasks: [], stages: [] });
    expect(await stageNow(1)).toMatchObject({ status: "planning" });
    const theirs = await HttpWorker.register("p", ["t.many", "t.do"]);
    expect((await theirs.claim(3)).tasks).toHaveLength(3);
    expect(await stageNow(1)).toMatchObject({ status: "processing", total: 1200 });
    expect((await theirs.say("stop")).body).toEqual({ released: 3 });
    const last = await HttpWorker.register("p", ["t.many"]);
    await last.work(() => ({ no: "items" }));
    expect(await stageNow(2)).toMatchObject({ status: "failed", error: { category: expect.any(String) } });
  });
});
