// F24, F25, F36: the same thing asked for many times at once, by many.
import { expect } from "vitest";
import { type Answer, soon } from "./client_process.js";
import { fault } from "./fault.js";
import { expectedTotal } from "./job.js";
import type { Scene } from "./scene.js";
import { loose_job } from "./shapes.js";

/** Dead rows of the tables a submit writes to, once every session that could tell of any has left. */
async function deadRows(scene: Scene): Promise<Record<string, number>> {
  const rows = await scene.db.sql<{ relname: string; dead: number }>`
    select relname, n_dead_tup as dead from pg_stat_user_tables
     where schemaname = 'app' and relname in ('jobs', 'stages', 'tasks', 'ready', 'events', 'idempotency_keys', 'blueprints')`;
  return Object.fromEntries(rows.map(({ relname, dead }) => [relname, dead]));
}

const created = (answers: Answer[]) => answers.filter(({ ok }) => ok?.created === true);

fault("F24 a thousand identical submits at once, of four processes", async (scene) => {
  const clients = await Promise.all([1, 2, 3, 4].map(() => scene.client(8)));
  const everybody = async (verb: "submit" | "enqueue", args: unknown[], times: number) => {
    const moment = soon();
    return (await Promise.all(clients.map((client) => client.ask(verb, args, { times, ...moment })))).flat();
  };
  const submits = await everybody("submit", ["chain", { n: 3, name: "storm" }], 250);
  expect(submits.filter(({ error }) => error)).toEqual([]);
  expect(new Set(submits.map(({ ok }) => ok!.job_id)).size).toBe(1);
  expect([submits.length, created(submits).length]).toEqual([1000, 1]);

  const key = { idempotency_key: "storm" };
  const enqueues = await everybody("enqueue", ["lone", { to: "ada" }, key], 250);
  expect(enqueues.filter(({ error }) => error)).toEqual([]);
  expect(new Set(enqueues.map(({ ok }) => ok!.task_id)).size).toBe(1);
  expect([enqueues.length, created(enqueues).length]).toEqual([1000, 1]);
  // The same key for another body is a conflict, however many ask at once.
  const others = await everybody("enqueue", ["lone", { to: "bob" }, key], 25);
  expect(others.map(({ error }) => error?.code)).toEqual(others.map(() => "conflict"));
  expect(others[0]!.error!.message).toMatch(/idempotency key "storm" was used for another body/);

  const [rows] = await scene.db.sql<{ jobs: number; stages: number; tasks: number; keys: number }>`
    select (select count(*) from app.jobs) as jobs, (select count(*) from app.stages where job_id is not null) as stages,
      (select count(*) from app.tasks t join app.stages s using (stage_id) where s.job_id is null) as tasks,
      (select count(*) from app.idempotency_keys) as keys`;
  expect(rows).toEqual({ jobs: 1, stages: 4, tasks: 1, keys: 1 });
  await Promise.all(clients.map((client) => client.close()));
  const dead = await deadRows(scene);
  scene.notes.push(`dead rows ${JSON.stringify(dead)}`);
  // 2,099 were refused or found theirs in place: none of them left anything to clean up, but for races won by a hair.
  for (const [table, count] of Object.entries(dead)) expect([table, count < 50]).toEqual([table, true]);
  await scene.submit({ n: 3, name: "storm" });
  await scene.fleet({ size: 1 });
  await scene.settle();
});

fault("F25 the same job and the same key of two tenants", async (scene) => {
  await scene.db.sql`select app.create_tenant('acme'), app.create_tenant('globex')`;
  const acme = await scene.connect({ tenant: "acme" });
  const globex = await scene.connect({ tenant: "globex" });
  const jobs = [];
  const tasks = [];
  for (const engine of [acme, globex]) {
    jobs.push(await engine.submit("chain", { n: 5 }), await engine.submit(loose_job, { same: true }));
    tasks.push(await engine.enqueue("lone", { to: "ada" }, { idempotency_key: "same" }));
  }
  for (const { created: fresh } of [...jobs, ...tasks]) expect(fresh).toBe(true);
  expect(new Set(jobs.map(({ job_id }) => job_id)).size).toBe(4);
  expect(tasks[0]!.task_id).not.toBe(tasks[1]!.task_id);
  // Neither sees the other's, nor can stop it.
  await expect(globex.status(jobs[0]!.job_id)).rejects.toMatchObject({ code: "not_found" });
  await expect(globex.cancelJob(jobs[0]!.job_id)).rejects.toMatchObject({ code: "not_found" });
  await expect(globex.task(tasks[0]!.task_id)).rejects.toMatchObject({ code: "not_found" });
  // Another body under its own key is a conflict of the one; what the other did with that key is nothing to it.
  const other = { to: "bob" };
  await expect(globex.enqueue("lone", other, { idempotency_key: "same" })).rejects.toMatchObject({ code: "conflict" });
  await globex.cancelJob(jobs[2]!.job_id);
  await scene.fleet();
  const [chain, loose] = await scene.ended([jobs[0]!.job_id, jobs[1]!.job_id], acme);
  expect([chain!.status, chain!.result]).toEqual(["completed", expect.objectContaining({ value: expectedTotal(5) })]);
  expect(loose!.status).toBe("completed");
  const theirs = await scene.ended([jobs[2]!.job_id, jobs[3]!.job_id], globex);
  expect(theirs.map(({ status }) => status)).toEqual(["cancelled", "completed"]);
  for (const [engine, { task_id }] of [
    [acme, tasks[0]!],
    [globex, tasks[1]!],
  ] as const) {
    await expect.poll(async () => (await engine.task(task_id)).status, { timeout: 30_000 }).toBe("completed");
  }
});

fault("F36 resume and retry-stage clicked by two users at once", async (scene) => {
  const rounds = 20;
  const [ann, bob] = await Promise.all([scene.client(), scene.client()]);
  const jobs: string[] = [];
  for (let round = 0; round < rounds; round++) {
    jobs.push((await scene.submit({ n: 2, ms: 1, name: `round ${round}` })).job_id);
  }
  /** Both ask for each job at the same moment; one opens the epoch, the other is told which, and by whom. */
  const bothAsk = async (verb: "resume" | "retryStage", epoch: number) => {
    const won = { ann: 0, bob: 0 };
    for (const job_id of jobs) {
      const moment = soon();
      const args = (actor: string) => (verb === "resume" ? [job_id, { actor }] : [job_id, "double", { actor }]);
      const [hers, his] = await Promise.all([ann.ask(verb, args("ann"), moment), bob.ask(verb, args("bob"), moment)]);
      const [winner, loser] = hers[0]!.ok ? (["ann", his[0]!] as const) : (["bob", hers[0]!] as const);
      won[winner]++;
      expect((hers[0]!.ok ?? his[0]!.ok)!).toMatchObject({ epoch, changed: true });
      expect(loser.error?.code).toBe("conflict");
      expect(loser.error?.message).toMatch(new RegExp(`is (queued|processing): ${winner} opened epoch ${epoch} at `));
      expect(await scene.engine.status(job_id)).toMatchObject({ epoch });
    }
    const kind = verb === "resume" ? "job.resumed" : "job.retried";
    const opened = await scene.db.sql`select job_id from app.events where kind = ${kind}`;
    expect([opened.length, new Set(opened.map(({ job_id }) => job_id)).size]).toEqual([rounds, rounds]);
    scene.notes.push(`${verb}: ann won ${won.ann} times, bob ${won.bob}`);
  };
  // Nobody works meanwhile: a job that had ended again might be opened again, and rightly so.
  for (const job_id of jobs) await scene.engine.cancelJob(job_id);
  await bothAsk("resume", 2);
  const fleet = await scene.fleet({ size: 2 });
  await scene.settle();
  await fleet.stop();
  await bothAsk("retryStage", 3);
  await scene.fleet({ size: 2 });
  await scene.settle();
});
